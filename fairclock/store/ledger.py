"""Own the rows about money: only ever added, each under a stamp, read as of an instant.

What the rows mean is said where they are made: the store keeps entries, ends, ratings, prices, credits and invoices.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from fairclock.errors import StoreError
from fairclock.model import to_us
from fairclock.store.batches import FIRST_WINS_BASE
from fairclock.store.query import Query
from fairclock.store.stamping import insert_stamped

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from fairclock.model import Interval
    from fairclock.store import Store

ENTRY_COLUMNS = (
    "tenant", "sequence", "kind", "starts_at", "ends_at", "period", "about", "price_version", "currency", "amount",
    "content", "reverses", "previous", "hash", "body", "stored_at",
)  # fmt: skip
LINK_COLUMNS = ("tenant", "sequence", "previous", "hash", "stored_at")
CREDIT_COLUMNS = (
    "id", "sequence", "contract", "month", "objective", "revision", "state", "currency", "amount", "opens_at",
    "closes_at", "decide_by", "author", "comment", "evidence", "body", "stored_at",
)  # fmt: skip
INVOICE_COLUMNS = ("number", "tenant", "period", "kind", "currency", "sha256", "body", "stored_at")
PRICE_COLUMNS = ("book", "version", "effective_from", "sha256", "body", "stored_at")
RATING_COLUMNS = ("as_of", "starts_at", "ends_at", "prices_sha256", "rating", "state", "stored_at")
_WAIT_SECONDS = 20
_PAUSE_SECONDS = 0.02
_KNOWN = "stored_at <= fromUnixTimestamp64Micro({known:Int64}, 'UTC')"


class Rows(Protocol):
    """Whatever answers queries; `fairclock.store.Store` does."""

    def rows(self, query: Query) -> Sequence[Sequence[Any]]:
        """Return the rows of `query`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryChoice:
    """Which entries are asked for; None and () leave a choice open.

    about: the months they speak of; period: the months they are booked in. within: what they speak of begins in it. beside: hashes
    to leave out.
    """

    tenants: tuple[str, ...] | None = None
    kinds: tuple[str, ...] = ()
    about: tuple[str, ...] = ()
    period: tuple[str, ...] = ()
    sequences: tuple[int, ...] = ()
    within: Interval | None = None
    beside: tuple[str, ...] = ()


def keep_entries(store: Store, rows: Sequence[Mapping[str, object]]) -> datetime:
    """Add entries, all of them or none, and return their ``stored_at``."""
    said = ENTRY_COLUMNS[:-1]
    return insert_stamped(store, "ledger_entries", said, [[row[name] for name in said] for row in rows])


def wait_until_settled(store: Store, stamp: datetime) -> datetime:
    """Return an instant up to which everything is committed, not before `stamp`: no rival can come before it any more.

    Raises StoreError where another write stays open for long.
    """
    deadline = time.monotonic() + _WAIT_SECONDS
    while (known := store.watermark()) < stamp:
        if time.monotonic() > deadline:
            raise StoreError(
                store.dsn,
                "another write has been open for too long",
                found=f"committed up to {known.isoformat()}",
                remedy="run this again; what was added is kept, and only what is missing is added then",
            )
        time.sleep(_PAUSE_SECONDS)
    return known


def entry_rows(store: Rows, as_of: datetime, choice: EntryChoice) -> list[dict[str, Any]]:
    """Return entries as they were known at `as_of`, by tenant and sequence; `beside` are hashes to leave out.

    One that is stored twice comes once, as it was first.
    """
    conditions, parameters = _conditions(as_of, choice)
    found = store.rows(
        Query(
            sql=f"SELECT {', '.join(ENTRY_COLUMNS)} FROM ledger_entries WHERE {' AND '.join(conditions)}"
            " ORDER BY tenant, sequence, stored_at, hash LIMIT 1 BY tenant, sequence, hash",
            parameters=parameters,
        )
    )
    return [_with_bytes(dict(zip(ENTRY_COLUMNS, row, strict=True))) for row in found]


def entry_outlines(store: Rows, as_of: datetime, choice: EntryChoice) -> list[tuple[str, int, str, str, int]]:
    """Return (tenant, sequence, kind, content, reverses) of entries, without their bodies; one that is stored twice comes once."""
    conditions, parameters = _conditions(as_of, choice)
    found = store.rows(
        Query(
            sql=f"SELECT DISTINCT tenant, sequence, kind, content, reverses FROM ledger_entries WHERE {' AND '.join(conditions)}"
            " ORDER BY tenant, sequence",
            parameters=parameters,
        )
    )
    return [
        (str(tenant), int(sequence), str(kind), str(content), int(reverses))
        for tenant, sequence, kind, content, reverses in found
    ]


