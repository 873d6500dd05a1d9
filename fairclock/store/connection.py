"""Own clickhouse-connect: one client a thread, and what its errors mean."""

from __future__ import annotations

import atexit
import logging
import re
import shutil
import tempfile
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

import clickhouse_connect
from clickhouse_connect.driver.exceptions import Error

from fairclock.errors import StoreUnreachable
from fairclock.store.client_errors import explained
from fairclock.store.dsn import EmbeddedAddress, ServerAddress
from fairclock.store.front import FRONT_FILE, SCRATCH, Front
from fairclock.store.holding import PATIENCE_SECONDS, FrontNote, Hold, hold_or_find

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from fairclock.store.query import Query

T = TypeVar("T")

EMBEDDED_DATABASE = "fairclock"
# The engine's own default is nine tenths of the memory; the mark cache's is 5 GB. What the cache of conditions would do is said
# in docs/decisions/0105; without room it serves nobody, whoever asks through the front included.
_ENGINE_OPTIONS = "mark_cache_size=268435456&uncompressed_cache_size=0&query_condition_cache_size=0"
_SESSION_SETTINGS: Mapping[str, object] = {
    "session_timezone": "UTC",
    # daily partitions: an import of years is one insert, and dirty times never come this far
    "max_partitions_per_insert_block": 0,
    # this rewriting of comparisons never helps ours, and takes half the time that a join is planned in
    "optimize_and_compare_chain": 0,
    # compiling what a query computes takes longer than it saves: hardly a query is asked more than twice, and of a million rows
    # none was answered sooner for it
    "compile_expressions": 0,
    "compile_aggregate_expressions": 0,
    # it remembers, of a query that joins, that no row of a part meets the conditions, where none met the join: the next query with
    # these conditions then finds nothing there (docs/decisions/0105)
    "use_query_condition_cache": 0,
}
# On a cluster: an insert is answered once its rows are on the shards, and on most of their replicas; what a query looks up is
# looked up where it was asked, since a batch's own tables are on that server alone. To a single server all of it is nothing.
_SERVER_SETTINGS: Mapping[str, object] = {
    **_SESSION_SETTINGS,
    "distributed_foreground_insert": 1,
    "distributed_product_mode": "global",
    "prefer_global_in_and_join": 1,
    "insert_quorum": "auto",
}
BACKUPS = "backups"
_NO_OPTION = re.compile(r"[&%+#=]")
_CONNECT_SECONDS = 10
_POLL_SECONDS = 0.05
_QUERY_SECONDS = 600
_STREAMED_BYTES = 1 << 20
_AS_IT_IS: Mapping[str, object] = {"insert_deduplicate": 0, "optimize_on_insert": 0}


# Its own words go into our errors; a second copy on stderr would only confuse.
logging.getLogger("clickhouse_connect").addHandler(logging.NullHandler())


