"""Own the rows about who was sent which seal of a day: one an attempt, only added."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from fairclock.store.query import Query

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from fairclock.store import Store
    from fairclock.store.remedies import Rows

DELIVERED = "delivered"
FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class SealDelivery:
    """What became of one attempt; `retry_at` None where there will be no other."""

    destination: str
    contract: str
    sequence: int
    sha256: str
    attempt: int
    state: str
    problem: str
    retry_at: datetime | None
    stored_at: datetime


_COLUMNS = tuple(field.name for field in fields(SealDelivery))


def keep_seal_deliveries(store: Store, rows: Sequence[SealDelivery]) -> None:
    """Add what became of attempts."""
    if rows:
        store.insert("seal_deliveries", _COLUMNS, [[getattr(row, name) for name in _COLUMNS] for row in rows])


def last_seal_deliveries(store: Rows) -> dict[tuple[str, str, str], SealDelivery]:
    """Return the last attempt of each seal by (destination, contract, sha256)."""
    found = store.rows(
        Query(
            sql=f"SELECT {', '.join(_COLUMNS)} FROM seal_deliveries"
            " ORDER BY destination, contract, sha256, attempt DESC, stored_at DESC LIMIT 1 BY destination, contract, sha256"
        )
    )
    rows = [SealDelivery(**dict(zip(_COLUMNS, row, strict=True))) for row in found]
    return {(each.destination, each.contract, each.sha256): each for each in rows}
