"""Own the copy of a store into an empty one: refused where that would mix two, resumed where it was broken off.

Nothing is ever deleted. A piece that the target lacks is copied as it is; one that it has in part gets what is missing,
row by row. So a copy that is begun again, however it ended, ends as if it had run through.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairclock.errors import StoreError
from fairclock.store.batches import open_writes
from fairclock.store.copying.notes import Note, begin, born_at_us, finish, notes
from fairclock.store.copying.pieces import Copied, Piece, columns_of
from fairclock.store.query import Query
from fairclock.store.schema import BOOKKEEPING, tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fairclock.store.connection import Connection

_EXPIRING_US = 3_600_000_000
_STAGED = "staged_copy_"
_FORMAT = "Native"


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A table of both stores: how many rows, which digest, and how many rows were copied just now."""

    table: str
    rows: int
    digest: int
    target_rows: int
    target_digest: int
    copied: int

    @property
    def is_equal(self) -> bool:
        """Return whether both have the same rows."""
        return (self.rows, self.digest) == (self.target_rows, self.target_digest)


def copy(source: Connection, target: Connection, *, told: Callable[[Comparison], None]) -> list[Comparison]:
    """Copy everything, compare it, and note that it is whole; `told` of each table as it is done.

    Raises `StoreError` before anything is written where the target is in use or another store was copied into it, and
    at the end where a table differs.
    """
    born_us = born_at_us(source)
    _refuse_the_same(source, target, born_us)
    copied = _copied(source, target)
    done = _refuse_other(target, notes(target), born_us, copied)
    _refuse_writes(source)
    if done is None:
        begin(target, source=str(source.address), born_us=born_us)
        _sweep(target)
    found, seen = [], []
    for each in copied:
        theirs = _pieces(source, each)
        comparison = _table(source, target, each, theirs, writes=done is None)
        seen.append(theirs)
        found.append(comparison)
        told(comparison)
    if different := [each.table for each in found if not each.is_equal]:
        raise StoreError(
            str(target.address),
            "the copy is not whole" if done is None else "it was copied already, and one of the two was written to since",
            found=", ".join(different),
            remedy="stop what writes to either of them, and run the same command again; what is there already is not copied again"
            if done is None
            else "work on with the one that you chose",
        )  # fmt: skip
    if done is None:
        _refuse_later_writes(source, copied, seen)
        finish(target, source=str(source.address), born_us=born_us, found=[(each.table, each.rows, each.digest) for each in found])  # fmt: skip
    return found


def _table(
    source: Connection, target: Connection, each: Copied, theirs: dict[int, Piece], *, writes: bool
) -> Comparison:
    ours = _pieces(target, each)
    copied = 0
    for key, piece in theirs.items() if writes else ():
        has = ours.get(key)
        if has == piece:
            continue
        _copy_piece(source, target, each, key, is_empty=has is None)
        copied += piece.rows - (0 if has is None else has.rows)
    if copied:
        ours = _pieces(target, each)
    return Comparison(
        table=each.table.name,
        rows=sum(piece.rows for piece in theirs.values()),
        digest=_sum(theirs),
        target_rows=sum(piece.rows for piece in ours.values()),
        target_digest=_sum(ours),
        copied=copied,
    )


def _copy_piece(source: Connection, target: Connection, each: Copied, key: int, *, is_empty: bool) -> None:
    if is_empty:
        target.insert_stream(
            f"{each.table.name} ({each.names})", source.stream(each.rows(key), _FORMAT), _FORMAT
        )
        return
    staged = f"{_STAGED}{uuid.uuid4().hex}"
    target.execute(
        Query(sql=f"CREATE TABLE {staged} AS {each.table.name} ENGINE = MergeTree ORDER BY tuple()")
    )
    try:
        target.insert_stream(f"{staged} ({each.names})", source.stream(each.rows(key), _FORMAT), _FORMAT)
        target.execute(each.add_missing(staged, key))
    finally:
        target.execute(Query(sql=f"DROP TABLE IF EXISTS {staged}"))


