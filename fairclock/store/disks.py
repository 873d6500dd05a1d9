"""Own how much room the store's disks have, as the engine says it: of a server, its own disks, not this machine's."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

from fairclock.store.query import Query

if TYPE_CHECKING:
    from typing import Any


class Rows(Protocol):
    """Whoever can be asked."""

    def rows(self, query: Query) -> list[tuple[Any, ...]]:
        """Return the rows of `query`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Disk:
    """A disk of the engine. What is set aside on it (``keep_free_space_bytes``) is neither free nor part of the whole."""

    name: str
    free_bytes: int
    total_bytes: int

    @property
    def free_ratio(self) -> Fraction:
        """Return the share that is free."""
        return Fraction(max(self.free_bytes, 0), self.total_bytes)


def disks(asked: Rows) -> list[Disk]:
    """Return the disks that have an end, by name; an object store has none. Raises `StoreError`."""
    # the engine takes what is set aside from both figures itself
    sql = (
        "SELECT name, toInt64(free_space), total_space FROM system.disks"
        " WHERE total_space > 0 AND total_space < bitShiftLeft(toUInt64(1), 62) AND NOT is_remote ORDER BY name"
    )
    return [
        Disk(name=str(name), free_bytes=int(free), total_bytes=int(total))
        for name, free, total in asked.rows(Query(sql=sql))
    ]
