"""Own the timelines of engines: what ran on which engine from when to when, whose it was, and how its GPUs' time is divided."""

from __future__ import annotations

import uuid
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Literal, TypeAlias

from fairclock.model import Interval, from_us, to_us
from fairclock.store.engine_rows import engine_parameters, engine_rows
from fairclock.store.query import Query, sql_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    from fairclock.store import Store

Division: TypeAlias = Literal["equal", "tokens", "per_slot"]

QUANTA = 1 << 40
"""Into how many parts the sweep divides a picosecond."""

_HOUR_US = 3_600_000_000
DAY_US = 24 * _HOUR_US
MARGIN_US = 600_000_000  # how far an engine row may lie from its request's hour
CLAIMS_US = 3 * MARGIN_US  # how far back a request may lie that another's sequence could be claimed by
POSSIBLE = (
    "queue_us >= 0 AND prefill_us >= 0 AND decode_us >= 0 AND end_to_end_us - queue_us - prefill_us - decode_us >= -2000"
    f" AND end_to_end_us <= {DAY_US}"
)


_REQUESTS = {
    "tenant": "LowCardinality(String)", "received_at": "DateTime64(6, 'UTC')", "request_id": "String", "trace_id": "FixedString(16)",
    "content_hash": "UInt128", "k": "UInt16", "upstream": "LowCardinality(String)", "outcome": "LowCardinality(String)",
    "end_to_end_us": "Int64", "forwarded_us": "Nullable(Int64)", "prefill_us": "Nullable(Int64)", "decode_us": "Nullable(Int64)",
    "prompt_tokens": "Nullable(UInt32)", "cached_tokens": "Nullable(UInt32)", "completion_tokens": "Nullable(UInt32)",
    "engine": "LowCardinality(String)",
}  # fmt: skip
_TIMELINE = {
    "instance": "LowCardinality(String)", "row_id": "UInt128", "tenant": "LowCardinality(String)", "weight": "Int64",
    "kv_tokens": "Int64", "begun_us": "Int64", "ended_us": "Int64", "is_left": "UInt8", "first_us": "Int64", "done_us": "Int64",
    "prompt_tokens": "Int64", "cached_tokens": "Int64", "completion_tokens": "Int64",
}  # fmt: skip
_SEQUENCES = {
    **_TIMELINE,
    "trace_id": "FixedString(16)", "join_id": "String", "prefill_us": "Int64", "decode_us": "Int64", "arrived_us": "Int64",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """An engine on its machine, for as long as that was its own: ``[from_us, to_us)``.

    numerator, denominator: how many GPUs. slots: how many sequences run at most.
    """

    engine: str
    numerator: int
    denominator: int = 1
    slots: int = 1
    from_us: int = 0
    to_us: int = 1 << 62


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """What is swept and how: lanes in order of their engines, and the edges between which shares are summed.

    ceiling_picoseconds: what one request gets at most; the rest is nobody's.
    upstreams: which engine answers behind an address that the gateway logs. owns_left: whether a request that left no
    row at its engine (see ``left_requests.sql``) gets its share, else nobody does.
    """

    lanes: tuple[Lane, ...]
    edges_us: tuple[int, ...]
    division: Division = "equal"
    ceiling_picoseconds: int | None = None
    upstreams: tuple[tuple[str, str], ...] = ()
    owns_left: bool = False

    def parameters(self) -> dict[str, object]:
        """Return the parameters of ``timeline_pieces.sql`` and ``sweep.sql``; ValueError for lanes out of order."""
        names = [engine for engine, _ in groupby(lane.engine for lane in self.lanes)]
        if len(set(names)) != len(names):
            raise ValueError("the lanes of one engine have to follow each other")
        counts = [sum(lane.engine == name for lane in self.lanes) for name in names]
        return {
            "engine_names": names,
            "engine_first_lanes": [1 + sum(counts[:index]) for index in range(len(counts))],
            "engine_lanes": counts,
            "lane_from_us": [lane.from_us for lane in self.lanes],
            "lane_to_us": [lane.to_us for lane in self.lanes],
            "lane_numerators": [lane.numerator for lane in self.lanes],
            "lane_denominators": [lane.denominator for lane in self.lanes],
            "lane_slots": [lane.slots for lane in self.lanes],
            "edges_us": list(self.edges_us[:-1]),
            "next_edges_us": list(self.edges_us[1:]),
            "by_weight": int(self.division == "tokens"),
            "by_slot": int(self.division == "per_slot"),
        }


def days(window: Interval, at_once: int = 1) -> list[Interval]:
    """Return `window` in parts of `at_once` days at most, that begin with whole hours: what ran is kept in memory while it is read."""
    edges = hour_edges(window)
    starts = edges[: -1 : 24 * at_once]
    return [
        Interval(start=from_us(start), end=from_us(end))
        for start, end in zip(starts, (*starts[1:], edges[-1]), strict=True)
    ]


def hour_edges(window: Interval, cuts: Sequence[datetime] = ()) -> tuple[int, ...]:
    """Return the edges (µs) of the hours that `window` touches, and of `cuts` within them."""
    first, last = to_us(window.start) // _HOUR_US * _HOUR_US, -(-to_us(window.end) // _HOUR_US) * _HOUR_US
    inner = (each for each in map(to_us, cuts) if first < each < last)
    return tuple(sorted({*range(first, last + 1, _HOUR_US), *inner}))


def earliest_us(store: Store, window: Interval, as_of: datetime) -> int:
    """Return when (µs) the first of all that ran within `window` came to its engine or gateway.

    What ran into the window from before it is looked for a day back.
    """
    start_us = to_us(window.start)
    found = [store.rows(query)[0] for query in _ran_into(start_us, to_us(as_of))]
    return min([start_us, *(int(earliest) for earliest, count in found if count)])


def _ran_into(start_us: int, as_of_us: int) -> list[Query]:
    """Return the queries for (earliest µs, how many) of the day's raw rows that end at `start_us` or after it; copies count too."""
    return [
        Query(
            sql=f"SELECT min(toUnixTimestamp64Micro({begun})), count() FROM {table}"
            f" WHERE {begun} >= fromUnixTimestamp64Micro({{engine_from_us:Int64}}, 'UTC')"
            f" AND {begun} < fromUnixTimestamp64Micro({{engine_to_us:Int64}}, 'UTC') AND first_wins >= {{as_of_wins:UInt64}}"
            f" AND toUnixTimestamp64Micro({begun}) + {length} >= {{engine_to_us:Int64}} AND {condition}",
            parameters=engine_parameters(max(start_us - DAY_US, 0), start_us, as_of_us),
        )
        for table, begun, length, condition in (
            ("engine_requests", "arrived_at", "end_to_end_us", POSSIBLE),
            ("gateway_requests", "received_at", "responded_us", "outcome IN ('client_aborted', 'timeout')"),
        )
    ]


@contextmanager
def timeline(store: Store, window: Interval, as_of: datetime, sweep: Sweep) -> Iterator[Query]:
    """Yield the query for all that ran within `window` on any engine, and whose it was, as known at `as_of`.

    Sequences are joined to their requests once; the query reads what came of it, as long as the context lasts.
    """
    first_us, last_us = earliest_us(store, window, as_of), to_us(window.end)
    rows = engine_rows(store._connection, from_us=first_us, to_us=last_us, as_of_us=to_us(as_of))  # noqa: SLF001 - one package
    around = Interval(start=from_us(max(first_us - CLAIMS_US, 0)), end=from_us(last_us + MARGIN_US))
    if _is_empty(store, around):
        with _staged(store, _TIMELINE) as ran:
            yield Query(sql=f"SELECT * FROM {ran}")
        return
    joined = store.requests_as_of(around, as_of)
    with _staged(store, _TIMELINE) as ran:
        with _staged(store, _REQUESTS, joined) as requests, _staged(store, _SEQUENCES) as sequences:
            sources = {"FROM joined": f"FROM {requests}", "FROM sequences": f"FROM {sequences}"}
            sql = sql_file("engine_sequences").replace("FROM engine_rows", f"FROM ({rows.sql})")
            joined_to = {"FROM joined": sources["FROM joined"]}
            _fill(store, sequences, _SEQUENCES, _reading(sql, joined_to), rows.parameters)
            _fill(store, ran, _TIMELINE, f"SELECT * FROM {sequences} WHERE row_id != 0")
            _fill(store, ran, _TIMELINE, _reading(sql_file("engine_owners"), sources))
            if sweep.upstreams:
                known: dict[str, object] = {
                    "upstreams": [address for address, _ in sweep.upstreams],
                    "upstream_engines": [engine for _, engine in sweep.upstreams],
                    "owns_left": int(sweep.owns_left),
                }
                _fill(store, ran, _TIMELINE, _reading(sql_file("left_requests"), sources), known)
        yield Query(sql=f"SELECT * FROM {ran}")


def _is_empty(store: Store, window: Interval) -> bool:
    """Return whether no row of any version lies in `window`: of a month, most days may be quiet or yet to come."""
    known = {"from_us": to_us(window.start), "to_us": to_us(window.end)}
    return not any(
        store.rows(
            Query(
                sql=f"SELECT 1 FROM {table} WHERE {at} >= fromUnixTimestamp64Micro({{from_us:Int64}}, 'UTC')"
                f" AND {at} < fromUnixTimestamp64Micro({{to_us:Int64}}, 'UTC') LIMIT 1",
                parameters=known,
            )
        )
        for table, at in (
            ("engine_requests", "arrived_at"),
            ("gateway_requests", "received_at"),
            ("requests", "received_at"),
        )
    )


@contextmanager
def _staged(store: Store, columns: Mapping[str, str], given: Query | None = None) -> Iterator[str]:
    """Yield the name of a table in memory with `columns`, and what is `given` in it; a new holder sweeps it away after a crash."""
    table = f"staged_rows_{uuid.uuid4().hex}"
    names = ", ".join(columns)
    try:
        store.execute(
            Query(
                sql=f"CREATE TABLE {table} ({', '.join(f'{name} {kind}' for name, kind in columns.items())}) ENGINE = Memory"
            )
        )
        if given is not None:
            store.execute(
                Query(
                    sql=f"INSERT INTO {table} SELECT {names} FROM ({given.sql})", parameters=given.parameters
                )
            )
        yield table
    finally:
        store.execute(Query(sql=f"DROP TABLE IF EXISTS {table}"))


def _reading(sql: str, sources: Mapping[str, str]) -> str:
    """Return `sql` with what it reads replaced by staged tables."""
    for name, table in sources.items():
        sql = sql.replace(name, table)
    return sql


def _fill(
    store: Store,
    table: str,
    columns: Mapping[str, str],
    sql: str,
    parameters: Mapping[str, object] | None = None,
) -> None:
    """Write what `sql` gives into a staged table."""
    names = ", ".join(columns)
    store.execute(
        Query(sql=f"INSERT INTO {table} ({names}) SELECT {names} FROM ({sql})", parameters=parameters or {})
    )
