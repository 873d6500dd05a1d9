"""Own how the many incidents that nobody looked into are shown: a line an objective, the rest in report.json."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from babel.dates import format_date

from fairclock.documents.text import printable
from sla.reports.exclusions import duration
from sla.reports.reading import count, moment

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairclock.documents.languages import Language
    from sla.reports.reading import Report


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryRow:
    """One objective's incidents together; every field is text."""

    objective: str
    number: str
    bad: str
    most: str
    together: str
    first_last: str


def incident_summary(report: Report, language: Language) -> list[SummaryRow]:
    """Return the incidents without a look into their evidence, by objective in the contract's order."""
    zone = ZoneInfo(str(report["period"]["time_zone"]))
    found: dict[str, list[Mapping[str, Any]]] = {str(each["name"]): [] for each in report["objectives"]}
    for each in report.get("incidents") or []:
        if each.get("evidence") is None:
            found.setdefault(str(each["objective"]), []).append(each)
    return [_row(name, each, language, zone) for name, each in found.items() if each]


def _row(name: str, found: Sequence[Mapping[str, Any]], language: Language, zone: ZoneInfo) -> SummaryRow:
    bad = [count(each.get("bad")) or 0 for each in found]
    requests = sum(count(each.get("requests")) or 0 for each in found)
    spans = [(moment(each["from"], zone), moment(each["to"], zone)) for each in found]
    seconds = sum((end - start).total_seconds() for start, end in spans)
    pattern = language.text("queueing.day_pattern")
    days = [
        str(format_date(instant.date(), format=pattern, locale=language.locale))
        for instant, _ in (min(spans), max(spans))
    ]
    return SummaryRow(
        objective=printable(name),
        number=language.integer(len(found)),
        bad=language.text(
            "incidents.bad_of", bad=language.integer(sum(bad)), requests=language.integer(requests)
        ),
        most=language.integer(max(bad)),
        together=duration(Fraction(seconds).limit_denominator(1_000_000)),
        first_last=language.text("incidents.span", start=days[0], end=days[1])
        if days[0] != days[1]
        else days[0],
    )
