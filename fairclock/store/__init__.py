"""Own ClickHouse: the embedded engine or a server, its schema, and every way in and out."""

from __future__ import annotations

import threading
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Self, TypeVar

from fairclock.errors import StoreError, StoreUnreachable, UsageError
from fairclock.model import EPOCH, Interval, clip, from_us, to_us
from fairclock.store import batches, refusals, requests
from fairclock.store.batches import IngestCounts, LineBatch
from fairclock.store.connection import Connection
from fairclock.store.dsn import EmbeddedAddress, ServerAddress, parse_dsn
from fairclock.store.joining_once import JoinedOnce, joined_once
from fairclock.store.kinds import Kind
from fairclock.store.migrations import Migration, check, migrate
from fairclock.store.query import Query, sql_file
from fairclock.store.requests import REQUEST_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import TracebackType

    from fairclock.store.copying.copying import Comparison

__all__ = [
    "REQUEST_COLUMNS",
    "IngestCounts",
    "Kind",
    "LineBatch",
    "Migration",
    "Query",
    "Store",
    "copy_store",
    "migrate_store",
    "open_store",
]

T = TypeVar("T")
_TRIES = 5


class Store:
    """An open store; usable from several threads, closed by ``with`` or `close`."""

    def __init__(self, connection: Connection) -> None:
        """Use `open_store` instead."""
        self._connection = connection
        self._is_swept = False
        self._handed_out_us = 0
        self._handing_out = threading.Lock()
        self._local = threading.local()

    def __enter__(self) -> Self:
        """Return the store itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the store."""
        self.close()

    def close(self) -> None:
        """Close every client and, where this process holds the folder, let the next one in."""
        self._connection.close()

    @property
    def dsn(self) -> str:
        """Return where the store is, without a password."""
        return str(self._connection.address)

    @property
    def is_holder(self) -> bool:
        """Return whether this process works on an embedded folder itself, rather than through its holder."""
        return self._connection.is_holder

    def _steady(self, work: Callable[[], T]) -> T:
        """Run `work`, again when the process that held the folder has gone: it may be ours now."""
        for _ in range(_TRIES):
            try:
                return work()
            except StoreUnreachable:
                if self._connection.is_holder or isinstance(self._connection.address, ServerAddress):
                    raise
                self._connection.again()
        return work()

    def rows(self, query: Query) -> list[tuple[Any, ...]]:
        """Return the rows of `query`; instants are aware, unknown values None."""
        return self._steady(lambda: self._connection.rows(query))

    def columns(self, query: Query) -> dict[str, list[Any]]:
        """Return the result of `query` by columns."""
        return self._steady(lambda: self._connection.columns(query))

    def raw(self, query: Query, output: str | None) -> bytes:
        """Return the result of `query` in a format such as ``Parquet``, or in the one that it names itself."""
        return self._steady(lambda: self._connection.raw(query, output))

    def execute(self, query: Query) -> None:
        """Run a statement that returns nothing."""
        self._steady(lambda: self._connection.execute(query))

    def insert(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        """Insert a few rows."""
        self._steady(lambda: self._connection.insert(table, columns, rows))

    def watermark(self) -> datetime:
        """Return the latest ``as_of`` that a reader may take: every write up to it is committed.

        It never goes back: a write whose note became visible later than it was dated stamps its rows later still.
        """
        found_us = self._steady(lambda: batches.watermark_us(self._connection))
        with self._handing_out:  # of two threads the one with the earlier answer may come last
            self._handed_out_us = max(self._handed_out_us, found_us)
            return from_us(self._handed_out_us)

    def checked_as_of(self, as_of: datetime | None) -> datetime:
        """Return `as_of`, or the watermark; refuse one that lies beyond the watermark."""
        if as_of is not None and to_us(as_of) <= self._handed_out_us:
            return as_of
        watermark = self.watermark()
        if as_of is None:
            return watermark
        if to_us(as_of) > to_us(watermark):
            raise UsageError(
                "--as-of",
                "lies beyond what is committed",
                found=as_of.isoformat(),
                remedy=f"name an instant up to {watermark.isoformat()}",
            )
        return as_of

    def ingest(self, batch: LineBatch) -> IngestCounts:
        """Store a batch of lines; returns once it is committed. Storing it again adds nothing."""
        if not batch.lines:
            return IngestCounts()
        if not self._is_swept:
            self._steady(lambda: batches.drop_abandoned_stages(self._connection))
            self._is_swept = True
        return self._steady(lambda: batches.ingest(self._connection, batch))

    def keep_dead_letters(self, batch: LineBatch, *, reason: str) -> None:
        """Keep lines that `ingest` cannot store in any form, as redacted excerpts; doing it again adds nothing."""
        if batch.lines:
            self._steady(lambda: refusals.keep_dead_letters(self._connection, batch, reason=reason))

    def cover(self, *, kind: Kind, source: str, intervals: Sequence[Interval]) -> None:
        """Note that `source` was read through in `intervals` of event time."""
        if not intervals:
            return

        def write() -> None:
            with batches.write_stamp(self._connection) as stamp:
                stored_at = from_us(stamp)
                # nobody has read through what is yet to come
                past = clip(intervals, Interval(start=EPOCH, end=stored_at))
                self._connection.insert(
                    "covered",
                    ("kind", "source", "covered_from", "covered_to", "stored_at"),
                    [
                        (kind, source, each.start.astimezone(UTC), each.end.astimezone(UTC), stored_at)
                        for each in past
                    ],
                )

        self._steady(write)

    def covered(self, kind: Kind, window: Interval, as_of: datetime) -> list[Interval]:
        """Return what of `window` was read through by any source, as known at `as_of`: disjoint, in order."""
        joined: JoinedOnce | None = getattr(self._local, "joined", None)
        if joined is None or as_of != joined.as_of:
            return self._covered(kind, window, as_of)
        if (kind, window) not in joined.covered:
            joined.covered[kind, window] = self._covered(kind, window, as_of)
        return list(joined.covered[kind, window])

    def _covered(self, kind: Kind, window: Interval, as_of: datetime) -> list[Interval]:
        found = self.rows(
            Query(
                sql=sql_file("covered"),
                parameters={
                    "kind": kind,
                    "as_of_us": to_us(as_of),
                    "start_us": to_us(window.start),
                    "end_us": to_us(window.end),
                },
            )
        )
        return clip((Interval(start=start, end=end) for start, end in found), window)

    def seal(self, window: Interval | None = None) -> int:
        """Seal every open hour that `window` touches (all of them without one); return how many were written."""
        return self._steady(
            lambda: requests.seal(self._connection, window, batches.watermark_us(self._connection))
        )

    @contextmanager
    def joined_once(self, window: Interval, as_of: datetime) -> Iterator[JoinedOnce]:
        """Join the open hours of `window` once: until the end of ``with``, this thread's `requests_as_of` read that.

        Whoever asked must look whether it `is_whole` at the end, and ask again without it where it is not. Within
        another one that holds the window as of the same instant, that one is handed out.
        """
        before: JoinedOnce | None = getattr(self._local, "joined", None)
        if before is not None and before.answers(window, as_of):
            yield before
            return
        with joined_once(self, window, as_of) as joined:
            self._local.joined = joined
            try:
                yield joined
            finally:
                self._local.joined = before

    def requests_as_of(self, window: Interval, as_of: datetime) -> Query:
        """Return the query for the joined requests received in `window` (columns: REQUEST_COLUMNS)."""
        joined: JoinedOnce | None = getattr(self._local, "joined", None)
        if joined is not None and joined.answers(window, as_of):
            return joined.requests_as_of(window)
        return self._steady(lambda: requests.requests_as_of(self._connection, window, as_of))

    def seals_as_of(self, window: Interval, as_of: datetime) -> list[tuple[datetime, int]]:
        """Return (hour, seal) of the seals that a reader at `as_of` rests on."""
        return [(row[0], int(row[1])) for row in self.rows(requests.seals_as_of(window, as_of))]


def open_store(dsn: str) -> Store:
    """Open the store at `dsn`; an embedded one is created and migrated, a server's schema must be current.

    Raises StoreUnreachable, StoreNewer, StoreReadOnly or StoreError, each with what to do.
    """
    address = parse_dsn(dsn)
    connection = Connection(address, prepare=_prepare)
    store = Store(connection)
    try:
        if not connection.is_holder:
            store._steady(lambda: check(connection))  # noqa: SLF001 - the holder may leave just now
    except BaseException:
        connection.close()
        raise
    return store


def _prepare(connection: Connection) -> None:
    """Bring a folder that this process has just taken up to date, before it is served to others."""
    migrate(connection)
    batches.abandon_open_writes(connection)
    batches.drop_abandoned_stages(connection, older_than_seconds=0)


def migrate_store(dsn: str, *, cluster: str | None = None) -> list[Migration]:
    """Bring the schema at `dsn` up to date, in the shape that it has on `cluster`, and return what was applied."""
    connection = Connection(parse_dsn(dsn))
    try:
        return migrate(connection, cluster=cluster)
    finally:
        connection.close()


def copy_store(
    source_dsn: str, dsn: str, *, cluster: str | None = None, told: Callable[[Comparison], None]
) -> list[Comparison]:
    """Copy all of the store at `source_dsn` into the empty one at `dsn`, compare both table by table, and return that.

    `told` hears of each table as it is done. Raises `StoreError` where it cannot be done, or is not whole at the end.
    """
    from fairclock.store.copying.copying import copy  # noqa: PLC0415 - only where stores are copied

    origin = parse_dsn(source_dsn)
    # opened, a folder that holds no store would become an empty one, and be copied as a whole
    if isinstance(origin, EmbeddedAddress) and not (origin.path / "data").is_dir():
        raise StoreError(
            str(origin), "there is no store to copy in this folder", remedy="correct --copy-from"
        )
    with ExitStack() as stack:
        source = Connection(origin, prepare=_prepare)
        stack.callback(source.close)
        if not source.is_holder:
            check(source)
        target = Connection(parse_dsn(dsn), prepare=_prepare)
        stack.callback(target.close)
        if not target.is_holder:
            migrate(target, cluster=cluster)
        return copy(source, target, told=told)
