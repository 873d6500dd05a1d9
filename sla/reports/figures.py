"""Own the tables of figures: clocks with and without queueing, phases, outcomes, coverage, days."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from babel.dates import format_date

from fairclock.model import Outcome
from sla.reports.objectives import (
    PERCENT_LEAST_PLACES,
    SECONDS_LEAST_PLACES,
    between,
    clock_name,
)
from sla.reports.reading import count, day, number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairclock.documents.languages import Language
    from sla.reports.reading import Report

PHASES = ("network", "frontend", "queue", "prefill", "decode")
_SIDE_BY_SIDE = {
    "end_to_end": "queueing.with_queue",
    "excluding_queue": "queueing.without_queue",
    "queue": "queueing.queue_alone",
}
_COLUMNS = ("p50", "p95", "p99", "max")
_COUNTED_BESIDES = ("unconfirmed", "quarantined", "ambiguous", "retried")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A number as text, and how many digits it lacks behind the point for its column to line up."""

    text: str
    pad: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockRow:
    """One clock: P50, P95, P99, maximum and the interval of P99."""

    clock: str
    label: str
    n: str
    cells: list[Cell]
    interval: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseRow:
    """One phase's share of the mean; `share` is None where it was not measured."""

    phase: str
    label: str
    mean: Cell
    percent: Cell
    share: Fraction | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeRow:
    """One outcome, or one count besides them."""

    label: str
    meaning: str
    requests: str
    percent: Cell


@dataclass(frozen=True, slots=True, kw_only=True)
class DayRow:
    """One day's P99s, as text for the table and exactly for the chart."""

    label: str
    n: str
    with_queue: Cell
    without_queue: Cell
    exact_with_queue: Fraction | None
    exact_without_queue: Fraction | None


def side_by_side(report: Report, language: Language) -> list[ClockRow]:
    """Return the three clocks of the comparison: with queueing, without, queueing alone."""
    by_clock = {each["clock"]: each for each in report["latency"]}
    entries = [by_clock[clock] for clock in _SIDE_BY_SIDE if clock in by_clock]
    labels = [language.text(_SIDE_BY_SIDE[each["clock"]]) for each in entries]
    return _clock_rows(report, entries, labels, language)


def clock_rows(report: Report, language: Language) -> list[ClockRow]:
    """Return every clock in the report's order."""
    entries = list(report["latency"])
    return _clock_rows(report, entries, [clock_name(each["clock"], language) for each in entries], language)


def phase_rows(report: Report, language: Language) -> list[PhaseRow]:
    """Return the five phases in a request's order; none where they were not measured."""
    breakdown = report.get("breakdown") or {}
    if not any(number((breakdown.get(phase) or {}).get("share")) is not None for phase in PHASES):
        return []
    means = [number((breakdown.get(phase) or {}).get("seconds")) for phase in PHASES]
    shares = [number((breakdown.get(phase) or {}).get("share")) for phase in PHASES]
    mean_cells = aligned([seconds_or_nothing(mean, language, thresholds=[Fraction(0)]) for mean in means])
    share_cells = aligned([percent_or_nothing(share, language, least=1) for share in shares])
    return [
        PhaseRow(
            phase=phase, label=language.text(f"phases.{phase}"), mean=mean_cell, percent=cell, share=share
        )
        for phase, mean_cell, cell, share in zip(PHASES, mean_cells, share_cells, shares, strict=True)
    ]


def outcome_rows(report: Report, language: Language) -> list[OutcomeRow]:
    """Return every outcome, zero or not, with its share of all requests."""
    outcomes = report["traffic"]["outcomes"]
    admitted = count(report["traffic"]["admitted"]) or 0
    counts = [count(outcomes.get(outcome.value, 0)) or 0 for outcome in Outcome]
    shares = aligned(
        [percent_or_nothing(Fraction(n, admitted) if admitted else None, language, least=2) for n in counts]
    )
    return [
        OutcomeRow(
            label=language.text(f"outcomes.{outcome.value}"),
            meaning=language.text(f"outcome_meaning.{outcome.value}"),
            requests=language.integer(n),
            percent=share,
        )
        for outcome, n, share in zip(Outcome, counts, shares, strict=True)
    ]


