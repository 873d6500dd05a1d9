"""Own the evaluation of any range of a contract, by the report's own parts: the same rows, flags, counts and ranks.

What is said of a whole month is `sla.evaluation.evaluate`'s. A shorter range has no verdict that a contract knows;
its promises are judged as if the range were the month, nothing carried over, for display.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from fairclock.model import Interval, Outcome, shared
from sla.contracts.versions import versions_of
from sla.evaluation.breakdown import read_breakdown
from sla.evaluation.budgets_section import error_budgets_section
from sla.evaluation.coverage import coverage_of
from sla.evaluation.dataset import rows_of
from sla.evaluation.excluding import excluded_by, month_exclusions, said_of
from sla.evaluation.facts import Facts, facts_of
from sla.evaluation.judged import Judged, judge
from sla.evaluation.months import Month, month_of
from sla.evaluation.parts import parts_of
from sla.evaluation.printed import printed
from sla.evaluation.ranking import values_at_ranks
from sla.evaluation.sections import (
    breakdown_section,
    coverage_section,
    latency_section,
    traffic_section,
)
from sla.evaluation.subject import subject_of
from sla.evaluation.together import Together, together
from sla.evaluation.traffic import read_traffic
from sla.evaluation.values import (
    clock_ranks,
    objective_ranks,
    read_clock_table,
    read_delivered,
)
from sla.evaluation.verdict_rows import objectives_section
from sla.slices.counting import term_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from fairclock.store import Query, Store
    from sla.contracts import Contract
    from sla.contracts.versions import Version
    from sla.evaluation.excluded import Excluded
    from sla.evaluation.rows import Requests


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranged:
    """What a range of a contract came to; `sections` has the report's keys, `source` the rows of all versions."""

    sections: dict[str, Any]
    source: Query


def ranged(store: Store, versions: Sequence[Contract], window: Interval, as_of: datetime) -> Ranged | None:
    """Return what `window` of a contract came to; None where no version is in force in it, or it has not begun."""
    found = [
        _judged(store, version, inside, as_of, shares=len(versions) > 1)
        for version, inside in _inside(versions, window)
        if inside.start < as_of
    ]
    if not found:
        return None
    facts = [each for each, _ in found]
    everything: Together = together(facts)
    traffic = read_traffic(everything.others)
    ranked = values_at_ranks(store, everything.source, clock_ranks(everything.others))
    elapsed = Interval(start=window.start, end=max(window.start, min(window.end, as_of)))
    return Ranged(
        source=everything.source,
        sections={
            "traffic": {**traffic_section(traffic)},
            "simulated": traffic.simulated > 0,
            "coverage": coverage_section(
                coverage_of(store, elapsed, as_of), traffic, traffic.outcomes[Outcome.OK]
            ),
            "latency": latency_section(read_clock_table(everything.others, ranked)),
            "breakdown": breakdown_section(read_breakdown(everything.others)),
            "objectives": [row for each, judged in found for row in _objectives(store, each, judged)],
            "error_budgets": [
                row
                for each, judged in found
                for row in error_budgets_section(store, each, judged, _nothing(each))
            ],
        },
    )


def source_of(store: Store, versions: Sequence[Contract], window: Interval, as_of: datetime) -> Query | None:
    """Return the rows of a contract in `window`, in the report's columns; None where no version is in force."""
    queries = [
        Rows(source=rows_of(store, subject_of(each.contract), inside, as_of), others={})
        for each, inside in _inside(versions, window)
    ]
    return together(queries).source if queries else None  # type: ignore[arg-type]  # it takes nothing else of facts


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """The rows of one version's part of a range, as `together` takes them."""

    source: Query
    others: dict[str, Any]


def _judged(
    store: Requests, version: Version, window: Interval, as_of: datetime, *, shares: bool
) -> tuple[Facts, dict[str, Judged]]:
    contract = version.contract
    excluded = _excluded(store, version, window, as_of, shares=shares)
    subject = subject_of(contract, excluded=excluded, in_force=version.in_force if shares else None)
    subject = subject.by(parts_of(store, contract, rows_of(store, subject, window, as_of)))
    facts = facts_of(store, subject, _as_month(window, as_of), as_of, partial(printed, excluded=excluded))
    return facts, {key: judge(promise, facts, facts.counts[key]) for key, promise in subject.promises.items()}


def _objectives(store: Requests, facts: Facts, judged: dict[str, Judged]) -> list[dict[str, Any]]:
    values = values_at_ranks(store, facts.source, objective_ranks(judged))
    delivered = {key: read_delivered(each, values) for key, each in judged.items()}
    return objectives_section(facts, judged, delivered, _nothing(facts))


def _nothing(facts: Facts) -> dict[str, Any]:
    return {key: type(count)() for key, count in facts.counts.items()}


def _excluded(
    store: Requests, version: Version, window: Interval, as_of: datetime, *, shares: bool
) -> Excluded:
    """Return what is left out of `window`: what is left out of the months that it touches, by their own caps."""
    contract = version.contract
    said = said_of(store, contract, as_of)
    in_force = version.in_force if shares else None
    plans = [
        month_exclusions(
            store,
            contract,
            month_of(contract, label, as_of, in_force),
            as_of,
            said=said,
            shares_month=shares,
        ).plan
        for label in _labels(contract, window, as_of, in_force)
    ]
    return excluded_by(plans)


def _labels(contract: Contract, window: Interval, as_of: datetime, in_force: Interval | None) -> list[str]:
    found: list[str] = []
    first = window.start.astimezone(contract.zone)
    year, number = (first.year - 1, 12) if first.month == 1 else (first.year, first.month - 1)
    end = min(window.end, as_of)
    while True:
        label = f"{year:04d}-{number:02d}"
        whole = contract.whole_month(label)
        if whole.start >= end:
            return found
        in_term = shared(whole, term_of(contract))
        period = None if in_term is None else shared(in_term, in_force or whole)
        if period is not None and period.start < end and period.end > window.start:
            found.append(label)
        year, number = (year + 1, 1) if number == 12 else (year, number + 1)  # noqa: PLR2004 - months


def _inside(versions: Sequence[Contract], window: Interval) -> list[tuple[Version, Interval]]:
    found = []
    for version in versions_of(versions):
        inside = shared(window, version.in_force)
        if inside is not None:
            found.append((version, inside))
    return found


def _as_month(window: Interval, as_of: datetime) -> Month:
    """Return the range as if it were a month: whole, and with a past for the quota's minute before it."""
    return Month(
        label="",
        period=window,
        elapsed=Interval(start=window.start, end=max(window.start, min(window.end, as_of))),
        is_partial=False,
        is_first=False,
    )


def step_of(window: Interval, *, most: int = 120) -> timedelta:
    """Return how long a stretch of `window` is, so that there are at most `most`: a round number of minutes."""
    minutes = (1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440)
    length = window.end - window.start
    for each in minutes:
        step = timedelta(minutes=each)
        if length <= most * step:
            return step
    return timedelta(days=-(-length // (most * timedelta(days=1))))
