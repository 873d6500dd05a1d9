"""Own how incidents are shown: when, what they hit, and what else was true then, each with its numbers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from fairclock.documents.text import printable
from sla.reports.exclusions import duration
from sla.reports.reading import count, moment, number, texts

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from fairclock.documents.languages import Language
    from sla.reports.reading import Report

_MOST_TENANTS_SHOWN = 6
_OUTCOMES_APART = ("bad", "failed")
_PLACES = {"_seconds": 3, "_per_minute": 1, "_mean": 2, "_times": 2, "_tau": 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentRow:
    """One incident as the tables print it; every list is one text a line.

    is_looked_into: there is evidence, or it was looked for in vain; the others are only listed.
    """

    id: str
    objective: str
    is_looked_into: bool
    times: list[str]
    hit: list[str]
    evidence: list[str]


def knows_incidents(report: Report) -> bool:
    """Tell whether the evaluation looked for incidents: then it says by which rule."""
    return bool(report.get("incident_rule"))


def incident_rows(report: Report, language: Language) -> list[IncidentRow]:
    """Return the incidents of the month, in time order."""
    zone = ZoneInfo(str(report["period"]["time_zone"]))
    return [_row(each, language, zone) for each in report.get("incidents") or []]


def incident_notes(report: Report, language: Language) -> list[str]:
    """Return by which rule minutes are put together, and of how many incidents more was read."""
    rule = report.get("incident_rule")
    if not rule:
        return []
    shown = {key: language.integer(count(value) or 0) for key, value in rule.items()}
    notes = [language.text("incidents.rule", **shown)]
    incidents = report.get("incidents") or []
    looked_into = [each for each in incidents if each.get("evidence") is not None]
    if len(looked_into) < len(incidents):
        notes.append(
            language.text(
                "incidents.cut",
                all=language.integer(len(incidents)),
                looked_into=language.integer(len(looked_into)),
            )
        )
    return notes


def _row(each: Mapping[str, Any], language: Language, zone: ZoneInfo) -> IncidentRow:
    return IncidentRow(
        id=printable(str(each["id"])),
        objective=printable(str(each["objective"])),
        is_looked_into=each.get("evidence") is not None,
        times=_times(each, language, zone),
        hit=_hit(each, language),
        evidence=_evidence(each, language),
    )


def _times(each: Mapping[str, Any], language: Language, zone: ZoneInfo) -> list[str]:
    first, last = moment(each["from"], zone), moment(each["to"], zone)
    length = Fraction((last - first).total_seconds()).limit_denominator(1_000_000)
    lines = [
        _span(first, last, language),
        language.text(
            "incidents.length",
            length=duration(length),
            minutes=language.integer(count(each.get("bad_minutes")) or 0),
        ),
    ]
    return [*lines, language.text("incidents.ongoing")] if each.get("ongoing") else lines


def _span(first: datetime, last: datetime, language: Language) -> str:
    """Return both instants, to the second where they are no whole minutes; what they share is said once."""
    clock = "%H:%M" if first.second == last.second == 0 else "%H:%M:%S"
    start = first.strftime(f"%Y-%m-%d {clock}")
    if first.utcoffset() != last.utcoffset():
        start = f"{start} ({_offset(first)})"
    end = last.strftime(clock if first.date() == last.date() else f"%Y-%m-%d {clock}")
    return language.text("incidents.span", start=start, end=f"{end} ({_offset(last)})")


def _offset(instant: datetime) -> str:
    return f"UTC{instant.isoformat()[-6:]}"


def _hit(each: Mapping[str, Any], language: Language) -> list[str]:
    worst = each.get("worst") or {}
    minute = worst.get("minute") or {}
    lines = [
        language.text(f"incidents.{key}", bad=_whole(of.get("bad"), language), requests=_whole(of.get("requests"), language))
        for key, of in (("bad", each), ("worst_minute", minute))
    ]  # fmt: skip
    value = number(worst.get("value"))
    if value is not None and worst.get("clock"):
        clock = str(worst["clock"])
        name = language.text(f"clocks.{clock}") if language.has(f"clocks.{clock}") else printable(clock)
        lines.append(
            language.text("incidents.worst_value", clock=name, value=language.decimal(value, places=3))
        )
    if count(worst.get("unanswered")):
        lines.append(language.text("incidents.unanswered", count=_whole(worst["unanswered"], language)))
    names = texts(each.get("tenants_hit"))
    if names:
        shown = language.text("list_comma").join(names[:_MOST_TENANTS_SHOWN])
        if len(names) > _MOST_TENANTS_SHOWN:
            more = language.text("and_more", count=len(names) - _MOST_TENANTS_SHOWN)
            shown = language.text("list_comma").join((shown, more))
        lines.append(language.text("incidents.tenants", names=shown))
    return lines


def _evidence(each: Mapping[str, Any], language: Language) -> list[str]:
    found = each.get("evidence")
    if found is None:
        return []
    return [_sentence(one, language) for one in found] or [language.text("incidents.no_evidence")]


def _sentence(one: Mapping[str, Any], language: Language) -> str:
    kind, numbers = str(one["kind"]), one.get("numbers") or {}
    shown = {str(name): _shown(str(name), value, language) for name, value in numbers.items()}
    key = f"incidents.evidence.{kind}"
    if not language.has(key):
        listed = (f"{printable(name)} {text}" for name, text in shown.items())
        return language.text(
            "incidents.unknown_evidence",
            kind=printable(kind),
            numbers=language.text("list_comma").join(listed),
        )
    if kind == "outcomes":
        shown["outcomes"] = language.text("list_comma").join(
            f"{_word('outcomes', name, language)} {shown[name]}"
            for name in numbers
            if name not in _OUTCOMES_APART
        )
    return language.text(key, **shown)


def _shown(name: str, value: object, language: Language) -> str:
    """Return a number as its name says: a share, a time, a count; or a name; or a dash where nothing is known."""
    if value is None:
        return language.text("nothing")
    if isinstance(value, (list, tuple)):
        words = [_word("incidents.kinds", str(each), language) for each in value]
        return language.text("list_comma").join(words) or language.text("nothing")
    if isinstance(value, str):
        return printable(value)
    exact = number(value) or Fraction(0)
    if name.endswith("_ratio"):
        return language.percent(exact, least=0)
    places = next((places for suffix, places in _PLACES.items() if name.endswith(suffix)), None)
    return language.integer(int(exact)) if places is None else language.decimal(exact, places=places)


def _word(prefix: str, key: str, language: Language) -> str:
    return language.text(f"{prefix}.{key}") if language.has(f"{prefix}.{key}") else printable(key)


def _whole(value: object, language: Language) -> str:
    return language.integer(count(value) or 0)
