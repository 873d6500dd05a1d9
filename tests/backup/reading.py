"""What a store holds: of each table its rows and their digest."""

from __future__ import annotations

from fairclock.store import Query
from fairclock.store.copying.copying import _pieces, _sum
from fairclock.store.copying.pieces import Copied, columns_of
from fairclock.store.schema import tables

LONG_AGO_US = 0


def digests(store):
    """Of tables without rows there is nothing to ask."""
    filled = store.rows(
        Query(sql="SELECT name FROM system.tables WHERE database = currentDatabase() AND total_rows > 0")
    )
    found = {}
    for table in tables():
        if (table.name,) not in filled:
            continue
        columns = tuple(name for _, name, _ in store.rows(columns_of([table.name])))
        pieces = _pieces(
            store._connection, Copied(table=table, columns=columns, lasting_until_us=LONG_AGO_US)
        )
        found[table.name] = [sum(piece.rows for piece in pieces.values()), f"{_sum(pieces):032x}"]
    return found
