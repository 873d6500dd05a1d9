"""Own incidents as the store keeps them: rows only ever added, each under a stamp, read as of an instant."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, Protocol

from fairclock.model import to_us
from fairclock.store.query import Query
from fairclock.store.slices import SliceKey
from fairclock.store.stamping import insert_stamped

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime

    from fairclock.model import Interval
    from fairclock.store import Store

State = Literal["ongoing", "ended", "withdrawn"]


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentEntry:
    """What was said of one incident, knowing what had been stored by `as_of`.

    version: the hash of the contract's file that judged its last bad minute.
    starts_at, ends_at: the first bad minute's start and the last one's end, so far.
    requests, bad: what counted within them. worst_us: the longest time on the objective's clock, None where none
        was measured; `unanswered` were over without a value. worst_bad of worst_of: the minute with the greatest share.
    tenants: those of the contract that had a bad request. evidence: a JSON list.
    """

    id: str
    contract: str
    objective: str
    version: str
    state: State
    starts_at: datetime
    ends_at: datetime
    requests: int
    bad: int
    bad_minutes: int
    tenants: tuple[str, ...]
    worst_us: int | None
    worst_bad: int
    worst_of: int
    unanswered: int
    evidence: str
    as_of: datetime


_COLUMNS = tuple(field.name for field in fields(IncidentEntry))


class Rows(Protocol):
    """Whatever answers queries; `fairclock.store.Store` does."""

    def rows(self, query: Query) -> Sequence[Sequence[Any]]:
        """Return the rows of `query`."""


def keep_incidents(store: Store, entries: Sequence[IncidentEntry]) -> None:
    """Add `entries`, all under one stamp; no earlier ``as_of`` sees them."""
    if entries:
        rows = [
            [list(value) if isinstance(value := getattr(each, name), tuple) else value for name in _COLUMNS]
            for each in entries
        ]
        insert_stamped(store, "incidents", _COLUMNS, rows)


def incidents_as_of(
    store: Rows, contract: str, as_of: datetime, *, touching: Interval | None = None, withdrawn: bool = False
) -> list[IncidentEntry]:
    """Return a contract's incidents as they were last said to be by `as_of`, in time order.

    touching: only those of which some minute lies in it. withdrawn: those too that there were not, after all.
    """
    conditions = [] if withdrawn else ["state != 'withdrawn'"]
    parameters: dict[str, object] = {"contract": contract, "said_by": to_us(as_of)}
    if touching is not None:
        conditions += [
            "starts_at < fromUnixTimestamp64Micro({touching_to:Int64}, 'UTC')",
            "ends_at > fromUnixTimestamp64Micro({touching_from:Int64}, 'UTC')",
        ]
        parameters |= {"touching_from": to_us(touching.start), "touching_to": to_us(touching.end)}
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    found = store.rows(
        Query(
            sql=f"SELECT {', '.join(_COLUMNS)} FROM ({_NEWEST}){where} ORDER BY starts_at, objective, id",
            parameters=parameters,
        )
    )
    return [_entry(row) for row in found]


def incidents_by_contract(
    store: Rows, contracts: Collection[str], as_of: datetime
) -> dict[str, list[IncidentEntry]]:
    """Return the incidents of each of `contracts` as they were last said to be, withdrawn ones too, in one query."""
    found: dict[str, list[IncidentEntry]] = {each: [] for each in contracts}
    if contracts:
        query = Query(
            sql=f"SELECT {', '.join(_COLUMNS)} FROM ({_NEWEST.replace(_ONE, _MANY)}) ORDER BY starts_at, objective, id",
            parameters={"contracts": sorted(contracts), "said_by": to_us(as_of)},
        )
        for row in store.rows(query):
            entry = _entry(row)
            found[entry.contract].append(entry)
    return found


def open_incident(
    store: Rows, contract: str, objective: str, *, at: datetime, as_of: datetime | None = None
) -> str | None:
    """Return the id of the incident of (contract, objective) that was going on at `at`; None while there was none.

    One that has begun by `at`, and had not ended then or is still going on; as it was known at `as_of`, else at `at`.
    """
    known = at if as_of is None else as_of
    found = [
        each
        for each in incidents_as_of(store, contract, known)
        if each.objective == objective
        and each.starts_at <= at
        and (each.state == "ongoing" or at < each.ends_at)
    ]
    return found[-1].id if found else None


def open_incidents(store: Rows, *, at: datetime, as_of: datetime) -> dict[tuple[str, str], str]:
    """Return what `open_incident` does for every (contract, objective) that has one, in one query."""
    query = Query(
        sql="SELECT contract, objective, id FROM (SELECT id, contract, objective, state, starts_at, ends_at FROM incidents"
        f" WHERE {_SAID_BY} ORDER BY as_of DESC, stored_at DESC LIMIT 1 BY contract, id)"
        " WHERE state != 'withdrawn' AND starts_at <= fromUnixTimestamp64Micro({at:Int64}, 'UTC')"
        " AND (state = 'ongoing' OR ends_at > fromUnixTimestamp64Micro({at:Int64}, 'UTC')) ORDER BY starts_at, id",
        parameters={"at": to_us(at), "said_by": to_us(as_of)},
    )
    return {(contract, objective): id_ for contract, objective, id_ in store.rows(query)}


def first_known(store: Rows, contracts: Collection[str], as_of: datetime) -> dict[str, datetime]:
    """Return when each incident of `contracts` was first stored, of those that were by `as_of`."""
    if not contracts:
        return {}
    query = Query(
        sql=f"SELECT id, min(stored_at) FROM incidents WHERE {_MANY} AND {_SAID_BY} GROUP BY id",
        parameters={"contracts": sorted(contracts), "said_by": to_us(as_of)},
    )
    return {id_: at for id_, at in store.rows(query)}  # noqa: C416 - the rows are tuples of any length


def incident_progress(store: Rows) -> dict[str, datetime]:
    """Return up to which instant each contract's incidents follow from its slices."""
    found = store.rows(Query(sql="SELECT contract, max(as_of) FROM incident_progress GROUP BY contract"))
    return {contract: as_of for contract, as_of in found}  # noqa: C416


