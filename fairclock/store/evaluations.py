"""Own the evaluations that were kept: revisions of what a contract's month came to, added only, read as of an instant.

Two evaluators may find the same revision due at once. The insert of a revision has a name of its own, by which
the engine drops the second; where that did not help, the row that was stored first holds.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

from fairclock.model import EPOCH, from_us, to_us
from fairclock.store.batches import FIRST_WINS_BASE, write_stamp
from fairclock.store.query import Query

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from fairclock.model import Interval
    from fairclock.store import Store
    from fairclock.store.remedies import Rows

_FOREVER = from_us(FIRST_WINS_BASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """One revision; `figures` is the JSON that it is compared by, `digest` its hash.

    inputs: the hash of what it rests on beside the rows. program: the version that evaluated.
    """

    contract: str
    month: str
    revision: int
    as_of: datetime
    digest: str
    inputs: str
    figures: str
    program: str
    stored_at: datetime = EPOCH


_COLUMNS = tuple(field.name for field in fields(Evaluation))
_TYPES = {"revision": "UInt32", "as_of": "Int64", "stored_at": "Int64"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrivals:
    """What was stored late: rows of gateways and engines, and notes of time that was read through."""

    gateway_rows: int
    engine_rows: int
    coverage_notes: int


def evaluations_as_of(
    store: Rows, contract: str, month: str, as_of: datetime | None = None
) -> list[Evaluation]:
    """Return the revisions of a month that had been stored by `as_of` (None: all), the first one first."""
    found = store.rows(
        Query(
            sql=f"SELECT {', '.join(_COLUMNS)} FROM evaluations"
            " WHERE contract = {contract:String} AND month = {month:String}"
            " AND stored_at <= fromUnixTimestamp64Micro({said_by:Int64}, 'UTC')"
            " ORDER BY revision, stored_at, digest LIMIT 1 BY revision",
            parameters={"contract": contract, "month": month, "said_by": to_us(as_of or _FOREVER)},
        )
    )
    return [Evaluation(**dict(zip(_COLUMNS, row, strict=True))) for row in found]


def newest_evaluations(
    store: Rows, contracts: Sequence[str], as_of: datetime | None = None
) -> list[Evaluation]:
    """Return the newest revision of each month of `contracts` that had been stored by `as_of` (None: of all)."""
    found = store.rows(
        Query(
            sql=f"SELECT {', '.join(_COLUMNS)} FROM (SELECT * FROM evaluations WHERE contract IN {{contracts:Array(String)}}"
            "  AND stored_at <= fromUnixTimestamp64Micro({said_by:Int64}, 'UTC')"
            "  ORDER BY contract, month, revision, stored_at, digest LIMIT 1 BY contract, month, revision)"
            " ORDER BY contract, month, revision DESC LIMIT 1 BY contract, month",
            parameters={"contracts": list(contracts), "said_by": to_us(as_of or _FOREVER)},
        )
    )
    return [Evaluation(**dict(zip(_COLUMNS, row, strict=True))) for row in found]


def latest_evaluations(store: Rows, contracts: Sequence[str]) -> dict[tuple[str, str], tuple[datetime, str]]:
    """Return (as_of, inputs) of the latest revision of each month of `contracts`."""
    found = store.rows(
        Query(
            sql="SELECT contract, month, as_of, inputs FROM"
            " (SELECT contract, month, as_of, inputs, revision FROM evaluations WHERE contract IN {contracts:Array(String)}"
            "  ORDER BY contract, month, revision, stored_at, digest LIMIT 1 BY contract, month, revision)"
            " ORDER BY contract, month, revision DESC LIMIT 1 BY contract, month",
            parameters={"contracts": list(contracts)},
        )
    )
    return {(contract, month): (as_of, inputs) for contract, month, as_of, inputs in found}


def keep_evaluation(store: Store, entry: Evaluation) -> None:
    """Add `entry` under a stamp of now, unless its revision is there already."""
    if not _is_there(store, entry):
        _insert(store, entry, f"{entry.contract} {entry.month} {entry.revision}")
    if not _is_there(store, entry):
        # a server that was killed between the name and the row remembers the name alone
        _insert(store, entry, uuid.uuid4().hex)


def _is_there(store: Store, entry: Evaluation) -> bool:
    query = Query(
        sql="SELECT count() FROM evaluations WHERE contract = {contract:String} AND month = {month:String}"
        " AND revision = {revision:UInt32}",
        parameters={"contract": entry.contract, "month": entry.month, "revision": entry.revision},
    )
    return bool(store.rows(query)[0][0])


def _insert(store: Store, entry: Evaluation, name: str) -> None:
    def write() -> None:
        with write_stamp(store._connection) as stamp:  # noqa: SLF001 - one package
            row = replace(entry, stored_at=from_us(stamp))
            values = {column: getattr(row, column) for column in _COLUMNS}
            parameters = {
                column: to_us(value) if _TYPES.get(column) == "Int64" else value
                for column, value in values.items()
            }
            store._connection.execute(  # noqa: SLF001
                Query(
                    sql=f"INSERT INTO evaluations ({', '.join(_COLUMNS)}) SETTINGS insert_deduplication_token = {{token:String}}"
                    f" SELECT {', '.join(_value(column) for column in _COLUMNS)}",
                    parameters={**parameters, "token": name},
                )
            )

    store._steady(write)  # noqa: SLF001


def _value(column: str) -> str:
    kind = _TYPES.get(column, "String")
    placeholder = f"{{{column}:{kind}}}"
    return f"fromUnixTimestamp64Micro({placeholder}, 'UTC')" if kind == "Int64" else placeholder


def arrivals(
    store: Rows, period: Interval, tenants: Sequence[str], *, after: datetime, until: datetime
) -> Arrivals:
    """Return what of `period` was stored after an instant and until another, each event once.

    Rows of gateways are those of `tenants`; engines name none. A copy of what was there before is no arrival.
    """
    parameters = {
        "period_from": to_us(period.start),
        "period_to": to_us(period.end),
        "tenants": list(tenants),
        "after": to_us(after),
        "until": to_us(until),
        "after_wins": FIRST_WINS_BASE - to_us(after),
        "until_wins": FIRST_WINS_BASE - to_us(until),
    }
    stored = "toUnixTimestamp64Micro(stored_at) > {after:Int64} AND toUnixTimestamp64Micro(stored_at) <= {until:Int64}"
    query = Query(
        sql=f"SELECT ({_late('gateway_requests', 'received_at', ' AND tenant IN {tenants:Array(String)}')}),"
        f" ({_late('engine_requests', 'arrived_at', '')}),"
        f" (SELECT count() FROM covered WHERE {stored}"
        "   AND covered_to > fromUnixTimestamp64Micro({period_from:Int64}, 'UTC')"
        "   AND covered_from < fromUnixTimestamp64Micro({period_to:Int64}, 'UTC'))",
        parameters=parameters,
    )
    ((gateway, engine, coverage),) = store.rows(query)
    return Arrivals(gateway_rows=int(gateway), engine_rows=int(engine), coverage_notes=int(coverage))


def _late(table: str, column: str, whose: str) -> str:
    """Return the query for how many events have their first copy among the late ones."""
    late = "first_wins < {after_wins:UInt64} AND first_wins >= {until_wins:UInt64}"
    inside = (
        f"{column} >= fromUnixTimestamp64Micro({{period_from:Int64}}, 'UTC')"
        f" AND {column} < fromUnixTimestamp64Micro({{period_to:Int64}}, 'UTC'){whose}"
    )
    return (
        f"SELECT count() FROM (SELECT max(first_wins) AS earliest FROM {table} WHERE {inside}"
        f" AND {column} IN (SELECT {column} FROM {table} WHERE {inside} AND {late})"
        f" GROUP BY {column}, content_hash, k HAVING {late.replace('first_wins', 'earliest')})"
    )
