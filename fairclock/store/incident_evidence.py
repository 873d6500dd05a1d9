"""Own what is read of an incident's time beside the contract's own requests: traffic, repeats, GPUs, engines' times.

Everything is of all tenants, as it was known at an instant. Two stretches of time are told apart by where the second begins.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from fairclock.model import to_us
from fairclock.store.batches import FIRST_WINS_BASE
from fairclock.store.query import Query

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from fairclock.model import Interval

MINUTE_US = 60_000_000
LONG_TOKENS = 2_048
SHORT_TOKENS = 512
_TIMES = {
    "engine_requests": "arrived_at",
    "engine_samples": "scraped_at",
    "engine_states": "at",
    "gpu_events": "happened_at",
    "gpu_samples": "sampled_at",
}
_REFUSED = "outcome IN ('quota_rejected', 'capacity_rejected')"


class Rows(Protocol):
    """Whatever answers queries; `fairclock.store.Store` does."""

    def rows(self, query: Query) -> Sequence[Sequence[Any]]:
        """Return the rows of `query`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrafficMinute:
    """What was received in one minute; tokens where they are known, times of `ok` requests (see `observations.Stretch`)."""

    start_us: int
    requests: int
    own: int
    refused: int
    prompt_tokens: int
    long_tokens: int
    short: int
    short_us: int
    waited: int
    waiting_us: int
    inference_us: int


def traffic_by_minute(store: Rows, joined: Query, tenants: Sequence[str]) -> list[TrafficMinute]:
    """Return the minutes of the joined requests `joined` that have any, in time order; `tenants` are the own ones."""
    known = "outcome = 'ok' AND queue_us IS NOT NULL"
    short = f"outcome = 'ok' AND prompt_tokens < {SHORT_TOKENS}"
    query = Query(
        sql="SELECT intDiv(toUnixTimestamp64Micro(received_at), 60000000) * 60000000 AS minute_us, count(),"
        f" countIf(tenant IN {{own_tenants:Array(String)}}), countIf({_REFUSED}), sum(toInt64(ifNull(prompt_tokens, 0))),"
        f" sumIf(toInt64(ifNull(prompt_tokens, 0)), prompt_tokens > {LONG_TOKENS}), countIf({short}), sumIf(end_to_end_us, {short}),"
        f" countIf({known}), sumIf(ifNull(queue_us, 0), {known}), sum(ifNull(prefill_us + decode_us, 0))"
        f" FROM ({joined.sql}) GROUP BY minute_us ORDER BY minute_us",
        parameters={**joined.parameters, "own_tenants": list(tenants)},
    )
    return [
        TrafficMinute(
            start_us=int(row[0]), requests=int(row[1]), own=int(row[2]), refused=int(row[3]), prompt_tokens=int(row[4]),
            long_tokens=int(row[5]), short=int(row[6]), short_us=int(row[7]), waited=int(row[8]), waiting_us=int(row[9]),
            inference_us=int(row[10]),
        )
        for row in store.rows(query)
    ]  # fmt: skip


def repeated_requests(store: Rows, window: Interval, cut: datetime, as_of: datetime) -> tuple[int, int]:
    """Return how many requests before and after `cut` repeated one that had come to nothing within the minute before.

    The same tenant, route and size of the request; the one before it of that kind had ended, and not with `ok`.
    """
    query = Query(
        sql="SELECT countIf(is_repeated AND at_us < {cut_us:Int64}), countIf(is_repeated AND at_us >= {cut_us:Int64}) FROM ("
        " SELECT at_us, before_us > 0 AND at_us - before_us <= 60000000 AND before_outcome != 'ok' AND ended_us <= at_us AS is_repeated"
        " FROM (SELECT at_us, lagInFrame(at_us) OVER same AS before_us, lagInFrame(outcome) OVER same AS before_outcome,"
        "  lagInFrame(at_us + took_us) OVER same AS ended_us FROM ("
        "   SELECT toUnixTimestamp64Micro(received_at) AS at_us, toInt64(responded_us) AS took_us, toString(outcome) AS outcome,"
        "    tenant, route, request_bytes, content_hash, k"
        f"   FROM gateway_requests FINAL WHERE request_bytes > 0 AND {_within('received_at')})"
        "  WINDOW same AS (PARTITION BY tenant, route, request_bytes ORDER BY at_us, content_hash, k"
        "   ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)))",
        parameters={**_bounds(window, as_of), "cut_us": to_us(cut)},
    )
    ((before, after),) = store.rows(query)
    return int(before), int(after)


