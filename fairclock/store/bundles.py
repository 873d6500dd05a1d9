"""Own the queries that only a bundle for third parties asks: how hosts' clocks stood, which measurements were set aside."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairclock.model import to_us
from fairclock.store.batches import FIRST_WINS_BASE
from fairclock.store.engine_timelines import POSSIBLE
from fairclock.store.query import Query

if TYPE_CHECKING:
    from datetime import datetime

    from fairclock.model import Interval


def offsets_query(window: Interval, as_of: datetime) -> Query:
    """Return the query for (day, engine, pairs, least, median, greatest µs) of how far engines' clocks were ahead of the gateway's.

    A pair is a request and the one engine row of its trace, from what the gateway handed on to what the engine began:
    the way between is in it, so that the least says most. No duration of a report rests on it.
    """
    gateway = (
        "SELECT trace_id, any(received_at) AS received, any(toUnixTimestamp64Micro(received_at) + ifNull(forwarded_us, 0)) AS handed_us"
        " FROM gateway_requests FINAL WHERE received_at >= fromUnixTimestamp64Micro({from_us:Int64}, 'UTC')"
        " AND received_at < fromUnixTimestamp64Micro({to_us:Int64}, 'UTC') AND first_wins >= {as_of_wins:UInt64}"
        " AND reinterpretAsUInt128(trace_id) != 0 GROUP BY trace_id HAVING count() = 1"
    )
    engine = (
        "SELECT trace_id, any(instance) AS engine, any(toUnixTimestamp64Micro(arrived_at)) AS began_us"
        " FROM engine_requests FINAL WHERE arrived_at >= fromUnixTimestamp64Micro({from_us:Int64}, 'UTC')"
        " AND arrived_at < fromUnixTimestamp64Micro({to_us:Int64}, 'UTC') AND first_wins >= {as_of_wins:UInt64}"
        " AND reinterpretAsUInt128(trace_id) != 0 GROUP BY trace_id HAVING count() = 1"
    )
    return Query(
        sql="SELECT toDate(received, 'UTC') AS day, toString(engine) AS whose, count(), min(began_us - handed_us),"
        " quantileExactLow(0.5)(began_us - handed_us), max(began_us - handed_us)"
        f" FROM ({gateway}) AS gateways INNER JOIN ({engine}) AS engines USING (trace_id) GROUP BY day, whose ORDER BY day, whose",
        parameters=_parameters(window, as_of),
    )


def set_aside_query(window: Interval, as_of: datetime) -> Query:
    """Return the query for the engine rows that arrived in `window` and cannot be true; they join no request.

    Columns: engine, arrived_us, end_to_end_us, queue_us, prefill_us, decode_us; whose they were is not told.
    """
    return Query(
        sql="SELECT toString(instance) AS engine, toUnixTimestamp64Micro(arrived_at) AS arrived_us, end_to_end_us, queue_us,"
        " prefill_us, decode_us FROM engine_requests FINAL WHERE arrived_at >= fromUnixTimestamp64Micro({from_us:Int64}, 'UTC')"
        " AND arrived_at < fromUnixTimestamp64Micro({to_us:Int64}, 'UTC') AND first_wins >= {as_of_wins:UInt64}"
        f" AND NOT ({POSSIBLE}) ORDER BY ALL",
        parameters=_parameters(window, as_of),
    )


def runs_query(window: Interval, as_of: datetime) -> Query:
    """Return the query for one row if any engine may have said anything of `window`, else for none."""
    return Query(
        sql="SELECT 1 FROM engine_requests WHERE arrived_at >= fromUnixTimestamp64Micro({from_us:Int64}, 'UTC')"
        " AND arrived_at < fromUnixTimestamp64Micro({to_us:Int64}, 'UTC') AND first_wins >= {as_of_wins:UInt64} LIMIT 1",
        parameters=_parameters(window, as_of),
    )


def began_within(ran: Query, window: Interval) -> Query:
    """Return the query for what of an engines' timeline began in `window`: engine, tenant, from, to (µs), its tokens by class."""
    return Query(
        sql="SELECT instance, tenant, begun_us, ended_us, prompt_tokens, cached_tokens, completion_tokens"
        f" FROM ({ran.sql}) WHERE begun_us >= {{ran_from:Int64}} AND begun_us < {{ran_to:Int64}} ORDER BY ALL",
        parameters={**ran.parameters, "ran_from": to_us(window.start), "ran_to": to_us(window.end)},
    )


def _parameters(window: Interval, as_of: datetime) -> dict[str, object]:
    return {
        "from_us": to_us(window.start),
        "to_us": to_us(window.end),
        "as_of_wins": FIRST_WINS_BASE - to_us(as_of),
    }
