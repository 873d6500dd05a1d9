"""Own how it is shown what changed since the revision before: a sentence on the first page, and the table behind it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from fairclock.documents.text import printable
from sla.reports.exclusions import duration
from sla.reports.objectives import value_in_words, verdict_in_words
from sla.reports.reading import count, moment, number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairclock.documents.languages import Language
    from sla.reports.reading import Report

_SHORT_HASH = 12
_PERCENT_LEAST_PLACES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeRow:
    """One figure before and after; `why` numbers the reasons that are listed below the table."""

    what: list[str]
    before: list[str]
    after: list[str]
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What changed, and since when; `heading` is empty where there is no revision before."""

    heading: str
    sentence: str
    rows: list[ChangeRow]
    reasons: list[str]


def knows_revisions(report: Report) -> bool:
    """Tell whether it was looked for earlier revisions."""
    return count(report.get("revision")) is not None


def changes(report: Report, language: Language) -> Changes:
    """Return what changed since the revision before, in a language."""
    text = language.text
    previous = report.get("previous_revision")
    if not knows_revisions(report) or not previous:
        key = "changes.first" if knows_revisions(report) else "changes.text"
        return Changes(heading="", sentence=text(key), rows=[], reasons=[])
    zone = ZoneInfo(str(report["period"]["time_zone"]))
    since = text(
        "changes.since",
        revision=language.integer(int(previous["revision"])),
        as_of=language.instant(moment(previous["as_of"], zone)),
    )
    found = list(report["changes"])
    reasons = _reasons(found)
    return Changes(
        heading=text("changes.heading", revision=language.integer(int(previous["revision"]))),
        sentence=text("changes.some", since=since, n=len(found))
        if found
        else text("changes.none", since=since),
        rows=[_row(each, reasons, report, language) for each in found],
        reasons=[_reason(each, language, zone) for each in reasons],
    )


def _reasons(found: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return every reason once, in the order in which they are first named."""
    reasons: list[Mapping[str, Any]] = []
    for change in found:
        reasons += [each for each in change["why"] if each not in reasons]
    return reasons


def _row(
    change: Mapping[str, Any], reasons: Sequence[Mapping[str, Any]], report: Report, language: Language
) -> ChangeRow:
    what, issued = str(change["what"]), report.get("status") == "final"
    objective = _objective(change, report)
    key = f"changes.what.{what}"
    names = [language.text(key) if language.has(key) else printable(what)]
    if change["objective"] is not None:
        part = change.get("part") or {}
        names.insert(
            0, printable(language.text("list_comma").join([str(change["objective"]), *part.values()]))
        )

    def shown(value: object, other: object) -> list[str]:
        return _shown(what, (value, other), objective, language, issued=issued)

    numbers = [str(reasons.index(each) + 1) for each in change["why"]]
    return ChangeRow(
        what=names,
        before=shown(change["before"], change["after"]),
        after=shown(change["after"], change["before"]),
        why=language.text("list_comma").join(numbers) or language.text("nothing"),
    )


def _objective(change: Mapping[str, Any], report: Report) -> Mapping[str, Any]:
    same = (
        each
        for each in report["objectives"]
        if each["name"] == change["objective"] and each.get("part") == change.get("part")
    )
    return next(same, {})


def _shown(
    what: str, pair: tuple[Any, Any], objective: Mapping[str, Any], language: Language, *, issued: bool
) -> list[str]:
    """Return the first of a figure's two values as the report prints it, so that it can be told from the second."""
    value, other = pair
    if what == "value" and objective:
        lines = [value_in_words(objective, value, other, language)]
    elif value is None:
        lines = [language.text("nothing")]
    elif what in {"verdict", "verdict_without_exclusions"}:
        lines = [verdict_in_words(str(value), language, issued=issued)]
    elif what.startswith("coverage."):
        limits = [each for each in [number(other)] if each is not None]
        ratio = number(value) or Fraction(0)
        lines = [language.percent(ratio, thresholds=limits, least=_PERCENT_LEAST_PLACES)]
    elif what == "rows_sha256":
        lines = [str(value)[:_SHORT_HASH]]
    elif what == "versions":
        lines = [str(each["version_sha256"])[:_SHORT_HASH] for each in value]
    elif what == "credit":
        lines = [str(value["id"]), str(value["amount"])]
    elif what == "exclusion":
        lines = [str(value["id"]), duration(number(value["granted_seconds"]) or Fraction(0))]
    else:
        lines = [language.integer(value) if isinstance(value, int) else str(value)]
    return [printable(each) for each in lines]


def _reason(reason: Mapping[str, Any], language: Language, zone: ZoneInfo) -> str:  # noqa: PLR0911 - one a kind
    text, kind = language.text, str(reason["reason"])
    if kind == "late_rows":
        return text(
            "changes.why.late_rows",
            gateway=language.integer(int(reason["gateway_rows"])),
            engine=language.integer(int(reason["engine_rows"])),
            after=language.instant(moment(reason["stored_after"], zone)),
        )
    if kind == "late_coverage":
        after = language.instant(moment(reason["stored_after"], zone))
        return text("changes.why.late_coverage", n=int(reason["notes"]), after=after)
    if kind == "ledger":
        return text("changes.why.ledger", after=language.instant(moment(reason["stored_after"], zone)))
    if kind == "exclusion":
        said = {"id": printable(str(reason["id"])), "clause": printable(str(reason["clause"]))}
        if reason["state"] is None:
            return text("changes.why.exclusion", **said)
        state = text(f"exclusions.state.{reason['state']}")
        return text(
            "changes.why.exclusion_said", **said, state=state, at=language.instant(moment(reason["at"], zone))
        )
    if kind == "contract_version":
        before, after = (
            text("list_comma").join(printable(str(each)[:_SHORT_HASH]) for each in reason[side])
            for side in ("before", "after")
        )
        return text("changes.why.contract_version", before=before, after=after)
    before, after = printable(str(reason["before"])), printable(str(reason["after"]))
    return text("changes.why.program_version", before=before, after=after)