def tables_with_rows(store: Rows, window: Interval, as_of: datetime) -> set[str]:
    """Return which tables of engines and GPUs have any row of `window`: of the others nothing need be asked."""
    parts = [
        f"SELECT '{table}' WHERE (SELECT count() FROM (SELECT 1 FROM {table} WHERE {_within(column)} LIMIT 1)) > 0"
        for table, column in _TIMES.items()
    ]
    return {
        row[0] for row in store.rows(Query(sql=" UNION ALL ".join(parts), parameters=_bounds(window, as_of)))
    }


def gpu_events_in(
    store: Rows, window: Interval, as_of: datetime
) -> list[tuple[str, str, int | None, int, int]]:
    """Return (event, gpu, code, times, first in µs) of what happened to GPUs."""
    query = Query(
        sql="SELECT toString(event) AS what, toString(gpu) AS whose, code, count(), toUnixTimestamp64Micro(min(happened_at)) AS first_us"
        f" FROM gpu_events FINAL WHERE {_within('happened_at')} GROUP BY what, whose, code ORDER BY first_us, whose, what, code",
        parameters=_bounds(window, as_of),
    )
    return [
        (event, gpu, code, int(times), int(first)) for event, gpu, code, times, first in store.rows(query)
    ]


def throttled_seconds(
    store: Rows, window: Interval, cut: datetime, as_of: datetime, *, reasons: int
) -> list[tuple[str, int, int, int, int]]:
    """Return (gpu, held down, measured) seconds after `cut`, then (held down, measured) before; of those ever held down.

    reasons: the bits of `throttle_reasons` that count.
    """
    held = "bitAnd(assumeNotNull(throttle_reasons), {reasons:UInt64}) != 0"
    after = "sampled_at >= fromUnixTimestamp64Micro({cut_us:Int64}, 'UTC')"
    query = Query(
        sql=f"SELECT toString(gpu) AS whose, countIf({held} AND {after}), countIf({after}), countIf({held} AND NOT {after}), countIf(NOT {after})"
        f" FROM gpu_samples FINAL WHERE isNotNull(throttle_reasons) AND {_within('sampled_at')} GROUP BY whose"
        f" HAVING countIf({held}) > 0 ORDER BY whose",
        parameters={**_bounds(window, as_of), "cut_us": to_us(cut), "reasons": reasons},
    )
    return [
        (gpu, int(held_after), int(of_after), int(held_before), int(of_before))
        for gpu, held_after, of_after, held_before, of_before in store.rows(query)
    ]


def token_times(
    store: Rows, window: Interval, step_us: int, as_of: datetime
) -> list[tuple[str, int, int, int]]:
    """Return (engine, start of the piece, requests, median µs of an output token) of pieces of `step_us`, by engine and time."""
    time = "intDiv(decode_us, greatest(toInt64(assumeNotNull(completion_tokens)) - 1, 1))"
    return _pieces(
        store, window, step_us, as_of, value=f"quantileExact(0.5)({time})", where="completion_tokens > 1 AND "
    )


def slow_minutes(store: Rows, window: Interval, as_of: datetime) -> list[tuple[str, int, int, int]]:
    """Return (engine, start of the minute, requests, P95 µs of inference), by engine and time."""
    return _pieces(
        store, window, MINUTE_US, as_of, value="quantileExactHigh(0.95)(prefill_us + decode_us)", where=""
    )


def _pieces(
    store: Rows, window: Interval, step_us: int, as_of: datetime, *, value: str, where: str
) -> list[tuple[str, int, int, int]]:
    at = "intDiv(toUnixTimestamp64Micro(arrived_at), {step_us:Int64}) * {step_us:Int64}"
    query = Query(
        sql=f"SELECT toString(instance) AS engine, {at} AS piece_us, count(), toInt64({value}) FROM engine_requests FINAL"
        f" WHERE {where}prefill_us >= 0 AND decode_us >= 0 AND {_within('arrived_at')} GROUP BY engine, piece_us ORDER BY engine, piece_us",
        parameters={**_bounds(window, as_of), "step_us": step_us},
    )
    return [
        (engine, int(piece), int(count), int(middle)) for engine, piece, count, middle in store.rows(query)
    ]


def _within(column: str) -> str:
    return (
        f"{column} >= fromUnixTimestamp64Micro({{from_us:Int64}}, 'UTC')"
        f" AND {column} < fromUnixTimestamp64Micro({{to_us:Int64}}, 'UTC') AND first_wins >= {{as_of_wins:UInt64}}"
    )


def _bounds(window: Interval, as_of: datetime) -> dict[str, object]:
    return {
        "from_us": to_us(window.start),
        "to_us": to_us(window.end),
        "as_of_wins": FIRST_WINS_BASE - to_us(as_of),
    }