def charged_amounts(
    store: Rows, about: str, *, after: datetime | None, as_of: datetime, beside: Sequence[str] = ()
) -> list[tuple[str, str, str]]:
    """Return (tenant, currency, amount as text) of the entries about a month that were added after an instant, credits and closes apart.

    One that is stored twice comes once; `beside` are hashes to leave out.
    """
    found = store.rows(
        Query(
            sql="SELECT tenant, currency, amount FROM (SELECT tenant, currency, amount, sequence, hash, stored_at FROM ledger_entries"
            f" WHERE {_KNOWN} AND about = {{about:String}} AND kind NOT IN ('credit', 'close') AND hash NOT IN {{beside:Array(String)}}"
            " ORDER BY tenant, sequence, stored_at LIMIT 1 BY tenant, sequence, hash)"
            " WHERE toUnixTimestamp64Micro(stored_at) > {after:Int64}",
            parameters={
                "known": to_us(as_of),
                "about": about,
                "beside": list(beside),
                "after": 0 if after is None else to_us(after),
            },
        )
    )
    return [(str(tenant), str(currency), str(amount)) for tenant, currency, amount in found]


def booked_months(store: Rows, as_of: datetime, choice: EntryChoice) -> list[tuple[str, str]]:
    """Return (tenant, the month it is booked in) of entries, each pair once."""
    conditions, parameters = _conditions(as_of, choice)
    found = store.rows(
        Query(
            sql=f"SELECT DISTINCT tenant, period FROM ledger_entries WHERE {' AND '.join(conditions)} ORDER BY tenant, period",
            parameters=parameters,
        )
    )
    return [(str(tenant), str(period)) for tenant, period in found]


def entry_heads(store: Rows, as_of: datetime) -> dict[str, tuple[int, int]]:
    """Return, for each tenant, its greatest sequence and how many entries share one with another: 0 without rivals."""
    found = store.rows(
        Query(
            sql="SELECT tenant, max(sequence), countIf(rivals > 1) FROM"
            f" (SELECT tenant, sequence, uniqExact(hash) AS rivals FROM ledger_entries WHERE {_KNOWN} GROUP BY tenant, sequence)"
            " GROUP BY tenant ORDER BY tenant",
            parameters={"known": to_us(as_of)},
        )
    )
    return {str(tenant): (int(top), int(rivals)) for tenant, top, rivals in found}


def links_of(store: Rows, as_of: datetime, tenants: Sequence[str]) -> list[dict[str, Any]]:
    """Return what decides the places of some tenants' entries."""
    found = store.rows(
        Query(
            sql=f"SELECT {', '.join(LINK_COLUMNS)} FROM ledger_entries WHERE {_KNOWN} AND tenant IN {{tenants:Array(String)}}"
            " ORDER BY tenant, sequence, stored_at",
            parameters={"known": to_us(as_of), "tenants": list(tenants)},
        )
    )
    return [dict(zip(LINK_COLUMNS, row, strict=True)) for row in found]


def last_links(store: Rows, as_of: datetime) -> list[dict[str, Any]]:
    """Return the last entry of each tenant by its sequence; for tenants without rivals that is the chain's end."""
    found = store.rows(
        Query(
            sql=f"SELECT {', '.join(LINK_COLUMNS)} FROM ledger_entries WHERE {_KNOWN}"
            " ORDER BY tenant, sequence DESC, stored_at LIMIT 1 BY tenant",
            parameters={"known": to_us(as_of)},
        )
    )
    return [dict(zip(LINK_COLUMNS, row, strict=True)) for row in found]


def keep_heads(store: Store, heads: Sequence[tuple[str, int, str]]) -> None:
    """Note how far chains (tenant, sequence, hash) reach."""
    if heads:
        insert_stamped(store, "ledger_heads", ("tenant", "sequence", "hash"), list(heads))


def noted_heads(store: Rows, as_of: datetime) -> list[tuple[str, int, str]]:
    """Return every end (tenant, sequence, hash) that had been noted by `as_of`."""
    found = store.rows(
        Query(
            sql=f"SELECT DISTINCT tenant, sequence, hash FROM ledger_heads WHERE {_KNOWN} ORDER BY tenant, sequence, hash",
            parameters={"known": to_us(as_of)},
        )
    )
    return [(str(tenant), int(sequence), str(name)) for tenant, sequence, name in found]


