"""Own how a few rows are added so that a reader's ``as_of`` tells whether it may see them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairclock.model import from_us
from fairclock.store.batches import write_stamp

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from fairclock.store import Store


def insert_stamped(
    store: Store, table: str, columns: Sequence[str], rows: Sequence[Sequence[object]]
) -> datetime:
    """Add `rows` with a ``stored_at``, which `columns` do not name, and return that.

    It is later than every ``as_of`` handed out before.
    """

    def write() -> datetime:
        with write_stamp(store._connection) as stamp:  # noqa: SLF001 - one package
            stored_at = from_us(stamp)
            stamped = [(*row, stored_at) for row in rows]
            store._connection.insert(table, (*columns, "stored_at"), stamped)  # noqa: SLF001
            return stored_at

    return store._steady(write)  # noqa: SLF001
