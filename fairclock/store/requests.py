"""Own the joined requests: which hours are sealed, which are joined live, and the query that reads both."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol

from fairclock.model import Interval, from_us, to_us
from fairclock.model.runs import runs
from fairclock.store.batches import FIRST_WINS_BASE, write_stamp
from fairclock.store.engine_rows import engine_parameters, reading_engine_rows, reported_by_plugin
from fairclock.store.query import Query, sql_file

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from fairclock.store.connection import Connection

HOUR_US = 3_600_000_000
_MARGIN_US = 600_000_000
_HOURS_A_CHUNK = 168

REQUEST_COLUMNS = (
    "tenant", "received_at", "request_id", "trace_id", "content_hash", "k", "source", "model", "route", "region", "upstream",
    "status", "outcome", "error_code", "stream", "inference_mode", "model_version", "attempts", "end_to_end_us", "connected_us",
    "forwarded_us", "queue_us", "prefill_us", "decode_us", "frontend_us", "time_to_first_token_us", "prompt_tokens",
    "cached_tokens", "completion_tokens", "decode_tokens", "engine", "simulated",
)  # fmt: skip
_LIST = ", ".join(REQUEST_COLUMNS)


class Rows(Protocol):
    """What answers a query: a connection, or a store."""

    def rows(self, query: Query, /) -> Sequence[Sequence[Any]]:
        """Return the rows of `query`."""


def hours_query(
    sql: str, hours_us: Sequence[int], as_of_us: int, prefix: str = "", *, by_two: bool = False
) -> Query:
    """Return the query of the file `sql` for `hours_us` as of `as_of_us`; `prefix` keeps its parameters apart from others'.

    by_two: spans and the plugin reported in that time, so that a sequence may be two rows.
    """
    text = reading_engine_rows(sql_file(sql)) if by_two else sql_file(sql)
    parameters: dict[str, object] = {
        "hours_us": list(hours_us),
        "first_us": min(hours_us),
        "last_us": max(hours_us) + HOUR_US,
        **engine_parameters(*_around(hours_us), as_of_us),
    }
    for name in parameters:
        text = text.replace("{" + name + ":", "{" + prefix + name + ":")
    return Query(sql=text, parameters={prefix + name: value for name, value in parameters.items()})


def _around(hours_us: Sequence[int]) -> tuple[int, int]:
    """Return the time, in µs, in which engine rows matter to `hours_us`."""
    return min(hours_us) - _MARGIN_US, max(hours_us) + HOUR_US + _MARGIN_US


def joined_hours(connection: Connection, hours_us: Sequence[int], as_of_us: int) -> Query:
    """Return the join of `hours_us` as of `as_of_us`: the short one for every hour that it is enough for."""
    from_us, to_us = _around(hours_us)
    by_two = reported_by_plugin(connection, from_us=from_us, to_us=to_us, as_of_us=as_of_us)
    found = connection.rows(hours_query("tangled_hours", hours_us, as_of_us, by_two=by_two))
    tangled = {int(row[0]) for row in found}
    joins = [
        hours_query(sql, hours, as_of_us, f"{sql}_", by_two=by_two)
        for sql, hours in (
            ("join_plain_hours", [hour for hour in hours_us if hour not in tangled]),
            ("join_hours", [hour for hour in hours_us if hour in tangled]),
        )
        if hours
    ]
    return Query(
        sql=" UNION ALL ".join(f"SELECT {_LIST} FROM ({each.sql})" for each in joins),
        parameters={name: value for each in joins for name, value in each.parameters.items()},
    )


def _bounds(window: Interval | None) -> dict[str, object]:
    """Return the first hour's start and the end of the last hour that `window` touches."""
    if window is None:
        return {"hours_from": 0, "hours_to": FIRST_WINS_BASE}
    first = to_us(window.start) // HOUR_US * HOUR_US
    last = -(-to_us(window.end) // HOUR_US) * HOUR_US
    return {"hours_from": first, "hours_to": last}


def _reopened_hours(window: Interval | None, as_of_us: int) -> Query:
    """Return the query for (start in µs, rows of the last seal) of hours whose raw rows, stored by `as_of_us`, are not all in a seal."""
    touched = (
        "SELECT arrayJoin(range(toUInt64(intDiv(at - {margin:Int64}, {hour:Int64})), toUInt64(intDiv(at + {margin:Int64}, {hour:Int64}) + 1))) AS number, first_wins FROM"
        " (SELECT toUnixTimestamp64Micro(%s) AS at, first_wins FROM %s WHERE first_wins >= {as_of_wins:UInt64}"
        " AND %s >= fromUnixTimestamp64Micro(greatest({hours_from:Int64} - {margin:Int64}, 0), 'UTC')"
        " AND %s < fromUnixTimestamp64Micro({hours_to:Int64} + {margin:Int64}, 'UTC'))"
    )
    gateway = touched % ("received_at", "gateway_requests", "received_at", "received_at")
    engine = touched % ("arrived_at", "engine_requests", "arrived_at", "arrived_at")
    return Query(
        sql="SELECT raw.start_us, sealed.sealed_rows FROM"
        f" (SELECT toInt64(number) * {{hour:Int64}} AS start_us, min(first_wins) AS newest FROM ({gateway} UNION ALL {engine})"
        "   GROUP BY number) AS raw"
        " LEFT JOIN (SELECT hour_us, argMax(read_us, (seal, read_us)) AS sealed_us, argMax(rows, (seal, rows)) AS sealed_rows FROM ("
        # a confirmation speaks for its own seal only: a slower writer's seal may have come after it
        "   SELECT toUnixTimestamp64Micro(hour) AS hour_us, seal, toUnixTimestamp64Micro(as_of) AS read_us, toUInt64(rows) AS rows FROM seals"
        "   WHERE toUnixTimestamp64Micro(stored_at) <= {as_of:Int64}"
        "   UNION ALL SELECT toUnixTimestamp64Micro(hour), seal, toUnixTimestamp64Micro(as_of), toUInt64(0) FROM seal_confirmations"
        "   WHERE toUnixTimestamp64Micro(stored_at) <= {as_of:Int64}) GROUP BY hour_us) AS sealed"
        " ON sealed.hour_us = raw.start_us"
        " WHERE raw.start_us >= {hours_from:Int64} AND raw.start_us < {hours_to:Int64}"
        " AND toInt64({base:UInt64} - raw.newest) > sealed.sealed_us ORDER BY raw.start_us",
        parameters={
            **_bounds(window),
            "margin": _MARGIN_US,
            "hour": HOUR_US,
            "base": FIRST_WINS_BASE,
            "as_of": as_of_us,
            "as_of_wins": FIRST_WINS_BASE - as_of_us,
        },
    )


def open_hours_of(connection: Rows, window: Interval, as_of: datetime) -> list[int]:
    """Return the hours (starts in µs) that a reader of `window` at `as_of` finds without a valid seal."""
    return _open_and_worn(connection, window, to_us(as_of))[0]


def _open_and_worn(connection: Rows, window: Interval | None, as_of_us: int) -> tuple[list[int], list[int]]:
    """Return the hours (starts in µs) without a valid seal, and those whose raw rows are no longer all that was sealed.

    The latter stay as they were sealed: what came late for them would else stand alone, once the raw tables have let go of the rest.
    """
    found = [(int(start), int(rows)) for start, rows in connection.rows(_reopened_hours(window, as_of_us))]
    sealed = {start: rows for start, rows in found if rows}
    kept = _raw_requests(connection, list(sealed), as_of_us) if sealed else {}
    worn = [start for start, rows in sealed.items() if kept.get(start, 0) < rows]
    return [start for start, _ in found if start not in worn], worn


def _raw_requests(connection: Rows, hours_us: Sequence[int], as_of_us: int) -> dict[int, int]:
    """Return how many requests the gateway's raw rows of `hours_us` are, each counted once, as of `as_of_us`."""
    parameters: dict[str, object] = {"as_of_wins": FIRST_WINS_BASE - as_of_us}
    spans = []
    for number, (first, last) in enumerate(
        runs(sorted(hour // HOUR_US for hour in hours_us), most=len(hours_us))
    ):
        parameters |= {f"from_{number}": first * HOUR_US, f"to_{number}": (last + 1) * HOUR_US}
        spans.append(
            f"received_at >= fromUnixTimestamp64Micro({{from_{number}:Int64}}, 'UTC')"
            f" AND received_at < fromUnixTimestamp64Micro({{to_{number}:Int64}}, 'UTC')"
        )
    query = Query(
        sql=f"SELECT intDiv(toUnixTimestamp64Micro(received_at), {HOUR_US}) * {HOUR_US} AS start_us,"
        " uniqExact(received_at, content_hash, k) FROM gateway_requests"
        f" WHERE first_wins >= {{as_of_wins:UInt64}} AND ({' OR '.join(spans)}) GROUP BY start_us",
        parameters=parameters,
    )
    return {int(start): int(count) for start, count in connection.rows(query)}


def requests_as_of(connection: Connection, window: Interval, as_of: datetime) -> Query:
    """Return the query for the joined requests received in `window`, sealed or live, as they were at `as_of`."""
    live = open_hours_of(connection, window, as_of)
    joined = joined_hours(connection, live, to_us(as_of)) if live else None
    return sealed_and_live(window, as_of, live, joined)


def sealed_and_live(window: Interval, as_of: datetime, live: Sequence[int], joined: Query | None) -> Query:
    """Return the query for the requests received in `window`: of its `live` hours those of `joined`, else the sealed."""
    parameters: dict[str, object] = {
        **_bounds(window),
        "requests_from": to_us(window.start),
        "requests_to": to_us(window.end),
        "requests_as_of": to_us(as_of),
        "live_hours": list(live),
    }
    inside = (
        "received_at >= fromUnixTimestamp64Micro({requests_from:Int64}, 'UTC')"
        " AND received_at < fromUnixTimestamp64Micro({requests_to:Int64}, 'UTC')"
    )
    # the boundaries of `hour` go into the seals' query, so that a month reads a month of seals
    sql = (
        f"SELECT {_LIST} FROM requests WHERE {inside}"
        " AND NOT has({live_hours:Array(Int64)}, intDiv(toUnixTimestamp64Micro(received_at), 3600000000) * 3600000000)"
        " AND seal IN (SELECT max(seal) FROM seals WHERE toUnixTimestamp64Micro(stored_at) <= {requests_as_of:Int64}"
        " AND toUnixTimestamp64Micro(hour) >= {hours_from:Int64} AND toUnixTimestamp64Micro(hour) < {hours_to:Int64} GROUP BY hour)"
    )
    if joined is not None:
        sql = f"{sql} UNION ALL SELECT {_LIST} FROM ({joined.sql}) WHERE {inside}"
        parameters.update(joined.parameters)
    return Query(sql=sql, parameters=parameters)


def seals_as_of(window: Interval, as_of: datetime) -> Query:
    """Return the query for (hour, seal, rows, digest) of the seals that a reader at `as_of` rests on."""
    return Query(
        sql="SELECT hour, max(seal), argMax(rows, seal), argMax(digest, seal) FROM seals"
        " WHERE toUnixTimestamp64Micro(stored_at) <= {as_of:Int64}"
        " AND toUnixTimestamp64Micro(hour) >= {hours_from:Int64} AND toUnixTimestamp64Micro(hour) < {hours_to:Int64}"
        " GROUP BY hour ORDER BY hour",
        parameters={**_bounds(window), "as_of": to_us(as_of)},
    )


def _digests_by_hour(connection: Connection, rows: Query) -> dict[int, tuple[int, int]]:
    """Return (rows, digest) by hour; the digest does not depend on the rows' order.

    Hashed as a tuple: with an unknown value among its arguments the engine's hash is itself unknown.
    """
    query = Query(
        sql=f"SELECT intDiv(toUnixTimestamp64Micro(received_at), {HOUR_US}) * {HOUR_US} AS start_us, count(),"
        f" sum(sipHash64(tuple({_LIST}))) FROM ({rows.sql}) GROUP BY start_us",
        parameters=rows.parameters,
    )
    return {int(start): (int(count), int(digest)) for start, count, digest in connection.rows(query)}


def seal(connection: Connection, window: Interval | None, as_of_us: int) -> int:
    """Seal every open hour of `window` as of `as_of_us`; return how many hours got a new seal.

    An hour that reads as its last seal did gets none: it is noted as confirmed instead, and so is one whose raw rows are gone.
    """
    open_us, worn = _open_and_worn(connection, window, as_of_us)
    hours = sorted([*open_us, *worn])
    written = 0
    for at in range(0, len(hours), _HOURS_A_CHUNK):
        written += _seal_chunk(connection, hours[at : at + _HOURS_A_CHUNK], as_of_us, worn=worn)
    return written


def _seal_chunk(connection: Connection, hours: Sequence[int], as_of_us: int, *, worn: Collection[int]) -> int:
    span = Interval(
        start=from_us(min(hours)),
        end=from_us(max(hours) + HOUR_US),
    )
    last = {
        to_us(hour): (int(seal), int(rows), int(digest))
        for hour, seal, rows, digest in connection.rows(seals_as_of(span, datetime.max.replace(tzinfo=UTC)))
    }
    readable = [hour for hour in hours if hour not in worn]
    sealed = [hour for hour in readable if hour in last]
    found = _digests_by_hour(connection, joined_hours(connection, sealed, as_of_us)) if sealed else {}
    changed = [hour for hour in readable if hour not in last or found.get(hour, (0, 0)) != last[hour][1:]]
    with write_stamp(connection) as stamp:
        stored_at, as_of = (from_us(each) for each in (stamp, as_of_us))
        seal_of = {hour: stamp + index for index, hour in enumerate(changed)}
        written = (
            _write_rows(connection, joined_hours(connection, changed, as_of_us), seal_of) if changed else {}
        )
        # the last thing written: without it the rows belong to nothing
        seals = [
            (from_us(hour), seal_of[hour], as_of, stored_at, *written[hour])
            for hour in changed
            if hour in written
        ]
        if seals:
            connection.insert("seals", ("hour", "seal", "as_of", "stored_at", "rows", "digest"), seals)
        confirmed = [
            (from_us(hour), last.get(hour, (0,))[0], as_of, stored_at)
            for hour in hours
            if hour not in written
        ]
        if confirmed:
            connection.insert("seal_confirmations", ("hour", "seal", "as_of", "stored_at"), confirmed)
    return len(seals)


def _write_rows(
    connection: Connection, join: Query, seal_of: Mapping[int, int]
) -> dict[int, tuple[int, int]]:
    """Write a join's rows under their hours' seals; return (rows, digest) by hour, read back from what was written."""
    hours, seals = list(seal_of), list(seal_of.values())
    connection.execute(
        Query(
            sql=f"INSERT INTO requests ({_LIST}, seal) SELECT {_LIST}, {{seals:Array(UInt64)}}[indexOf({{hours_us:Array(Int64)}},"
            f" intDiv(toUnixTimestamp64Micro(received_at), {HOUR_US}) * {HOUR_US})] FROM ({join.sql})",
            parameters={**join.parameters, "seals": seals, "hours_us": hours},
        )
    )
    span = "received_at >= fromUnixTimestamp64Micro({first_us:Int64}, 'UTC') AND received_at < fromUnixTimestamp64Micro({last_us:Int64}, 'UTC')"
    return _digests_by_hour(
        connection,
        Query(
            sql=f"SELECT {_LIST} FROM requests WHERE {span} AND seal IN (SELECT arrayJoin({{seals:Array(UInt64)}}))",
            parameters={"seals": seals, "first_us": min(hours), "last_us": max(hours) + HOUR_US},
        ),
    )
