"""Own the values beside the verdicts: each objective's percentile and its interval, each clock's percentiles."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from fairclock.model import Clock
from sla.contracts.objectives import LatencyObjective
from sla.evaluation.clocks import column_of
from sla.evaluation.counting import ranked_by
from sla.evaluation.fragments import all_of, count_if, sql
from sla.evaluation.judging import GOOD, ended
from sla.evaluation.ranking import Ranked, values_at_ranks
from sla.percentiles import interval_ranks, rank

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairclock.model import Interval
    from fairclock.store import Query
    from sla.contracts import Contract
    from sla.evaluation.judged import Judged
    from sla.evaluation.rows import Requests

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


def delivered(
    store: Requests, contract: Contract, source: Query, period: Interval, judged: Mapping[int, Judged]
) -> dict[int, Delivered]:
    """Return what each latency objective delivered over the rows of `source`, which span `period`.

    Requests without a value rank last, so a rank beyond the measured values has none.
    """
    ranks: dict[int, Ranks] = {}
    ranked: dict[str, Ranked] = {}
    for number, each in judged.items():
        if isinstance(each.objective, LatencyObjective):
            ranks[number] = ranks_of(each.counted, each.objective.latency.percentile)
            ranked[f"objective_{number}"] = ranked_by(
                contract, number, period, ranks=ranks[number].all(), count=each.count.valued
            )
    values = values_at_ranks(store, source, ranked)
    return {
        number: _delivered(ranks[number], values[f"objective_{number}"]) if number in ranks else Delivered()
        for number in judged
    }


def clock_table(store: Requests, source: Query, known: Mapping[str, int]) -> list[ClockRow]:
    """Return every displayed clock; `known` holds the counts of `known_aggregates`."""
    p99 = {clock: ranks_of(known[f"known_{clock}"], _P99) for clock in DISPLAYED}
    ranked = {}
    for clock in DISPLAYED:
        count = known[f"known_{clock}"]
        others = (rank(count, _P50), rank(count, _P95), count) if count else ()
        ranked[f"clock_{clock}"] = Ranked(
            column=column_of(clock),
            condition=sql(ended(GOOD)),
            count=count,
            ranks=(*others, *p99[clock].all()),
        )
    values = values_at_ranks(store, source, ranked)
    return [
        _clock_row(clock, known[f"known_{clock}"], p99[clock], values[f"clock_{clock}"])
        for clock in DISPLAYED
    ]


def _clock_row(clock: Clock, count: int, p99: Ranks, values: Mapping[int, int]) -> ClockRow:
    tail = _delivered(p99, values)
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
    return all_of([sql(ended(GOOD)), sql(f"{column_of(clock)} IS NOT NULL")])
