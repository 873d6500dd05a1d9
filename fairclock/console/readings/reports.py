"""Own the page of reports, and one report as a file: what ``fairclock report`` writes for the same instant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairclock.console.readings.models.base import Anchor, Basis, Range, RangeName
from fairclock.console.readings.models.reports import IssuedReport, ReportMonth, ReportPage
from fairclock.console.readings.overview import title_of
from fairclock.console.readings.protocol import Document
from fairclock.console.readings.ranges import MONTH, month_of_all, months_of
from fairclock.errors import NotShown, UsageError
from fairclock.store.evaluations import newest_evaluations
from fairclock.store.issued_reports import issued_rows, signature_counts
from sla.reports import FORMATS, LANGUAGES
from sla.reports.canonical import report_json, report_sha256
from sla.revisions.figures import read_figures

if TYPE_CHECKING:
    from fairclock.console.readings.protocol import Format, Language
    from fairclock.console.readings.view import Versions, View
    from fairclock.store.evaluations import Evaluation
    from fairclock.store.issued_reports import IssuedRow

_MEDIA = {"json": "application/json", "csv": "text/csv; charset=utf-8", "html": "text/html; charset=utf-8",
          "pdf": "application/pdf"}  # fmt: skip
_UNDECIDED = {"insufficient_data", "not_measured"}


def report_page(view: View) -> ReportPage:
    """Return every month that has begun of every contract the caller may see, the newest first."""
    visible = view.visible()
    kept = {
        (each.contract, each.month): each
        for each in newest_evaluations(view.store, [versions[0].id for versions in visible], view.as_of)
    }
    issued = issued_rows(view.store, view.as_of)
    signed = signature_counts(view.store, view.as_of)
    months = [
        _month(view, versions, label, kept.get((versions[0].id, label)), issued=issued, signed=signed)
        for versions in visible
        for label in months_of(versions, view.as_of)
    ]
    months.sort(key=lambda each: each.contract)
    months.sort(key=lambda each: each.month, reverse=True)
    starts = min((each.starts_at for each in months), default=view.as_of)
    return ReportPage(
        range=Range(
            name=RangeName.CUSTOM,
            starts_at=min(starts, view.as_of),
            ends_at=view.as_of,
            elapsed_to=view.as_of,
        ),
        as_of=view.as_of,
        months=tuple(months),
        formats=FORMATS,
        measured=view.measured(Anchor.REPORTS, Basis.REVISION),
    )


def document(view: View, contract: str, month: str, *, form: Format, language: Language) -> Document:
    """Return one month's report in one form and language, as it is known now."""
    versions = view.contract(contract)
    if not MONTH.fullmatch(month):
        raise UsageError("month", "is no month", found=month[:20], remedy="write the year and month: 2026-10")
    if form not in FORMATS or language not in LANGUAGES:
        raise UsageError("format", "there is no such report", remedy=f"choose from {', '.join(FORMATS)}")
    month_of_all(versions, month)
    from fairclock.documents.fonts import describe  # noqa: PLC0415 - fonts and templates are for who asks for a report

    report = view.memory.reports.report(view.store, versions, month, view.as_of)
    report = {**report, "evidence": {**report["evidence"], "fonts": [dict(font) for font in describe()]}}
    if form == "json":
        content = report_json(report)
    elif form == "csv":
        from sla.reports.table import report_csv  # noqa: PLC0415

        content = report_csv(report)
    else:
        from sla.reports.html import report_html  # noqa: PLC0415

        html = report_html(report, language)
        content = html.encode("utf-8")
        if form == "pdf":
            from fairclock.documents.pdf import render_pdf  # noqa: PLC0415

            content = render_pdf(html, identifier=f"{report_sha256(report)}-{language}")
    suffix = f"zh.{form}" if language == "zh" and form in {"html", "pdf"} else form
    return Document(name=f"{contract}-{month}.{suffix}", media_type=_MEDIA[form], content=content)


def document_form(file: str, language: str) -> tuple[str, Format, Language]:
    """Return (month, format, language) of a file's name, 2026-10.pdf; NotShown where there is none of that name."""
    month, _, form = file.rpartition(".")
    if not MONTH.fullmatch(month) or form not in FORMATS:
        raise NotShown(
            "report", "there is none of that name", remedy=f"name a month and {', '.join(FORMATS)}"
        )
    if language not in LANGUAGES:
        raise UsageError("lang", "there is no such language", remedy=f"choose from {', '.join(LANGUAGES)}")
    return month, form, language  # type: ignore[return-value]  # they were just looked up


def _month(
    view: View,
    versions: Versions,
    label: str,
    kept: Evaluation | None,
    *,
    issued: list[IssuedRow],
    signed: dict[str, int],
) -> ReportMonth:
    period = month_of_all(versions, label)
    verdicts = [] if kept is None else [each["verdict"] for each in read_figures(kept.figures)["objectives"]]
    contract = versions[0].id
    return ReportMonth(
        contract=contract,
        title=title_of(versions[-1]),
        month=label,
        starts_at=period.start,
        ends_at=period.end,
        is_over=period.end <= view.as_of,
        revision=None if kept is None else kept.revision,
        evaluated_as_of=None if kept is None else kept.as_of,
        met=None if kept is None else verdicts.count("met"),
        violated=None if kept is None else verdicts.count("violated"),
        undecided=None if kept is None else sum(1 for each in verdicts if each in _UNDECIDED),
        issued=tuple(
            IssuedReport(
                number=each.number,
                revision=each.revision,
                as_of=each.as_of,
                issued_at=each.issued_at,
                sha256=each.sha256,
                is_signed=bool(signed.get(each.number)),
            )
            for each in issued
            if each.contract == contract and each.month == label
        ),
    )