def keep_row(store: Store, table: str, row: Mapping[str, object]) -> datetime:
    """Add one row to `table`, one of prices, credits, invoices and ledger_ratings; return its ``stored_at``."""
    return insert_stamped(store, table, tuple(row), [list(row.values())])


def money_rows(
    store: Rows, table: str, columns: Sequence[str], as_of: datetime, **equal: str
) -> list[dict[str, Any]]:
    """Return the rows of `table` known at `as_of` whose columns are `equal`, in the order they were stored."""
    conditions = [_KNOWN, *(f"{name} = {{{name}:String}}" for name in equal)]
    found = store.rows(
        Query(
            sql=f"SELECT {', '.join(columns)} FROM {table} WHERE {' AND '.join(conditions)} ORDER BY stored_at, {columns[0]}",
            parameters={"known": to_us(as_of), **equal},
        )
    )
    return [dict(zip(columns, row, strict=True)) for row in found]


def changed_charges(store: Rows, since_us: int, as_of: datetime) -> set[tuple[str, int]]:
    """Return (tenant, from when on in µs) of what entries speak of that were stored after `since_us` and up to `as_of`."""
    found = store.rows(
        Query(
            sql=f"SELECT DISTINCT tenant, toUnixTimestamp64Micro(starts_at) FROM ledger_entries WHERE {_KNOWN}"
            " AND stored_at > fromUnixTimestamp64Micro({since:Int64}, 'UTC')",
            parameters={"known": to_us(as_of), "since": since_us},
        )
    )
    return {(str(tenant), int(at_us)) for tenant, at_us in found}


def has_simulated_requests(store: Rows, tenant: str, window: Interval, as_of: datetime) -> bool:
    """Tell whether any request of a tenant received in `window`, as known at `as_of`, is marked as simulated."""
    found = store.rows(
        Query(
            sql="SELECT count() FROM gateway_requests WHERE tenant = {tenant:String} AND simulated"
            " AND received_at >= fromUnixTimestamp64Micro({from:Int64}, 'UTC') AND received_at < fromUnixTimestamp64Micro({to:Int64}, 'UTC')"
            " AND first_wins >= {as_of_wins:UInt64}",
            parameters={
                "tenant": tenant,
                "from": to_us(window.start),
                "to": to_us(window.end),
                "as_of_wins": FIRST_WINS_BASE - to_us(as_of),
            },
        )
    )
    return bool(found[0][0])


def ledger_mark(store: Rows, as_of: datetime) -> tuple[object, ...]:
    """Return what is another value once an entry or a rating was added, as known at `as_of`."""
    found = store.rows(
        Query(
            sql=f"SELECT (SELECT (count(), max(stored_at)) FROM ledger_entries WHERE {_KNOWN}),"
            f" (SELECT (count(), max(stored_at)) FROM ledger_ratings WHERE {_KNOWN})",
            parameters={"known": to_us(as_of)},
        )
    )
    return tuple(str(each) for each in found[0])


def _conditions(as_of: datetime, choice: EntryChoice) -> tuple[list[str], dict[str, object]]:
    conditions = [_KNOWN]
    parameters: dict[str, object] = {"known": to_us(as_of)}
    listed = (
        ("tenant", "tenants", choice.tenants),
        ("kind", "kinds", choice.kinds or None),
        ("about", "abouts", choice.about or None),
        ("period", "periods", choice.period or None),
    )
    for column, name, values in listed:
        if values is not None:
            conditions.append(f"{column} IN {{{name}:Array(String)}}")
            parameters[name] = list(values)
    if choice.sequences:
        conditions.append("sequence IN {sequences:Array(UInt64)}")
        parameters["sequences"] = list(choice.sequences)
    if choice.beside:
        conditions.append("hash NOT IN {beside:Array(String)}")
        parameters["beside"] = list(choice.beside)
    if choice.within is not None:
        conditions += [
            "starts_at >= fromUnixTimestamp64Micro({from:Int64}, 'UTC')",
            "starts_at < fromUnixTimestamp64Micro({to:Int64}, 'UTC')",
        ]
        parameters |= {"from": to_us(choice.within.start), "to": to_us(choice.within.end)}
    return conditions, parameters


def _with_bytes(row: dict[str, Any]) -> dict[str, Any]:
    body = row["body"]
    return {**row, "body": body.encode() if isinstance(body, str) else body}
