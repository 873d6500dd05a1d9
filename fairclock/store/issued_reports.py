"""Own the rows about what was issued: reports, their signatures, the seals of days. Only added, each under a stamp.

Which of two rows with one place in a contract's chain holds is said where chains are made.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from fairclock.model import EPOCH, to_us
from fairclock.store.query import Query
from fairclock.store.stamping import insert_stamped

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from fairclock.store import Store
    from fairclock.store.remedies import Rows

_KNOWN = "stored_at <= fromUnixTimestamp64Micro({known:Int64}, 'UTC')"


@dataclass(frozen=True, slots=True, kw_only=True)
class IssuedRow:
    """One issued report, all but its bytes; `previous` is the `sha256` of the contract's report issued before."""

    contract: str
    sequence: int
    number: str
    month: str
    starts_at: datetime
    ends_at: datetime
    revision: int
    as_of: datetime
    status: str
    issued_at: datetime
    program: str
    previous: str
    sha256: str
    stored_at: datetime = EPOCH


@dataclass(frozen=True, slots=True, kw_only=True)
class SignatureRow:
    """One detached signature; `content` is its file's bytes."""

    number: str
    sha256: str
    public_key: str
    signed_at: datetime
    content: bytes
    stored_at: datetime = EPOCH


@dataclass(frozen=True, slots=True, kw_only=True)
class DaySealRow:
    """What was sealed of one day, all but its bytes; `previous` is the `sha256` of the contract's seal before."""

    contract: str
    sequence: int
    day: str
    revision: int
    starts_at: datetime
    ends_at: datetime
    as_of: datetime
    rests_on: str
    previous: str
    sha256: str
    stored_at: datetime = EPOCH


def keep_issued(store: Store, row: IssuedRow, content: bytes) -> datetime:
    """Add an issued report, and return its ``stored_at``."""
    return _keep(store, "issued_reports", [(row, content)])


def issued_rows(store: Rows, as_of: datetime, *, contract: str | None = None) -> list[IssuedRow]:
    """Return the rows of issued reports known at `as_of` (of one contract), those that do not hold too."""
    return [IssuedRow(**each) for each in _rows(store, "issued_reports", IssuedRow, as_of, contract=contract)]


def issued_content(store: Rows, contract: str, sha256: str) -> bytes | None:
    """Return the bytes of an issued report; None where there is no such row."""
    return _content(store, "issued_reports", contract, sha256)


def keep_signature(store: Store, row: SignatureRow) -> datetime:
    """Add a signature, and return its ``stored_at``."""
    columns = tuple(field.name for field in fields(SignatureRow) if field.name != "stored_at")
    values = [getattr(row, name) for name in columns]
    return insert_stamped(store, "report_signatures", columns, [[_text(value) for value in values]])


def signature_rows(store: Rows, as_of: datetime, number: str) -> list[SignatureRow]:
    """Return the signatures of a report known at `as_of`, the first of each key, in the order they were stored."""
    columns = tuple(field.name for field in fields(SignatureRow))
    found = store.rows(
        Query(
            sql=f"SELECT {', '.join(columns)} FROM report_signatures WHERE {_KNOWN} AND number = {{number:String}}"
            " ORDER BY stored_at, public_key LIMIT 1 BY sha256, public_key",
            parameters={"known": to_us(as_of), "number": number},
        )
    )
    named = [dict(zip(columns, row, strict=True)) for row in found]
    return [SignatureRow(**{**each, "content": _bytes(each["content"])}) for each in named]


def signature_counts(store: Rows, as_of: datetime) -> dict[str, int]:
    """Return by how many keys each report was signed that was signed at all."""
    found = store.rows(
        Query(
            sql=f"SELECT number, uniqExact(public_key) FROM report_signatures WHERE {_KNOWN} GROUP BY number",
            parameters={"known": to_us(as_of)},
        )
    )
    return {str(number): int(count) for number, count in found}


