"""Own how it is shown how well the measurement measures: who saw the probes, how far sources differ, how clocks stand."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from fairclock.documents.text import printable
from sla.reports.objectives import clock_name
from sla.reports.reading import count, number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairclock.documents.languages import Language
    from sla.reports.reading import Report

_MS_PLACES, _CLOCK_PLACES = 3, 3


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasurementPage:
    """The page as text: a sentence, and the rows of its three tables."""

    sentence: str
    sources: list[list[str]]
    differences: list[list[str]]
    clocks: list[list[str]]


def measurement_page(report: Report, language: Language) -> MeasurementPage | None:
    """Return the page; None for a report from before this was looked at."""
    if "measurement" not in report:
        return None
    found = report["measurement"]
    if found is None:
        return MeasurementPage(
            sentence=language.text("measurement.no_probe"), sources=[], differences=[], clocks=[]
        )
    return MeasurementPage(
        sentence=_sentence(found, language),
        sources=[_source(each, language) for each in found["sources"]],
        differences=[_difference(each, language) for each in found["differences"]],
        clocks=[_clock(each, language) for each in found["clocks"]],
    )


def _sentence(found: Mapping[str, Any], language: Language) -> str:
    shown = {
        key: language.integer(count(found["probes"][key]) or 0)
        for key in ("sent", "answered", "failed", "reconciled")
    }
    late = found["lateness"] or {}
    sentence = language.text("measurement.sent", **shown)
    if not late:
        return sentence
    values = {key: _ms(late.get(key), language) for key in ("p50", "p99", "max")}
    return sentence + language.text("measurement.lateness", **values)


def _source(each: Mapping[str, Any], language: Language) -> list[str]:
    seen = count(each["seen"]) or 0
    return [
        _name(each["source"], language),
        language.integer(count(each["expected"]) or 0),
        language.integer(seen),
        language.integer(count(each["missing"]) or 0) if seen else language.text("measurement.not_connected"),
    ]


def _difference(each: Mapping[str, Any], language: Language) -> list[str]:
    label = clock_name(str(each["clock"]), language)
    beyond = language.text("nothing")
    if each["tolerance"] is not None:
        beyond = language.text(
            "measurement.beyond",
            count=language.integer(count(each["beyond"]) or 0),
            tolerance=_ms(each["tolerance"], language),
        )
    pair = language.text(
        "measurement.pair", source=_name(each["source"], language), against=_name(each["against"], language)
    )
    sizes = [_ms(each[key], language) for key in ("median", "size_p50", "size_p95", "size_p99")]
    return [label, pair, language.integer(count(each["n"]) or 0), *sizes, beyond]


def _clock(each: Mapping[str, Any], language: Language) -> list[str]:
    moved = number(each["moved"]) or Fraction(0)
    # bounds that contradict each other are no bounds: what is told then is the contradiction
    between = _span(each["ahead"], language)
    if moved:
        between = language.text(
            "measurement.moved",
            moved=language.decimal(moved, places=_CLOCK_PLACES),
            first=_span(each["ahead_first"], language),
            last=_span(each["ahead_last"], language),
        )
    return [
        _whose(each["source"], each["instance"], language),
        _whose(each["against"], each["against_instance"], language),
        language.integer(count(each["n"]) or 0),
        between,
    ]


def _span(ends: Sequence[object], language: Language) -> str:
    low, high = sorted(number(end) or Fraction(0) for end in ends)
    return language.text(
        "measurement.between",
        low=language.decimal(low, places=_CLOCK_PLACES),
        high=language.decimal(high, places=_CLOCK_PLACES),
    )


def _whose(source: object, instance: object, language: Language) -> str:
    name = _name(source, language)
    return (
        language.text("measurement.whose", source=name, instance=printable(str(instance)))
        if instance
        else name
    )


def _name(source: object, language: Language) -> str:
    key = f"measurement.source.{source}"
    return language.text(key) if language.has(key) else printable(str(source))


def _ms(value: object, language: Language) -> str:
    exact = number(value)
    return language.text("nothing") if exact is None else language.decimal(exact * 1000, places=_MS_PLACES)
