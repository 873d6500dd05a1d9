"""Own the slices as the store keeps them: which hours changed, rows written where they differ, read as of an instant.

A slice is a row of ``sli_slices``. Rows are only added, and only where the newest one says something else, so
that counting a range again, or twice at once, leaves what is read as it was.
"""

from __future__ import annotations

import uuid
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from fairclock.model import Interval, to_us
from fairclock.store.batches import FIRST_WINS_BASE, write_stamp
from fairclock.store.query import Query
from fairclock.store.requests import HOUR_US, open_hours_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    from fairclock.store import Store

MINUTE_US = 60_000_000
_REACH_US = 600_000_000
_ARRAYS = ("total", "good", "bad", "excluded", "unknown")
_SUMS = ("requests", "queue_us", "queue_of_us")
_SAID = (*_ARRAYS, *_SUMS, "gateway_us", "engine_us")
_VALUES = (*_SAID, "seal")
_AS_THE_TABLE_IS = "contract DESC, version DESC, minute DESC, as_of DESC, stored_at DESC"
NEWEST_FIRST = "as_of DESC, stored_at DESC"


class SliceKey(NamedTuple):
    """Whose slices: a contract, and the version (the hash of its file) that judged."""

    contract: str
    version: str


class MinuteState(NamedTuple):
    """A minute (µs since 1970): how much of it each side was read through, and the seal its rows come from (0: none)."""

    start_us: int
    gateway_us: int
    engine_us: int
    seal: int


def progress(store: Store, inputs: str) -> dict[SliceKey, datetime]:
    """Return up to which instant the slices of each version hold what had been stored, counted from `inputs`."""
    query = Query(
        sql="SELECT contract, version, max(as_of) FROM slice_progress WHERE inputs = {inputs:String}"
        " GROUP BY contract, version",
        parameters={"inputs": inputs},
    )
    return {SliceKey(contract, version): as_of for contract, version, as_of in store.rows(query)}


def note_progress(store: Store, inputs_of: Mapping[SliceKey, str], as_of: datetime) -> None:
    """Note that the slices of these versions hold whatever had been stored by `as_of`."""
    if inputs_of:
        rows = [(key.contract, key.version, inputs, as_of) for key, inputs in inputs_of.items()]
        store.insert("slice_progress", ("contract", "version", "inputs", "as_of"), rows)


def changed_hours(store: Store, since_us: int, as_of: datetime) -> list[int]:
    """Return the hours (starts in µs) of which something was stored after `since_us` and up to `as_of`.

    A raw row may change how requests up to 10 minutes around it are joined, and the whole hour of each; a note
    of coverage changes the hours it speaks of; a seal those that have ended.
    """
    around = "range(toUInt64(intDiv(at - {reach:Int64}, {hour:Int64})), toUInt64(intDiv(at + {reach:Int64}, {hour:Int64}) + 1))"
    raw = (
        f"SELECT arrayJoin({around}) AS number FROM (SELECT toUnixTimestamp64Micro(%s) AS at FROM %s"
        " WHERE first_wins >= {as_of_wins:UInt64} AND first_wins < {since_wins:UInt64})"
    )
    stored = "toUnixTimestamp64Micro(stored_at) > {since:Int64} AND toUnixTimestamp64Micro(stored_at) <= {as_of:Int64}"
    query = Query(
        sql="SELECT DISTINCT toInt64(number) * {hour:Int64} AS start_us FROM ("
        f"{raw % ('received_at', 'gateway_requests')} UNION ALL {raw % ('arrived_at', 'engine_requests')}"
        " UNION ALL SELECT arrayJoin(range(toUInt64(intDiv(toUnixTimestamp64Micro(covered_from), {hour:Int64})),"
        " toUInt64(intDiv(toUnixTimestamp64Micro(covered_to) - 1, {hour:Int64}) + 1)))"
        f" FROM covered WHERE {stored} AND covered_from < covered_to"
        " UNION ALL SELECT toUInt64(intDiv(toUnixTimestamp64Micro(hour), {hour:Int64})) FROM seals"
        f" WHERE {stored} AND toUnixTimestamp64Micro(hour) + {{hour:Int64}} <= {{as_of:Int64}}) ORDER BY start_us",
        parameters={
            "hour": HOUR_US,
            "reach": _REACH_US,
            "since": since_us,
            "as_of": to_us(as_of),
            "since_wins": FIRST_WINS_BASE - since_us,
            "as_of_wins": FIRST_WINS_BASE - to_us(as_of),
        },
    )
    return [int(row[0]) for row in store.rows(query)]


def live_hours(store: Store, window: Interval, as_of: datetime) -> set[int]:
    """Return the hours of `window` (starts in µs) that a reader at `as_of` finds without a valid seal."""
    return set(open_hours_of(store, window, as_of))