def keep_day_seals(store: Store, rows: Sequence[tuple[DaySealRow, bytes]]) -> datetime:
    """Add seals of days, all of them or none, and return their ``stored_at``."""
    return _keep(store, "day_seals", rows)


def day_seal_rows(
    store: Rows, as_of: datetime, *, contract: str | None = None, after: datetime | None = None
) -> list[DaySealRow]:
    """Return the rows of days' seals known at `as_of` and stored `after`, those that do not hold too."""
    found = _rows(store, "day_seals", DaySealRow, as_of, contract=contract, after=after)
    return [DaySealRow(**each) for each in found]


def day_seal_content(store: Rows, contract: str, sha256: str) -> bytes | None:
    """Return the bytes of a day's seal; None where there is no such row."""
    return _content(store, "day_seals", contract, sha256)


def hour_seals(store: Rows, as_of: datetime) -> list[tuple[datetime, int, int]]:
    """Return (hour, seal, digest) of every hour's latest seal known at `as_of`, in time order."""
    found = store.rows(
        Query(
            sql=f"SELECT hour, max(seal), argMax(digest, seal) FROM seals WHERE {_KNOWN} GROUP BY hour ORDER BY hour",
            parameters={"known": to_us(as_of)},
        )
    )
    return [(hour, int(seal), int(digest)) for hour, seal, digest in found]


def hour_seals_mark(store: Rows, as_of: datetime) -> tuple[object, ...]:
    """Return what is another value once an hour was sealed."""
    return _mark(store, "seals", as_of)


def day_seals_mark(store: Rows, as_of: datetime) -> tuple[object, ...]:
    """Return what is another value once a day was sealed."""
    return _mark(store, "day_seals", as_of)


def _mark(store: Rows, table: str, as_of: datetime) -> tuple[object, ...]:
    found = store.rows(
        Query(
            sql=f"SELECT count(), max(stored_at) FROM {table} WHERE {_KNOWN}",
            parameters={"known": to_us(as_of)},
        )
    )
    return tuple(found[0])


def _keep(store: Store, table: str, rows: Sequence[tuple[IssuedRow | DaySealRow, bytes]]) -> datetime:
    columns = tuple(field.name for field in fields(rows[0][0]) if field.name != "stored_at")
    values = [[*(getattr(row, name) for name in columns), content.decode()] for row, content in rows]
    return insert_stamped(store, table, (*columns, "content"), values)


def _rows(
    store: Rows,
    table: str,
    kind: type[IssuedRow | DaySealRow],
    as_of: datetime,
    *,
    contract: str | None = None,
    after: datetime | None = None,
) -> Iterable[Mapping[str, Any]]:
    columns = tuple(field.name for field in fields(kind))
    parameters: dict[str, object] = {"known": to_us(as_of)}
    conditions = [_KNOWN]
    if contract is not None:
        conditions.append("contract = {contract:String}")
        parameters["contract"] = contract
    if after is not None:
        conditions.append("stored_at > fromUnixTimestamp64Micro({after:Int64}, 'UTC')")
        parameters["after"] = to_us(after)
    found = store.rows(
        Query(
            sql=f"SELECT {', '.join(columns)} FROM {table} WHERE {' AND '.join(conditions)}"
            " ORDER BY contract, sequence, stored_at, sha256",
            parameters=parameters,
        )
    )
    return [dict(zip(columns, row, strict=True)) for row in found]


def _content(store: Rows, table: str, contract: str, sha256: str) -> bytes | None:
    found = store.rows(
        Query(
            sql=f"SELECT content FROM {table} WHERE contract = {{contract:String}} AND sha256 = {{sha256:String}}"
            " ORDER BY stored_at LIMIT 1",
            parameters={"contract": contract, "sha256": sha256},
        )
    )
    return _bytes(found[0][0]) if found else None


def _text(value: object) -> object:
    return value.decode() if isinstance(value, bytes) else value


def _bytes(value: str | bytes) -> bytes:
    return value.encode() if isinstance(value, str) else value
