"""Own the engine as a writer of files: rows in, Parquet out, nothing kept."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from fairclock.store.query import Query

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairclock.store import Store


def parquet(store: Store, columns: Sequence[tuple[str, str]], rows: Sequence[Sequence[object]]) -> bytes:
    """Return `rows` as a Parquet file; `columns` are names and the engine's types."""
    # the name is one that a new holder sweeps away after a crash
    table = f"staged_rows_{uuid.uuid4().hex}"
    names = [name for name, _ in columns]
    try:
        typed = ", ".join(f"`{name}` {kind}" for name, kind in columns)
        store.execute(Query(sql=f"CREATE TABLE {table} (place UInt64, {typed}) ENGINE = Memory"))
        if rows:
            store.insert(table, ("place", *names), [[place, *row] for place, row in enumerate(rows)])
        chosen = ", ".join(f"`{name}`" for name in names)
        return store.raw(Query(sql=f"SELECT {chosen} FROM {table} ORDER BY place"), "Parquet")
    finally:
        store.execute(Query(sql=f"DROP TABLE IF EXISTS {table}"))