def _pieces(connection: Connection, each: Copied) -> dict[int, Piece]:
    return {
        int(key): Piece(key=int(key), rows=int(rows), digest=int(digest))
        for key, rows, digest in connection.rows(each.pieces())
    }


def _sum(pieces: dict[int, Piece]) -> int:
    return sum(piece.digest for piece in pieces.values()) % (1 << 128)


def _copied(source: Connection, target: Connection) -> list[Copied]:
    """Return the tables with their columns; refuse two stores that differ in them."""
    wanted = [table for table in tables() if table.name not in BOOKKEEPING]
    names = [table.name for table in wanted]
    theirs, ours = source.rows(columns_of(names)), target.rows(columns_of(names))
    if theirs != ours:
        differ = sorted({str(row[0]) for row in set(theirs) ^ set(ours)}) or ["the order of columns"]
        raise StoreError(
            str(source.address), "its tables are not those of this program", found=", ".join(differ),
            remedy="use both stores with this version of Fairclock first",
        )  # fmt: skip
    now_us = int(source.rows(Query(sql="SELECT toUnixTimestamp64Micro(now64(6, 'UTC'))"))[0][0])
    return [
        Copied(
            table=table,
            columns=tuple(str(name) for of, name, _ in theirs if of == table.name),
            lasting_until_us=now_us + _EXPIRING_US,
        )
        for table in wanted
    ]


def _refuse_the_same(source: Connection, target: Connection, born_us: int) -> None:
    if born_us == born_at_us(target):
        raise StoreError(
            str(target.address), "both are one and the same store", found=str(source.address),
            remedy="name the store to copy into with --dsn, and the one to copy with --copy-from",
        )  # fmt: skip


def _refuse_other(target: Connection, known: list[Note], born_us: int, copied: list[Copied]) -> Note | None:
    """Return the note that says this copy is whole, None where it is to be made; refuse a target that holds anything else."""
    if other := next((note for note in known if note.born_us != born_us), None):
        raise StoreError(
            str(target.address), "another store was copied into it", found=other.source,
            remedy="copy into a database or folder of its own",
        )  # fmt: skip
    if known:
        return next((note for note in known if note.state == "whole"), None)
    if used := list(_used(target, copied)):
        raise StoreError(
            str(target.address), "it is in use: two stores cannot be made one", found=", ".join(used),
            remedy="copy into a database or folder that is empty",
        )  # fmt: skip
    return None


def _used(target: Connection, copied: list[Copied]) -> Iterator[str]:
    for each in copied:
        if rows := sum(piece.rows for piece in _pieces(target, each).values()):
            yield f"{rows} rows of {each.table.name}"


def _refuse_writes(source: Connection) -> None:
    if count := open_writes(source):
        raise StoreError(
            str(source.address), "batches are being written into it", found=str(count),
            remedy="stop fairclock up, and what else writes there; a write that was cut off is given up after 5 minutes",
        )  # fmt: skip


def _refuse_later_writes(source: Connection, copied: list[Copied], seen: list[dict[int, Piece]]) -> None:
    """Refuse to call a copy whole whose source got rows in a table that was done already; a writer may rest between batches."""
    if later := [
        each.table.name for each, theirs in zip(copied, seen, strict=True) if _pieces(source, each) != theirs
    ]:
        raise StoreError(
            str(source.address), "it was written to while it was copied", found=", ".join(later),
            remedy="stop fairclock up, and what else writes there, and run the same command again; what is there already is not copied again",
        )  # fmt: skip


def _sweep(target: Connection) -> None:
    """Drop what a copy that was killed had staged."""
    found = target.rows(
        Query(
            sql="SELECT name FROM system.tables WHERE database = currentDatabase() AND match(name, {pattern:String})",
            parameters={"pattern": f"^{_STAGED}[0-9a-f]{{32}}$"},
        )
    )
    for (name,) in found:
        target.execute(Query(sql=f"DROP TABLE IF EXISTS {name}"))