@contextmanager
def kept_in_memory(store: Store, rows: Query) -> Iterator[Query]:
    """Run `rows` once and yield a query for what it gave; gone with the end of ``with``."""
    table = f"staged_rows_{uuid.uuid4().hex}"
    try:
        store.execute(
            Query(sql=f"CREATE TABLE {table} ENGINE = Memory AS {rows.sql}", parameters=rows.parameters)
        )
        yield Query(sql=f"SELECT * FROM {table}")
    finally:
        store.execute(Query(sql=f"DROP TABLE IF EXISTS {table}"))


class SliceStage:
    """Slices that were counted and not written yet; make one with `slice_stage`."""

    def __init__(self, store: Store, table: str, minutes: str, as_of: datetime) -> None:
        self._store = store
        self._table = table
        self._minutes = minutes
        self._as_of = as_of

    def add(self, keys: Sequence[SliceKey], counted: Query, window: Interval) -> None:
        """Stage what differs from the newest slices of `window`.

        `counted` selects `place` (from 1, in `keys`), `minute_us`, the arrays and the sums of a slice, for the
        minutes that have requests.
        """
        said = ", ".join(
            [
                *(f"counted.{name} AS {name}" for name in (*_ARRAYS, *_SUMS)),
                "minutes.gateway_us AS gateway_us",
                "minutes.engine_us AS engine_us",
            ]
        )
        names = ", ".join(_SAID)
        # rows of an ended hour get the seal they come from once there is one, and keep it
        sealed_since = "kept_seal = 0 AND seal != 0 AND minute_us < {ended_before:Int64}"
        self._store.execute(
            Query(
                sql=f"INSERT INTO {self._table} SELECT {{slice_contracts:Array(String)}}[place], {{slice_versions:Array(String)}}[place],"
                f" fromUnixTimestamp64Micro(minute_us, 'UTC'), {names}, seal, digest,"
                " fromUnixTimestamp64Micro({slice_as_of:Int64}, 'UTC'), fromUnixTimestamp64Micro(0, 'UTC') FROM"
                f" (SELECT minutes.place AS place, minutes.minute_us AS minute_us, {said}, minutes.seal AS seal,"
                f"   cityHash64({names}) AS digest, kept.place AS kept_place, kept.digest AS kept_digest,"
                "    kept.seal AS kept_seal, kept.as_of AS kept_as_of"
                "  FROM (SELECT minute_us, gateway_us, engine_us, seal, arrayJoin(range(1, {keys:UInt32} + 1)) AS place"
                f"   FROM {self._minutes} WHERE minute_us >= {{slice_from:Int64}} AND minute_us < {{slice_to:Int64}}) AS minutes"
                f" LEFT JOIN ({counted.sql}) AS counted"
                "   ON counted.place = minutes.place AND counted.minute_us = minutes.minute_us"
                "  LEFT JOIN (SELECT indexOf({slice_keys:Array(String)}, concat(contract, ' ', version)) AS place,"
                f"    toUnixTimestamp64Micro(minute) AS minute_us, digest, seal, as_of FROM ({newest_query('digest, seal')})) AS kept"
                "   ON kept.place = minutes.place AND kept.minute_us = minutes.minute_us)"
                " WHERE if(kept_place = 0, requests > 0 OR gateway_us > 0 OR engine_us > 0,"
                "  kept_as_of <= fromUnixTimestamp64Micro({slice_as_of:Int64}, 'UTC')"
                f"  AND (kept_digest != digest OR ({sealed_since})))",
                parameters={
                    **counted.parameters,
                    **_keys(keys),
                    **_bounds(window),
                    "keys": len(keys),
                    "slice_keys": [f"{key.contract} {key.version}" for key in keys],
                    "slice_as_of": to_us(self._as_of),
                    "slice_known": FIRST_WINS_BASE,
                    "ended_before": to_us(self._as_of) // HOUR_US * HOUR_US,
                },
            )
        )

    def write(self) -> int:
        """Write what is staged, all under one stamp, and return how many slices that were."""
        count = int(self._store.rows(Query(sql=f"SELECT count() FROM {self._table}"))[0][0])
        if count:
            self._store._steady(self._write)  # noqa: SLF001 - one package
            self._store.execute(Query(sql=f"TRUNCATE TABLE {self._table}"))
        return count

    def _write(self) -> None:
        connection = self._store._connection  # noqa: SLF001 - one package
        with write_stamp(connection) as stamp:
            connection.execute(
                Query(
                    sql=f"INSERT INTO sli_slices SELECT * REPLACE (fromUnixTimestamp64Micro({{stamp:Int64}}, 'UTC') AS stored_at)"
                    f" FROM {self._table}",
                    parameters={"stamp": stamp},
                )
            )


