"""Own the connection of a long-running command to its store, which may be away when it starts, and later."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING

from exporters.clickhouse.verdicts import code_of, sentence_of
from fairclock.errors import StoreError, StoreReadOnly, StoreUnreachable
from fairclock.store import Store, open_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_LOG = logging.getLogger(__name__)
_SERVER_SCHEMES = ("clickhouse://", "clickhouses://")
# What only a person can mend: no such database, user or password, or no right to look.
_LASTING_CODES = frozenset({81, 192, 193, 194, 497, 516})


class StoreLink:
    """Open the store at `dsn` when it is wanted, once, for all who share it."""

    def __init__(self, dsn: str, *, open_store: Callable[[str], Store] = open_store) -> None:
        self._dsn = dsn
        self._open_store = open_store
        self._guard = Lock()
        self._store: Store | None = None

    @property
    def current(self) -> Store | None:
        """Return the store if it was opened already."""
        return self._store

    def open(self) -> Store:
        """Return the store; raises `StoreError`."""
        with self._guard:
            if self._store is None:
                self._store = self._open_store(self._dsn)
            return self._store

    def try_to_open(self) -> None:
        """Open the store now; a server that is away, or in trouble, may come later, anything else is raised."""
        try:
            self.open()
        except StoreError as error:
            if not self._dsn.startswith(_SERVER_SCHEMES) or not _passes(error):
                raise
            _LOG.warning(
                "what is collected stays in the spool until the store answers: %s", sentence_of(error)
            )

    @contextmanager
    def shared(self) -> Iterator[Store]:
        """Yield the store, and leave it open; raises `StoreError`."""
        yield self.open()

    def close(self) -> None:
        """Close the store if it was opened."""
        with self._guard:
            if self._store is not None:
                self._store.close()
                self._store = None


def _passes(error: StoreError) -> bool:
    """Return whether a server that met `error` may work later without anybody's help.

    What it numbers is its own trouble: memory, disk, too many queries, a cluster that gathers. What it does not
    number is found here, and stays: a schema of another version, an address where no ClickHouse is.
    """
    if isinstance(error, StoreUnreachable | StoreReadOnly):
        return isinstance(error, StoreUnreachable)
    code = code_of(error)
    return code is not None and code not in _LASTING_CODES
