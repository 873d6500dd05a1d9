"""Own the contract report: one dictionary, printed as JSON, CSV, HTML and PDF.

`report.json` is the report. The others are views that read nothing but its dictionary, so every figure in
them can be found there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairclock.documents.files import write_whole
from fairclock.errors import DocumentError, UsageError
from sla.reports.canonical import report_json, report_sha256
from sla.reports.table import report_csv

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from sla.reports.appearance import Appearance

FORMATS = ("pdf", "html", "json", "csv")
LANGUAGES = ("en", "zh")

_NEVER_IN_A_FILE_NAME = frozenset('/\\\0:*?"<>|')
_LONGEST_FILE_NAME_BYTES = 255

__all__ = ["FORMATS", "LANGUAGES", "check_choices", "report_json", "report_sha256", "write_reports"]


def write_reports(
    report: Mapping[str, Any],
    *,
    formats: Sequence[str],
    languages: Sequence[str],
    directory: Path,
    appearance: Appearance | None = None,
) -> list[Path]:
    """Write ``<contract id>-<YYYY-MM>.<format>`` into `directory` and return the paths.

    Where both languages are asked for, the Chinese one is ``….zh.<format>``. JSON and CSV have no language
    and are written once. Everything is made before anything is written; each file appears whole.
    `appearance` None: as shipped.
    """
    check_choices(formats=formats, languages=languages)
    wanted = list(dict.fromkeys(languages))
    stem = f"{report['contract']['id']}-{report['period']['month']}"
    contents = {
        _file_name(stem, ending): content
        for format_ in dict.fromkeys(formats)
        for ending, content in _views(report, format_, wanted, appearance)
    }
    for name, content in contents.items():
        write_whole(directory / name, content)
    return [directory / name for name in contents]


def check_choices(*, formats: Sequence[str], languages: Sequence[str]) -> None:
    """Refuse formats and languages that are not there, before anything is computed for them."""
    _check(formats, FORMATS, "--format")
    _check(languages, LANGUAGES, "--lang")


def _views(
    report: Mapping[str, Any], format_: str, languages: Sequence[str], appearance: Appearance | None
) -> list[tuple[str, bytes]]:
    if format_ == "json":
        return [("json", report_json(report))]
    if format_ == "csv":
        return [("csv", report_csv(report))]
    return [
        (
            f"zh.{format_}" if code == "zh" and len(languages) > 1 else format_,
            _page(report, format_, code, appearance),
        )
        for code in languages
    ]


def _page(report: Mapping[str, Any], format_: str, code: str, appearance: Appearance | None) -> bytes:
    # Only here are the template and PDF libraries needed.
    from sla.reports.appearance import AS_SHIPPED  # noqa: PLC0415
    from sla.reports.html import report_html  # noqa: PLC0415

    look = appearance or AS_SHIPPED
    html = report_html(report, code, look)
    if format_ == "html":
        return html.encode("utf-8")
    from fairclock.documents.pdf import render_pdf  # noqa: PLC0415

    return render_pdf(html, identifier=f"{report_sha256(report)}-{code}", picture=look.logo)


def _check(chosen: Sequence[str], known: Sequence[str], what: str) -> None:
    unknown = [each for each in chosen if each not in known]
    if unknown or not chosen:
        raise UsageError(
            what,
            "there is no such choice" if unknown else "nothing is chosen",
            found=", ".join(unknown) or None,
            remedy=f"choose from {', '.join(known)}",
        )


def _file_name(stem: str, ending: str) -> str:
    name = f"{stem}.{ending}"
    hostile = name.startswith(".") or any(
        each in _NEVER_IN_A_FILE_NAME or not each.isprintable() for each in name
    )
    if hostile or len(name.encode("utf-8", "surrogatepass")) > _LONGEST_FILE_NAME_BYTES:
        raise DocumentError(
            "contract id",
            "the contract's id cannot be a file name",
            found=repr(stem[:80]),
            remedy="use letters, digits, dots, dashes and underscores",
        )
    return name