@contextmanager
def slice_stage(store: Store, minutes: Sequence[MinuteState], as_of: datetime) -> Iterator[SliceStage]:
    """Yield a stage for slices of `minutes`, counted as of `as_of`."""
    # both names are those that a new holder sweeps away after a crash
    table, known = (f"staged_rows_{uuid.uuid4().hex}" for _ in range(2))
    try:
        store.execute(Query(sql=f"CREATE TABLE {table} AS sli_slices ENGINE = Memory"))
        store.execute(
            Query(
                sql=f"CREATE TABLE {known} (minute_us Int64, gateway_us UInt32, engine_us UInt32, seal UInt64) ENGINE = Memory"
            )
        )
        store.insert(
            known, ("minute_us", "gateway_us", "engine_us", "seal"), [tuple(each) for each in minutes]
        )
        yield SliceStage(store, table, known, as_of)
    finally:
        for name in (table, known):
            store.execute(Query(sql=f"DROP TABLE IF EXISTS {name}"))


def _bounds(window: Interval) -> dict[str, object]:
    return {"slice_from": to_us(window.start), "slice_to": to_us(window.end)}


def _keys(keys: Sequence[SliceKey]) -> dict[str, object]:
    return {
        "slice_contracts": [key.contract for key in keys],
        "slice_versions": [key.version for key in keys],
    }


def newest_query(columns: str, *, order: str = _AS_THE_TABLE_IS) -> str:
    """Return the query for the newest row of each minute of some versions.

    Two evaluators may have written one minute with one stamp; their rows are equal, and one of them is taken.
    The order is the table's own, backwards, so that nothing is sorted; where `order` is `NEWEST_FIRST` they are: for the
    last hours of many contracts that takes half as long.
    """
    return (
        f"SELECT contract, version, minute, as_of, {columns} FROM sli_slices"
        " WHERE contract IN {slice_contracts:Array(String)} AND version IN {slice_versions:Array(String)}"
        " AND minute >= fromUnixTimestamp64Micro({slice_from:Int64}, 'UTC')"
        " AND minute < fromUnixTimestamp64Micro({slice_to:Int64}, 'UTC')"
        " AND stored_at <= fromUnixTimestamp64Micro({slice_known:Int64}, 'UTC')"
        f" ORDER BY {order}"
        " LIMIT 1 BY contract, version, minute"
    )


def slices_query(key: SliceKey, window: Interval, as_of: datetime) -> Query:
    """Return the query for the slices of `window` as they were known at `as_of`, in time order.

    Columns: minute, total, good, bad, excluded, unknown, requests, queue_us, queue_of_us, gateway_us,
    engine_us, seal, as_of.
    """
    columns = ", ".join(_VALUES)
    return Query(
        sql=f"SELECT minute, {columns}, as_of FROM ({newest_query(columns)}) ORDER BY minute",
        parameters={**_keys([key]), **_bounds(window), "slice_known": to_us(as_of)},
    )


def window_sums_query(keys: Sequence[SliceKey], windows: Sequence[Interval], as_of: datetime) -> Query:
    """Return the query for (contract, version, then a tuple a window) of their slices as they were known at `as_of`.

    A window's tuple holds the arrays, the sums, the two coverages, and the newest minute that has a row; a
    minute belongs to a window if it begins in it.
    """
    span = Interval(start=min(each.start for each in windows), end=max(each.end for each in windows))
    parameters: dict[str, object] = {**_keys(keys), **_bounds(span), "slice_known": to_us(as_of)}
    columns = []
    for number, window in enumerate(windows):
        parameters |= {f"from_{number}": to_us(window.start), f"to_{number}": to_us(window.end)}
        inside = f"minute_us >= {{from_{number}:Int64}} AND minute_us < {{to_{number}:Int64}}"
        arrays = [f"sumForEachIf({name}, {inside})" for name in _ARRAYS]
        sums = [f"sumIf(toInt128({name}), {inside})" for name in (*_SUMS, "gateway_us", "engine_us")]
        columns.append(f"tuple({', '.join([*arrays, *sums])}, maxIf(minute_us, {inside}))")
    return Query(
        sql=f"SELECT contract, version, {', '.join(columns)} FROM"
        f" (SELECT *, toUnixTimestamp64Micro(minute) AS minute_us FROM ({newest_query(', '.join(_SAID))}))"
        " GROUP BY contract, version ORDER BY contract, version",
        parameters=parameters,
    )


def forget_slices(store: Store, key: SliceKey) -> None:
    """Throw a version's slices away; the next evaluation builds them anew, for readers from then on."""
    for table in ("sli_slices", "slice_progress"):
        store.execute(
            Query(
                sql=f"ALTER TABLE {table} DELETE WHERE contract = {{contract:String}} AND version = {{version:String}}"
                " SETTINGS mutations_sync = 1",
                parameters={"contract": key.contract, "version": key.version},
            )
        )
