"""Own the comparison: what Fairclock says of each request, held against its client and against vLLM."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from fairclock.model import Outcome
from fairclock.store import Query
from sla.percentiles import rank

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from fairclock.demo.live.clients import Observation
    from fairclock.demo.live.engine import QueueCounter

_MEDIAN, _P99 = Fraction(50), Fraction(99)
_MICROSECONDS_PER_SECOND = 1_000_000
MOST_MEDIAN_DIFFERENCE_US = 20_000
MOST_QUEUE_DIFFERENCE_RATIO = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What Fairclock stored of one request."""

    received_at: datetime
    trace_id: str
    request_id: str
    outcome: str
    engine: str
    end_to_end_us: int
    queue_us: int | None
    completion_tokens: int | None

    @property
    def excluding_queue_us(self) -> int:
        """Return the same request's time without its queueing; an unknown queue takes nothing off."""
        return self.end_to_end_us - (self.queue_us or 0)


def rows_query(requests: Query) -> Query:
    """Return the query for the columns of `Row`, from the store's joined requests, in time order."""
    return Query(
        sql="SELECT received_at, lower(hex(trace_id)), request_id, outcome, engine, end_to_end_us, queue_us,"  # noqa: S608
        f" completion_tokens FROM ({requests.sql}) ORDER BY received_at, trace_id",
        parameters=requests.parameters,
    )


def read_rows(rows: Iterable[tuple[Any, ...]]) -> list[Row]:
    """Return the rows of `rows_query` as values."""
    return [
        Row(
            received_at=received_at,
            trace_id=trace_id,
            request_id=request_id,
            outcome=outcome,
            engine=engine,
            end_to_end_us=end_to_end_us,
            queue_us=queue_us,
            completion_tokens=completion_tokens,
        )
        for received_at, trace_id, request_id, outcome, engine, end_to_end_us, queue_us, completion_tokens in rows
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Where Fairclock, the clients and vLLM agree, and where they do not."""

    sent: int
    logged: int
    unmatched: tuple[str, ...]
    """Calls that do not have exactly one row, and rows that nobody called."""
    outcomes: Mapping[Outcome, int]
    wrong_outcomes: tuple[str, ...]
    median_difference_us: int
    largest_difference_us: int
    """Between `end_to_end` and the client's own watch, over every call."""
    median_unexplained_us: int
    """The same, less what client and gateway took to hear each other beside each call."""
    queue_us: int
    engine_queue_us: int
    joined: int
    engine_finished: int
    wrong_joins: tuple[str, ...]
    """Rows that carry another call's tokens."""
    ok_without_engine: int
    p99_end_to_end_us: int
    p99_excluding_queue_us: int

    @property
    def queue_difference_ratio(self) -> float:
        """Return how far the sum of `queue` is from vLLM's own counter."""
        if self.engine_queue_us == 0:
            return 0.0 if self.queue_us == 0 else float("inf")
        return abs(self.queue_us - self.engine_queue_us) / self.engine_queue_us

    @property
    def disagreements(self) -> tuple[str, ...]:
        """Return, a sentence each, what must not be; empty when all agree."""
        found = [*self.unmatched, *self.wrong_outcomes, *self.wrong_joins]
        if self.median_unexplained_us > MOST_MEDIAN_DIFFERENCE_US:
            found.append(
                f"end_to_end is {self.median_difference_us} µs from the clients' at the median,"
                f" and {self.median_unexplained_us} µs beyond what the two took to hear each other"
            )
        if self.queue_difference_ratio > MOST_QUEUE_DIFFERENCE_RATIO:
            found.append(f"queue sums to {self.queue_us} µs, vLLM's counter to {self.engine_queue_us} µs")
        if self.joined != self.engine_finished:
            found.append(f"{self.joined} requests are joined, vLLM finished {self.engine_finished}")
        if self.ok_without_engine:
            found.append(f"{self.ok_without_engine} ok requests have no engine row")
        return tuple(found)


def compare(seen: Sequence[Observation], rows: Sequence[Row], counter: QueueCounter) -> Comparison:
    """Hold `rows` against what the clients saw and what vLLM counted in the same time."""
    by_trace, by_own_id = defaultdict(list), defaultdict(list)
    for row in rows:
        by_trace[row.trace_id].append(row)
        by_own_id[row.request_id].append(row)
    unmatched, pairs = [], []
    for each in seen:
        found = by_trace[each.trace_id] if each.trace_id else by_own_id[each.call.request_id]
        if len(found) == 1:
            pairs.append((each, found[0]))
        else:
            unmatched.append(f"call {each.call.number} ({each.call.behaviour}) has {len(found)} rows")
    if len(rows) != len(seen):
        unmatched.append(f"{len(seen)} calls were made and {len(rows)} requests logged")
    differences = sorted(abs(each.elapsed_us - row.end_to_end_us) for each, row in pairs)
    unexplained = sorted(
        max(0, abs(each.elapsed_us - row.end_to_end_us) - each.lag_us) for each, row in pairs
    )
    ok = [row for row in rows if row.outcome == Outcome.OK]
    return Comparison(
        sent=len(seen),
        logged=len(rows),
        unmatched=tuple(unmatched),
        outcomes=dict(Counter(Outcome(row.outcome) for row in rows)),
        wrong_outcomes=tuple(
            f"call {each.call.number} ({each.call.behaviour}, status {each.status}) is stored as {row.outcome}"
            for each, row in pairs
            if row.outcome != each.outcome
        ),
        median_difference_us=_percentile(differences, _MEDIAN),
        largest_difference_us=max(differences, default=0),
        median_unexplained_us=_percentile(unexplained, _MEDIAN),
        queue_us=sum(row.queue_us or 0 for row in rows),
        engine_queue_us=round(counter.seconds * _MICROSECONDS_PER_SECOND),
        joined=sum(row.engine == "joined" for row in rows),
        engine_finished=counter.finished,
        wrong_joins=tuple(
            f"call {each.call.number} asked for {each.call.completion_tokens} tokens; its row has {row.completion_tokens}"
            for each, row in pairs
            if row.engine == "joined" and row.completion_tokens != each.call.completion_tokens
        ),
        ok_without_engine=sum(row.engine != "joined" for row in ok),
        p99_end_to_end_us=_percentile(sorted(row.end_to_end_us for row in ok), _P99),
        p99_excluding_queue_us=_percentile(sorted(row.excluding_queue_us for row in ok), _P99),
    )


def _percentile(ascending: Sequence[int], percentile: Fraction) -> int:
    return ascending[rank(len(ascending), percentile) - 1] if ascending else 0