class Connection:
    """A store's clients: embedded, through the holder's front, or to a server."""

    def __init__(
        self,
        address: EmbeddedAddress | ServerAddress,
        prepare: Callable[[Connection], None] | None = None,
    ) -> None:
        """Find out how `address` is reached; raises StoreError where it is not.

        Whenever this process becomes the holder of an embedded folder, `prepare` runs before others are let in.
        """
        self.address = address
        self._prepare = prepare
        self._local = threading.local()
        self._clients: list[Any] = []
        self._guard = threading.RLock()
        self._generation = 0
        self._hold: Hold | None = None
        self._front: Front | None = None
        self._note: FrontNote | None = None
        if isinstance(address, EmbeddedAddress):
            self._reach()
            atexit.register(self.close)

    @property
    def database(self) -> str:
        """Return the name of the database that the tables are in."""
        return self.address.database if isinstance(self.address, ServerAddress) else EMBEDDED_DATABASE

    @property
    def is_holder(self) -> bool:
        """Return whether this process works on the folder itself."""
        return self._hold is not None

    def _reach(self) -> None:
        """Become the holder of the folder, or find the one that answers; both may change hands meanwhile."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            found = hold_or_find(self.address.path)  # type: ignore[union-attr]
            if isinstance(found, Hold):
                self._take(found)
                return
            self._note = found
            try:
                self.client()
            except StoreUnreachable:  # it has just gone, or died and left its note
                if time.monotonic() > deadline:
                    raise
                self._generation += 1
                time.sleep(_POLL_SECONDS)
            else:
                return

    def _take(self, hold: Hold) -> None:
        self._note, self._hold = None, hold
        folder = self.address.path  # type: ignore[union-attr]
        try:
            # of a holder that died: lines, and an address that another program may have by now
            shutil.rmtree(folder / SCRATCH, ignore_errors=True)
            (folder / FRONT_FILE).unlink(missing_ok=True)
            first = self.client()
            first.command(f"CREATE DATABASE IF NOT EXISTS {EMBEDDED_DATABASE}")
            self._front = Front(folder, self._engine)
            self._generation += 1
            self.client()
            first.close()
            if self._prepare is not None:
                self._prepare(self)
            self._front.start()
        except BaseException:
            self._front = None
            self._close_clients()
            hold.release()
            self._hold = None
            raise

    @property
    def _engine(self) -> str:
        folder = self.address.path.resolve()  # type: ignore[union-attr]
        options = _ENGINE_OPTIONS
        if not _NO_OPTION.search(str(folder)):
            # where BACKUP may write: the engine has no such place by itself
            options += f"&backups.allowed_path={folder / BACKUPS}/"
        return f"{folder / 'data'}?{options}"

    def _open(self) -> Any:
        options: dict[str, Any] = {"tz_mode": "aware", "autogenerate_session_id": False}
        if isinstance(self.address, ServerAddress):
            return clickhouse_connect.get_client(
                interface="https" if self.address.secure else "http",
                host=self.address.host, port=self.address.port,
                username=self.address.user, password=self.address.password,
                database=self.address.database, settings=dict(_SERVER_SETTINGS),
                connect_timeout=_CONNECT_SECONDS, send_receive_timeout=_QUERY_SECONDS, query_retries=0, compress=False, **options,
            )  # fmt: skip
        if self._note is not None:
            return clickhouse_connect.get_client(
                interface="http", host="127.0.0.1", port=self._note.port, access_token=self._note.token,
                database=EMBEDDED_DATABASE, settings=dict(_SESSION_SETTINGS),
                connect_timeout=_CONNECT_SECONDS, send_receive_timeout=_QUERY_SECONDS, query_retries=0, compress=False, **options,
            )  # fmt: skip
        path, _, query = self._engine.partition("?")
        engine_options = dict(pair.split("=", 1) for pair in query.split("&"))
        fresh = self._front is None
        return clickhouse_connect.get_client(
            interface="chdb", path=path, tz_mode="aware", chdb_options=engine_options,
            database=None if fresh else EMBEDDED_DATABASE, settings=dict(_SESSION_SETTINGS),
        )  # fmt: skip

    def client(self) -> Any:
        """Return this thread's client, opened on first use."""
        if getattr(self._local, "generation", None) != self._generation:
            try:
                client = self._open()
            except (OSError, Error, RuntimeError, ImportError) as error:
                raise explained(error, self.address) from error
            self._local.client, self._local.generation = client, self._generation
            with self._guard:
                self._clients.append(client)
        return self._local.client

    def call(self, work: Callable[[Any], T]) -> T:
        """Run `work(client)`; engine and network errors become StoreError, StoreUnreachable, StoreReadOnly."""
        try:
            return work(self.client())
        except (OSError, Error) as error:
            raise explained(error, self.address) from error

    def again(self) -> None:
        """Find the folder's holder anew, after the one we spoke to went away."""
        if isinstance(self.address, EmbeddedAddress):
            with self._guard:
                if not self.is_holder:  # another thread may have been here first
                    self._generation += 1
                    self._reach()

    def rows(self, query: Query) -> list[tuple[Any, ...]]:
        """Return the result rows; instants are aware."""
        return self.call(
            lambda client: [
                tuple(row) for row in client.query(query.sql, parameters=dict(query.parameters)).result_rows
            ]
        )

    def columns(self, query: Query) -> dict[str, list[Any]]:
        """Return the result by columns."""

        def read(client: Any) -> dict[str, list[Any]]:
            result = client.query(query.sql, parameters=dict(query.parameters))
            if not result.result_rows:
                return {name: [] for name in result.column_names}
            return {
                name: list(values)
                for name, values in zip(result.column_names, result.result_columns, strict=True)
            }

        return self.call(read)

    def execute(self, query: Query) -> None:
        """Run a statement that returns nothing."""
        self.call(lambda client: client.command(query.sql, parameters=dict(query.parameters)))

    def raw(self, query: Query, output: str | None) -> bytes:
        """Return the result in one of the engine's formats, or in the one that `query` names itself."""
        return self.call(
            lambda client: bytes(client.raw_query(query.sql, parameters=dict(query.parameters), fmt=output))
        )

    def insert(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        """Insert a few rows."""
        self.call(lambda client: client.insert(table, rows, column_names=list(columns)))

    def insert_raw(self, table: str, data: bytes, output: str) -> None:
        """Insert `data`, which is in one of the engine's formats."""
        if not self.is_holder:
            self.call(lambda client: client.raw_insert(table, insert_block=data, fmt=output))
            return
        self._insert_file(table, [data], f"FORMAT {output}")

    def stream(self, query: Query, output: str) -> Iterator[bytes]:
        """Yield the result of `query` in one of the engine's formats; this thread asks nothing else until it is read."""
        blocks = self.call(
            lambda client: client.raw_stream(query.sql, parameters=dict(query.parameters), fmt=output)
        )
        try:
            while block := blocks.read(_STREAMED_BYTES):
                yield block
        except (OSError, Error) as error:
            raise explained(error, self.address) from error
        finally:
            blocks.close()

    def insert_stream(self, table: str, blocks: Iterator[bytes], output: str) -> None:
        """Insert what `blocks` hold together, in one of the engine's formats; equal blocks are not taken for repeated ones."""
        if self.is_holder:
            settings = ", ".join(f"{name} = {value}" for name, value in _AS_IT_IS.items())
            self._insert_file(table, blocks, f"SETTINGS {settings} FORMAT {output}")
            return
        self.call(
            lambda client: client.raw_insert(
                table, insert_block=(block for block in blocks), fmt=output, settings=dict(_AS_IT_IS)
            )
        )

    def _insert_file(self, table: str, blocks: Iterable[bytes], how: str) -> None:
        # the client library would leave the lines in the system's folder for temporary files if we died now
        with tempfile.NamedTemporaryFile(dir=self.address.path / SCRATCH) as file:  # type: ignore[union-attr]
            for block in blocks:
                file.write(block)
            file.flush()
            path = file.name.replace("\\", "\\\\").replace("'", "\\'")
            self.call(lambda client: client.command(f"INSERT INTO {table} FROM INFILE '{path}' {how}"))

    def close(self) -> None:
        """Close every client, stop the front, and let the next process in."""
        atexit.unregister(self.close)
        if self._front is not None:
            self._front.stop()
            self._front = None
        self._close_clients()
        if self._hold is not None:
            self._hold.release()
            self._hold = None

    def _close_clients(self) -> None:
        with self._guard:
            for client in self._clients:
                with suppress(Exception):
                    client.close()
            self._clients.clear()
            self._generation += 1
