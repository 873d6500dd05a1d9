"""Own the values beside the verdicts: each objective's percentile and its interval, each clock's percentiles."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from fairclock.model import Clock
from sla.contracts.objectives import LatencyObjective
from sla.evaluation.clocks import NEVER_UNKNOWN, column_of
from sla.evaluation.counting import ranked_by
from sla.evaluation.endings import OK
from sla.evaluation.fragments import all_of, count_if, sql
from sla.evaluation.ranking import Ranked
from sla.percentiles import interval_ranks, rank
from sla.verdicts import Count

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairclock.store import Query
    from sla.evaluation.judged import Judged

DISPLAYED = (
    Clock.END_TO_END,
    Clock.EXCLUDING_QUEUE,
    Clock.QUEUE,
    Clock.INFERENCE,
    Clock.PREFILL,
    Clock.DECODE,
    Clock.OUTSIDE,
    Clock.TIME_TO_FIRST_TOKEN,
    Clock.TIME_PER_OUTPUT_TOKEN,
)
_P50, _P95, _P99 = Fraction(50), Fraction(95), Fraction(99)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranks:
    """The ranks of a percentile and of its interval's ends; None where there is none."""

    value: int | None
    low: int | None
    high: int | None

    def all(self) -> tuple[int, ...]:
        """Return the ranks that exist."""
        return tuple(each for each in (self.value, self.low, self.high) if each is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivered:
    """A percentile and its interval in microseconds; None where the rank has no value."""

    value_us: int | None = None
    interval_us: tuple[int | None, int | None] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockRow:
    """One clock over the `ok` requests that have it, in microseconds; for display, never for a verdict."""

    clock: Clock
    count: int
    p50_us: int | None
    p95_us: int | None
    p99_us: int | None
    p99_interval_us: tuple[int | None, int | None] | None
    max_us: int | None


def known_aggregates() -> dict[str, Query]:
    """Return the aggregates that count, for each displayed clock, the `ok` requests that have it."""
    return {f"known_{clock}": count_if(_known(clock)) for clock in DISPLAYED}


def ranks_of(count: int, percentile: Fraction) -> Ranks:
    """Return the ranks of `percentile` among `count` values."""
    if count == 0:
        return Ranks(value=None, low=None, high=None)
    low, high = interval_ranks(count, percentile)
    return Ranks(value=rank(count, percentile), low=low, high=high)


def objective_ranks(judged: Mapping[str, Judged]) -> dict[str, Ranked]:
    """Return what each latency over the month ranks, and the ranks it asks for."""
    return {
        f"objective_{key}": ranked_by(
            each.promise,
            each.promise.objective,
            ranks=ranks_of(each.counted, each.promise.objective.latency.percentile).all(),
            count=each.count.valued,
        )
        for key, each in judged.items()
        if isinstance(each.promise.objective, LatencyObjective) and isinstance(each.count, Count)
    }


def read_delivered(judged: Judged, values: Mapping[str, Mapping[int, int]]) -> Delivered:
    """Return what an objective delivered, from the values at its ranks.

    Requests without a value rank last, so a rank beyond the measured values has none.
    """
    objective = judged.promise.objective
    if not isinstance(objective, LatencyObjective) or not isinstance(judged.count, Count):
        return Delivered()
    ranks = ranks_of(judged.counted, objective.latency.percentile)
    return _delivered(ranks, values[f"objective_{judged.promise.key}"])


def clock_ranks(known: Mapping[str, int]) -> dict[str, Ranked]:
    """Return the ranks that the table of clocks asks for; `known` holds the counts of `known_aggregates`."""
    ranked = {}
    for clock in DISPLAYED:
        count = known[f"known_{clock}"]
        others = (rank(count, _P50), rank(count, _P95), count) if count else ()
        ranked[f"clock_{clock}_at"] = Ranked(
            column=column_of(clock),
            condition=_known(clock),
            count=count,
            ranks=(*others, *ranks_of(count, _P99).all()),
        )
    return ranked


def read_clock_table(known: Mapping[str, int], values: Mapping[str, Mapping[int, int]]) -> list[ClockRow]:
    """Return every displayed clock, from the values at the ranks of `clock_ranks`."""
    return [_clock_row(clock, known[f"known_{clock}"], values[f"clock_{clock}_at"]) for clock in DISPLAYED]


def _clock_row(clock: Clock, count: int, values: Mapping[int, int]) -> ClockRow:
    tail = _delivered(ranks_of(count, _P99), values)
    return ClockRow(
        clock=clock,
        count=count,
        p50_us=values[rank(count, _P50)] if count else None,
        p95_us=values[rank(count, _P95)] if count else None,
        p99_us=tail.value_us,
        p99_interval_us=tail.interval_us,
        max_us=values[count] if count else None,
    )


def _delivered(ranks: Ranks, values: Mapping[int, int]) -> Delivered:
    if ranks.value is None:
        return Delivered()
    low, high = (None if each is None else values.get(each) for each in (ranks.low, ranks.high))
    return Delivered(value_us=values.get(ranks.value), interval_us=(low, high))


def _known(clock: Clock) -> Query:
    if clock in NEVER_UNKNOWN:
        return OK
    return all_of([OK, sql(f"{column_of(clock)} IS NOT NULL")])
