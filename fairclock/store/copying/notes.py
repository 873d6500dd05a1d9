"""Own what a target says of the copies that were begun in it, and what a source says of its birth."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairclock.store.query import Query

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairclock.store.connection import Connection


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A copy that was begun, or is whole."""

    source: str
    born_us: int
    state: str


def born_at_us(connection: Connection) -> int:
    """Return when the store's first table was made, in µs, which no two stores have in common."""
    sql = "SELECT toUnixTimestamp64Micro(min(applied_at)) FROM schema_migrations"
    return int(connection.rows(Query(sql=sql))[0][0])


def notes(connection: Connection) -> list[Note]:
    """Return what was noted, in order."""
    sql = "SELECT source, toUnixTimestamp64Micro(born_at), state FROM copies ORDER BY noted_at"
    return [
        Note(source=str(source), born_us=int(born_us), state=str(state))
        for source, born_us, state in connection.rows(Query(sql=sql))
    ]


def begin(target: Connection, *, source: str, born_us: int) -> None:
    """Note that a copy begins."""
    _note(target, source=source, born_us=born_us, state="begun", rows=0, digest="")


def finish(target: Connection, *, source: str, born_us: int, found: Sequence[tuple[str, int, int]]) -> None:
    """Note that a copy is whole, with the rows of all tables and a hash of what was compared."""
    digest = hashlib.sha256(json.dumps([list(map(str, each)) for each in found]).encode()).hexdigest()
    rows = sum(count for _, count, _ in found)
    _note(target, source=source, born_us=born_us, state="whole", rows=rows, digest=digest)


def _note(target: Connection, *, source: str, born_us: int, state: str, rows: int, digest: str) -> None:
    target.execute(
        Query(
            sql="INSERT INTO copies (source, born_at, state, rows, digest, noted_at) SELECT {source:String},"
            " fromUnixTimestamp64Micro({born_us:Int64}, 'UTC'), {state:String}, {rows:UInt64}, {digest:String}, now64(6, 'UTC')",
            parameters={
                "source": source,
                "born_us": born_us,
                "state": state,
                "rows": rows,
                "digest": digest,
            },
        )
    )
