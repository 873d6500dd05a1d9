"""Own the joining of a window's open hours once, for all that is asked of them until the end of ``with``.

To plan the join costs the engine more than to run it: a report asks some forty questions of one month.
"""

from __future__ import annotations

import uuid
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fairclock.errors import StoreError, StoreReadOnly
from fairclock.model import Interval, to_us
from fairclock.store import requests
from fairclock.store.query import Query
from fairclock.store.requests import HOUR_US

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from fairclock.store import Store

_MOST_ROWS = 1_000_000
"""What is kept is in the engine's memory, about 200 bytes a row; more is joined whenever it is asked for."""


@dataclass(slots=True, kw_only=True)
class JoinedOnce:
    """The open hours (starts in µs) of a window as of an instant, and their rows; table None: none were kept.

    `covered` keeps what was asked of the time that sources read through: as of one instant it never changes.
    """

    window: Interval
    as_of: datetime
    open_us: Sequence[int]
    table: str | None
    rows: int
    covered: dict[tuple[str, Interval], Sequence[Interval]] = field(default_factory=dict)
    _is_gone: bool = False

    def answers(self, window: Interval, as_of: datetime) -> bool:
        """Return whether what is kept is enough for `window` as of `as_of`."""
        inside = window.start >= self.window.start and window.end <= self.window.end
        kept = not self._is_gone and (self.table is not None or not self.open_us)
        return inside and as_of == self.as_of and kept

    def requests_as_of(self, window: Interval) -> Query:
        """Return the query for the joined requests received in `window`, which lies within this one's."""
        first, last = to_us(window.start) // HOUR_US * HOUR_US, to_us(window.end)
        live = [start for start in self.open_us if first <= start < last]
        joined = Query(sql=f"SELECT * FROM {self.table}") if live else None
        return requests.sealed_and_live(window, self.as_of, live, joined)

    def is_whole(self, store: Store) -> bool:
        """Return whether the rows are all still there: a server that starts anew forgets them, a new holder drops them.

        Where they are not, nothing is answered from them any more.
        """
        if self.table is None:
            return True
        try:
            self._is_gone = _count(store, self.table) != self.rows
        except StoreError:
            self._is_gone = True
        return not self._is_gone


@contextmanager
def joined_once(store: Store, window: Interval, as_of: datetime) -> Iterator[JoinedOnce]:
    """Yield the open hours of `window`, joined; nothing is kept where they are too many or the store takes no writes."""
    open_us = requests.open_hours_of(store, window, as_of)
    table = f"staged_rows_{uuid.uuid4().hex}"
    if not open_us or _raw_rows(store, open_us) > _MOST_ROWS:
        yield JoinedOnce(window=window, as_of=as_of, open_us=open_us, table=None, rows=0)
        return
    joined = requests.joined_hours(store._connection, open_us, to_us(as_of))  # noqa: SLF001 - one package
    kept = _keep(store, table, joined)
    try:
        rows = _count(store, table) if kept else 0
        yield JoinedOnce(
            window=window, as_of=as_of, open_us=open_us, table=table if kept else None, rows=rows
        )
    finally:
        if kept:
            store.execute(Query(sql=f"DROP TABLE IF EXISTS {table}"))


def _keep(store: Store, table: str, joined: Query) -> bool:
    """Keep the rows of `joined` in memory; return False where the store takes no writes."""
    try:
        store.execute(
            Query(sql=f"CREATE TABLE {table} ENGINE = Memory AS {joined.sql}", parameters=joined.parameters)
        )
    except StoreReadOnly:
        return False
    return True


def _raw_rows(store: Store, hours_us: Sequence[int]) -> int:
    """Return how many requests the gateway told of between the first and the last of the hours, repeated ones too."""
    query = Query(
        sql="SELECT count() FROM gateway_requests WHERE received_at >= fromUnixTimestamp64Micro({from_us:Int64}, 'UTC')"
        " AND received_at < fromUnixTimestamp64Micro({to_us:Int64}, 'UTC')",
        parameters={"from_us": min(hours_us), "to_us": max(hours_us) + HOUR_US},
    )
    return int(store.rows(query)[0][0])


def _count(store: Store, table: str) -> int:
    return int(store.rows(Query(sql=f"SELECT count() FROM {table}"))[0][0])
