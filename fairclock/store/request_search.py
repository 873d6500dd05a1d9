"""Own the look for single requests: the slowest of a time, or those with an id, as they were known at an instant."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from fairclock.model import to_us
from fairclock.store.query import Query

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from fairclock.model import Interval
    from fairclock.store import Store

_TRACE = re.compile(r"[0-9a-fA-F]{32}")
ORDERS = {
    "end_to_end": "end_to_end_us",
    "queue": "ifNull(queue_us, -1)",
    "prefill": "ifNull(prefill_us, -1)",
    "decode": "ifNull(decode_us, -1)",
    "time_to_first_token": "ifNull(time_to_first_token_us, -1)",
    "newest": "toUnixTimestamp64Micro(received_at)",
}
"""What requests can be put in order by, the greatest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundRequest:
    """One request; durations in microseconds, None where they are not known; `trace_id` as hexadecimal digits."""

    received_at: datetime
    content_hash: int
    k: int
    tenant: str
    request_id: str
    trace_id: str
    model: str
    route: str
    region: str
    upstream: str
    source: str
    status: int
    outcome: str
    error_code: str
    stream: int | None
    inference_mode: str
    model_version: str
    attempts: int
    end_to_end_us: int
    connected_us: int | None
    forwarded_us: int | None
    queue_us: int | None
    prefill_us: int | None
    decode_us: int | None
    frontend_us: int | None
    time_to_first_token_us: int | None
    prompt_tokens: int | None
    cached_tokens: int | None
    completion_tokens: int | None
    decode_tokens: int | None
    engine: str
    simulated: int


_COLUMNS = tuple(field.name for field in fields(FoundRequest))
_READ = {"trace_id": "if(trace_id = toFixedString('', 16), '', lower(hex(trace_id)))"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which requests: `tenants` None for all, `name` an id that they carry, `outcomes` () for all.

    identity: (content hash, k), where one request is wanted.
    """

    window: Interval
    tenants: tuple[str, ...] | None = None
    name: str = ""
    outcomes: tuple[str, ...] = ()
    order: str = "end_to_end"
    most: int = 50
    identity: tuple[int, int] | None = None


def find_requests(store: Store, wanted: Wanted, as_of: datetime) -> list[FoundRequest]:
    """Return the requests received in the window that are `wanted`, the greatest in its order first."""
    query = search_query(wanted, store.requests_as_of(wanted.window, as_of))
    return [FoundRequest(**dict(zip(_COLUMNS, row, strict=True))) for row in store.rows(query)]


def search_query(wanted: Wanted, joined: Query) -> Query:
    """Return the query for what is `wanted` among `joined`."""
    conditions: list[str] = []
    parameters: dict[str, object] = {"most": wanted.most}
    if wanted.tenants is not None:
        conditions.append("tenant IN {searched_tenants:Array(String)}")
        parameters["searched_tenants"] = list(wanted.tenants)
    if wanted.outcomes:
        conditions.append("outcome IN {searched_outcomes:Array(String)}")
        parameters["searched_outcomes"] = list(wanted.outcomes)
    if wanted.name:
        parameters["searched_name"] = wanted.name
        named = "request_id = {searched_name:String}"
        if _TRACE.fullmatch(wanted.name):
            named = f"({named} OR trace_id = toFixedString(unhex({{searched_name:String}}), 16))"
        conditions.append(named)
    if wanted.identity is not None:
        conditions.append("content_hash = {searched_hash:UInt128} AND k = {searched_k:UInt16}")
        parameters["searched_hash"], parameters["searched_k"] = wanted.identity
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    columns = ", ".join(f"{_READ[each]} AS shown_{each}" if each in _READ else each for each in _COLUMNS)
    return Query(
        sql=f"SELECT {columns} FROM ({joined.sql}){where}"
        f" ORDER BY {ORDERS[wanted.order]} DESC, received_at, content_hash, k LIMIT {{most:UInt32}}",
        parameters={**joined.parameters, **parameters},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundSequence:
    """One sequence as an engine reported it; durations in microseconds, None where they are not known."""

    arrived_at: datetime
    request_id: str
    sequence: int
    instance: str
    end_to_end_us: int | None
    queue_us: int | None
    prefill_us: int | None
    decode_us: int | None
    completion_tokens: int | None
    finish_reason: str
    reporter: str
    preemptions: int | None


_SEQUENCE_COLUMNS = tuple(field.name for field in fields(FoundSequence))
_MOST_SEQUENCES = 50


def sequences_of(
    store: Store, *, trace_id: str, request_id: str, window: Interval, as_of: datetime
) -> list[FoundSequence]:
    """Return the sequences that engines reported in `window` under a trace id, or, without one, under a request id."""
    named = (
        "trace_id = toFixedString(unhex({sequence_trace:String}), 16)"
        if trace_id
        else "join_id = {sequence_request:String}"
    )
    found = store.rows(
        Query(
            sql=f"SELECT {', '.join(_SEQUENCE_COLUMNS)} FROM engine_requests FINAL WHERE {named}"
            " AND arrived_at >= fromUnixTimestamp64Micro({sequence_from:Int64}, 'UTC')"
            " AND arrived_at < fromUnixTimestamp64Micro({sequence_to:Int64}, 'UTC')"
            " AND stored_at <= fromUnixTimestamp64Micro({sequence_known:Int64}, 'UTC')"
            " ORDER BY arrived_at, sequence, reporter LIMIT {sequence_most:UInt32}",
            parameters={
                "sequence_trace": trace_id,
                "sequence_request": request_id,
                "sequence_from": to_us(window.start),
                "sequence_to": to_us(window.end),
                "sequence_known": to_us(as_of),
                "sequence_most": _MOST_SEQUENCES,
            },
        )
    )
    return [FoundSequence(**dict(zip(_SEQUENCE_COLUMNS, row, strict=True))) for row in found]


def measured_of(
    store: Store, request_ids: Sequence[str], window: Interval, as_of: datetime
) -> dict[str, tuple[int, int | None]]:
    """Return (end to end, time to first token) in µs of the requests of `window` with these ids; none where an id repeats."""
    if not request_ids or not window.length_us:
        return {}
    joined = store.requests_as_of(window, as_of)
    found = store.rows(
        Query(
            sql=f"SELECT request_id, any(end_to_end_us), any(time_to_first_token_us) FROM ({joined.sql})"
            " WHERE request_id IN {measured_ids:Array(String)} GROUP BY request_id HAVING count() = 1",
            parameters={**joined.parameters, "measured_ids": list(request_ids)},
        )
    )
    return {request_id: (int(whole), first) for request_id, whole, first in found}