def besides_rows(report: Report, language: Language) -> list[OutcomeRow]:
    """Return what is counted beside the outcomes, where the evaluation counted it."""
    counts = {key: count(report["traffic"].get(key)) for key in _COUNTED_BESIDES}
    return [
        OutcomeRow(
            label="",
            meaning=language.text(f"traffic.{key}"),
            requests=language.integer(n),
            percent=Cell(text=""),
        )
        for key, n in counts.items()
        if n is not None
    ]


def day_rows(report: Report, language: Language) -> list[DayRow]:
    """Return every day, those without traffic too; none at all where no day has a figure."""
    days = list(report.get("daily") or [])
    if not any(count(each.get("n")) for each in days):
        return []
    limits = thresholds_of(report, "end_to_end")
    with_queue = [number(each.get("p99_with_queue")) for each in days]
    without_queue = [number(each.get("p99_without_queue")) for each in days]
    cells = [
        aligned([seconds_or_nothing(value, language, thresholds=limits) for value in column])
        for column in (with_queue, without_queue)
    ]
    pattern = language.text("queueing.day_pattern")
    return [
        DayRow(
            label=str(format_date(day(each["date"]), format=pattern, locale=language.locale)),
            n=language.integer(count(each.get("n")) or 0),
            with_queue=cells[0][index],
            without_queue=cells[1][index],
            exact_with_queue=with_queue[index],
            exact_without_queue=without_queue[index],
        )
        for index, each in enumerate(days)
    ]


def thresholds_of(report: Report, clock: str) -> list[Fraction]:
    """Return the thresholds that objectives set on `clock`."""
    found = [number(each.get("threshold")) for each in report["objectives"] if each.get("clock") == clock]
    return [threshold for threshold in found if threshold is not None]


def aligned(texts: Sequence[str]) -> list[Cell]:
    """Return one column's numbers with the digits each lacks behind the decimal point."""
    behind = [len(text.rstrip("%").partition(".")[2]) for text in texts]
    longest = max(behind, default=0)
    return [
        Cell(text=text, pad=longest - digits if text[:1].isdigit() or text[:1] in "-−" else 0)
        for text, digits in zip(texts, behind, strict=True)
    ]


def seconds_or_nothing(
    value: Fraction | None,
    language: Language,
    *,
    thresholds: Sequence[Fraction] = (),
    least: int = SECONDS_LEAST_PLACES,
) -> str:
    """Return seconds at the source's resolution, finer where a threshold would be crossed; a dash where there are none."""
    if value is None:
        return language.text("nothing")
    return language.beside(value, thresholds, least=least)


def percent_or_nothing(
    ratio: Fraction | None,
    language: Language,
    *,
    least: int = PERCENT_LEAST_PLACES,
    thresholds: Sequence[Fraction] = (),
) -> str:
    """Return a share as a percentage; a dash where there is none."""
    if ratio is None:
        return language.text("nothing")
    return language.percent(ratio, thresholds=thresholds, least=least)


def _clock_rows(
    report: Report, entries: Sequence[Mapping[str, Any]], labels: Sequence[str], language: Language
) -> list[ClockRow]:
    columns = [
        aligned(
            [
                seconds_or_nothing(
                    number(each.get(column)),
                    language,
                    thresholds=thresholds_of(report, each["clock"]),
                    least=_least_places(each["clock"]),
                )
                for each in entries
            ]
        )
        for column in _COLUMNS
    ]
    return [
        ClockRow(
            clock=each["clock"],
            label=label,
            n=language.integer(count(each["n"]) or 0),
            cells=[column[index] for column in columns],
            interval=_p99_interval(each, thresholds_of(report, each["clock"]), language),
        )
        for index, (each, label) in enumerate(zip(entries, labels, strict=True))
    ]


def _p99_interval(entry: Mapping[str, Any], limits: Sequence[Fraction], language: Language) -> str:
    bounds = entry.get("p99_interval")
    if not bounds:
        return language.text("nothing")
    low, high = (
        None if value is None else language.beside(value, limits, least=_least_places(entry["clock"]))
        for value in map(number, bounds)
    )
    return between(low, high, language)


def _least_places(clock: str) -> int:
    """Return one decimal more for the clock that is a fraction of the engine's own durations."""
    return SECONDS_LEAST_PLACES + (clock == "time_per_output_token")
