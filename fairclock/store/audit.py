"""Own the log of what was changed by whom: rows only added, each under a stamp."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fairclock.model import to_us
from fairclock.store.query import Query
from fairclock.store.stamping import insert_stamped

if TYPE_CHECKING:
    from datetime import datetime

    from fairclock.store import Store

_ID_BYTES = 8
_COLUMNS = ("id", "who", "scope", "address", "action", "subject", "outcome", "detail")


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """One change. `subject` is what was changed, `detail` a JSON object of what was said."""

    who: str
    scope: str
    address: str
    action: str
    subject: str
    outcome: str
    detail: str = "{}"
    id: str = ""
    stored_at: datetime | None = None


def keep_audit(store: Store, entry: AuditEntry) -> AuditEntry:
    """Add `entry` and return it as it is kept."""
    named = replace(entry, id=entry.id or secrets.token_hex(_ID_BYTES))
    row = [getattr(named, column) for column in _COLUMNS]
    return replace(named, stored_at=insert_stamped(store, "audit_log", _COLUMNS, [row]))


def audit_entries(store: Store, *, as_of: datetime, most: int) -> list[AuditEntry]:
    """Return the latest entries that had been stored by `as_of`, the newest first."""
    found = store.rows(
        Query(
            sql=f"SELECT {', '.join(_COLUMNS)}, stored_at FROM audit_log"
            " WHERE stored_at <= fromUnixTimestamp64Micro({as_of:Int64}, 'UTC')"
            " ORDER BY stored_at DESC, id LIMIT {most:UInt32}",
            parameters={"as_of": to_us(as_of), "most": most},
        )
    )
    return [AuditEntry(**dict(zip((*_COLUMNS, "stored_at"), row, strict=True))) for row in found]