def note_incident_progress(store: Store, contracts: Collection[str], as_of: datetime) -> None:
    """Note that the incidents of `contracts` follow from the slices stored by `as_of`."""
    if contracts:
        store.insert("incident_progress", ("contract", "as_of"), [(each, as_of) for each in contracts])


def changed_minutes(
    store: Rows, keys: Sequence[SliceKey], since: Mapping[str, datetime], as_of: datetime
) -> dict[SliceKey, tuple[datetime, datetime]]:
    """Return the first and last minute of each version whose slices were stored after its contract's `since`."""
    if not keys:
        return {}
    contracts = sorted({key.contract for key in keys})
    query = Query(
        sql="SELECT contract, version, min(minute), max(minute) FROM sli_slices"
        " WHERE contract IN {contracts:Array(String)} AND version IN {versions:Array(String)}"
        " AND toUnixTimestamp64Micro(stored_at) > transform(CAST(contract, 'String'), {contracts:Array(String)},"
        " {since:Array(Int64)}, toInt64(0)) AND toUnixTimestamp64Micro(stored_at) <= {said_by:Int64}"
        " GROUP BY contract, version ORDER BY contract, version",
        parameters={
            "contracts": contracts,
            "versions": [key.version for key in keys],
            "since": [to_us(since[each]) if each in since else 0 for each in contracts],
            "said_by": to_us(as_of),
        },
    )
    return {
        SliceKey(contract, version): (first, last) for contract, version, first, last in store.rows(query)
    }


_SAID_BY = "toUnixTimestamp64Micro(stored_at) <= {said_by:Int64}"
_ONE, _MANY = "contract = {contract:String}", "contract IN {contracts:Array(String)}"
_NEWEST = (
    f"SELECT {', '.join(_COLUMNS)} FROM incidents WHERE {_ONE} AND {_SAID_BY}"
    " ORDER BY as_of DESC, stored_at DESC LIMIT 1 BY id"
)


def _entry(row: Sequence[Any]) -> IncidentEntry:
    values = dict(zip(_COLUMNS, row, strict=True))
    return IncidentEntry(**{**values, "tenants": tuple(values["tenants"])})
