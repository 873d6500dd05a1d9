"""Own the rows about exclusions and degradations: only ever added, each under a stamp, read as of an instant."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from fairclock.model import to_us
from fairclock.model.remedies import DegradationEntry, ExclusionEntry, ExclusionState
from fairclock.store.query import Query
from fairclock.store.stamping import insert_stamped

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from fairclock.store import Store

Entry = TypeVar("Entry", ExclusionEntry, DegradationEntry)
_EXCLUSION_COLUMNS = tuple(field.name for field in fields(ExclusionEntry))
_DEGRADATION_COLUMNS = tuple(field.name for field in fields(DegradationEntry))


class Rows(Protocol):
    """Whatever answers queries; `fairclock.store.Store` does."""

    def rows(self, query: Query) -> Sequence[Sequence[Any]]:
        """Return the rows of `query`."""


def keep_exclusion(store: Store, entry: ExclusionEntry) -> ExclusionEntry:
    """Add `entry` and return it with the instant at which it was stored; no earlier ``as_of`` sees it."""
    return _added(store, "exclusions", entry, _EXCLUSION_COLUMNS)


def exclusion_entries(store: Rows, *, as_of: datetime, contract: str | None = None) -> list[ExclusionEntry]:
    """Return what had been said by `as_of` about exclusions (of one contract), in the order of saying."""
    whose = "" if contract is None else " AND contract = {contract:String}"
    named = {} if contract is None else {"contract": contract}
    found = store.rows(_as_of("exclusions", _EXCLUSION_COLUMNS, as_of, whose, named))
    return [
        ExclusionEntry(
            **{
                **dict(zip(_EXCLUSION_COLUMNS, row, strict=True)),
                "state": ExclusionState(row[_EXCLUSION_COLUMNS.index("state")]),
                "notice_to": tuple(row[_EXCLUSION_COLUMNS.index("notice_to")]),
            }
        )
        for row in found
    ]


def keep_degradation(store: Store, entry: DegradationEntry) -> DegradationEntry:
    """Add `entry` and return it with the instant at which it was stored."""
    return _added(store, "degradations", entry, _DEGRADATION_COLUMNS)


def degradations_as_of(store: Rows, as_of: datetime) -> list[DegradationEntry]:
    """Return each degradation as it was last said to be by `as_of`, in time order."""
    found = store.rows(_as_of("degradations", _DEGRADATION_COLUMNS, as_of, "", {}))
    last: dict[str, DegradationEntry] = {}
    for row in found:
        values = dict(zip(_DEGRADATION_COLUMNS, row, strict=True))
        entry = DegradationEntry(**{**values, "tenants": tuple(values["tenants"])})
        last[entry.id] = entry
    return sorted(last.values(), key=lambda each: (each.starts_at, each.id))


def _as_of(
    table: str, columns: Sequence[str], as_of: datetime, whose: str, named: Mapping[str, object]
) -> Query:
    return Query(
        sql=f"SELECT {', '.join(columns)} FROM {table}"
        f" WHERE stored_at <= fromUnixTimestamp64Micro({{said_by:Int64}}, 'UTC'){whose}"
        " ORDER BY stored_at, sequence, id",
        parameters={"said_by": to_us(as_of), **named},
    )


def _added(store: Store, table: str, entry: Entry, columns: Sequence[str]) -> Entry:
    """Add one row under a stamp that is later than every ``as_of`` handed out before."""
    said = [name for name in columns if name != "stored_at"]
    values = [getattr(entry, name) for name in said]
    row = [list(value) if isinstance(value, tuple) else value for value in values]
    return replace(entry, stored_at=insert_stamped(store, table, said, [row]))
