"""Own the look for single requests: the slowest of a time, or those with an id, as they were known at an instant."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

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
    engine: str
    simulated: int


_COLUMNS = tuple(field.name for field in fields(FoundRequest))
_READ = {"trace_id": "if(trace_id = toFixedString('', 16), '', lower(hex(trace_id)))"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which requests: `tenants` None for all, `name` an id that they carry, `outcomes` () for all."""

    window: Interval
    tenants: tuple[str, ...] | None = None
    name: str = ""
    outcomes: tuple[str, ...] = ()
    order: str = "end_to_end"
    most: int = 50


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
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    columns = ", ".join(f"{_READ[each]} AS shown_{each}" if each in _READ else each for each in _COLUMNS)
    return Query(
        sql=f"SELECT {columns} FROM ({joined.sql}){where}"
        f" ORDER BY {ORDERS[wanted.order]} DESC, received_at, content_hash, k LIMIT {{most:UInt32}}",
        parameters={**joined.parameters, **parameters},
    )


def newest_request(store: Store, tenants: Sequence[str] | None) -> datetime | None:
    """Return when the newest request (of `tenants`, or of anybody) was received; None where there is none."""
    where = "" if tenants is None else " WHERE tenant IN {tenants:Array(String)}"
    query = Query(
        sql=f"SELECT count(), max(received_at) FROM gateway_requests{where}",
        parameters={} if tenants is None else {"tenants": list(tenants)},
    )
    ((count, newest),) = store.rows(query)
    return newest if count else None
