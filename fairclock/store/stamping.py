"""Own how a few rows are added so that a reader's ``as_of`` tells whether it may see them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairclock.model import from_us
from fairclock.store.batches import write_stamp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairclock.store import Store


def insert_stamped(
    store: Store, table: str, columns: Sequence[str], rows: Sequence[Sequence[object]]
) -> None:
    """Add `rows` with a ``stored_at``, which `columns` do not name, later than every ``as_of`` handed out before."""

    def write() -> None:
        with write_stamp(store._connection) as stamp:  # noqa: SLF001 - one package
            stamped = [(*row, from_us(stamp)) for row in rows]
            store._connection.insert(table, (*columns, "stored_at"), stamped)  # noqa: SLF001

    store._steady(write)  # noqa: SLF001
