"""Own what gateways and engines said of probes, and what was found of each when all that was laid side by side."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import UTC, timedelta
from typing import TYPE_CHECKING, Any

from fairclock.model import to_us
from fairclock.model.sightings import Reconciled, Sighting, Source, should_see
from fairclock.store.batches import FIRST_WINS_BASE
from fairclock.store.probes import COLUMNS, WITHIN, probe_of, row_of, within
from fairclock.store.query import Query
from fairclock.store.stamping import insert_stamped

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime

    from fairclock.model import Interval
    from fairclock.model.probes import Probe
    from fairclock.store import Store
    from fairclock.store.probes import Rows

REACH = timedelta(hours=1)
"""How far from when a probe was sent, by whatever clock, its rows are looked for at first."""

FAR = timedelta(hours=26)
"""How far those of probes are looked for that a gateway or engine told nothing of: its clock may show another zone's time,
or yesterday's. A clock further off is not found."""

_SEEN = ("instance", "began_at", "end_to_end_us", "queue_us", "prefill_us", "decode_us", "first_token_us")
_SEEN_COLUMNS = ("seen_by", *(f"seen_{name}" for name in _SEEN))
_UNKNOWN = "CAST(NULL, 'Nullable(Int64)')"
_OF_GATEWAY = {
    "instance": "toString(source)",  # one log is written by one clock
    "began_at": "received_at",
    "end_to_end_us": "responded_us",
    "queue_us": "gateway_queue_us",
    "prefill_us": _UNKNOWN,
    "decode_us": _UNKNOWN,
    "first_token_us": "gateway_first_token_us",
}
_OF_ENGINE = {
    "instance": "toString(instance)",
    "began_at": "arrived_at",
    "end_to_end_us": "end_to_end_us",
    "queue_us": "queue_us",
    "prefill_us": "prefill_us",
    "decode_us": "decode_us",
    "first_token_us": "time_to_first_token_us",
}


def _within(column: str) -> str:
    return (
        f"{column} >= fromUnixTimestamp64Micro({{seen_from:Int64}}, 'UTC')"
        f" AND {column} < fromUnixTimestamp64Micro({{seen_to:Int64}}, 'UTC') AND first_wins >= {{as_of_wins:UInt64}}"
    )


def _named(expressions: Mapping[str, str]) -> str:
    return ", ".join(f"{expressions[name]} AS seen_{name}" for name in _SEEN)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Table:
    """Rows of requests: by which column they are a probe's, by which clock's time they lie, who told them, what they say."""

    name: str
    id: str
    at: str
    reporter: str
    said: Mapping[str, str]


_TABLES = (
    (
        (Source.GATEWAY,),
        _Table(
            name="gateway_requests", id="request_id", at="received_at", reporter="'gateway'", said=_OF_GATEWAY
        ),
    ),
    (
        (Source.SPAN, Source.PLUGIN),
        _Table(
            name="engine_requests",
            id="join_id",
            at="arrived_at",
            reporter="toString(reporter)",
            said=_OF_ENGINE,
        ),
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What was stored of some probes, by their ids.

    repeated: of how many probes each source told more than once. Where gateways tell the same twice,
    that is one sighting; where it tells different things, which one is the probe's is not known. Of an engine's attempts
    the one that ended last is, as in the join.
    """

    by_id: dict[str, tuple[Sighting, ...]]
    repeated: dict[Source, int]


def seen_of(store: Rows, probes: Sequence[Probe], as_of: datetime) -> Seen:
    """Return what gateways, spans and the plugin said of `probes`, as it was known at `as_of`.

    A row is a probe's by its request id, as each source knows it, whatever its time is: near the probe's own first, and as far as
    `FAR` from it of what is not there.
    """
    told: dict[tuple[str, Source], tuple[int, int, Sighting]] = {}
    for sources, table in _TABLES:
        told |= _told(store, table, probes, as_of, REACH)
        lacking = {
            source: [each for each in probes if should_see(source, each) and (each.id, source) not in told]
            for source in sources
        }
        further = {
            each.id: each
            for source in _telling(store, table, probes, as_of, lacking)
            for each in lacking[source]
        }
        told = _told(store, table, list(further.values()), as_of, FAR) | told
    found: defaultdict[str, list[Sighting]] = defaultdict(list)
    repeated: Counter[Source] = Counter()
    for (id_, source), (rows, different, sighting) in told.items():
        repeated[source] += rows > 1
        if different == 1 or source is not Source.GATEWAY:
            found[id_].append(sighting)
    return Seen(
        by_id={id_: tuple(each) for id_, each in found.items()},
        repeated={source: count for source, count in repeated.items() if count},
    )


def _told(
    store: Rows, table: _Table, probes: Sequence[Probe], as_of: datetime, reach: timedelta
) -> dict[tuple[str, Source], tuple[int, int, Sighting]]:
    """Return, of each probe and source, its rows, how many of them differ, and what the one says that ended last."""
    if not probes:
        return {}
    return {
        (id_, Source(source)): (int(rows), int(different), _sighting(Source(source), said))
        for id_, source, rows, different, *said in store.rows(_sightings_query(table, probes, as_of, reach))
    }


def _telling(
    store: Rows,
    table: _Table,
    probes: Sequence[Probe],
    as_of: datetime,
    lacking: Mapping[Source, Sequence[Probe]],
) -> list[Source]:
    """Return those of the sources that probes lack which tell of anything at all: one that is not connected is not looked for."""
    if not any(lacking.values()):
        return []
    query = Query(
        sql=f"SELECT DISTINCT {table.reporter} FROM {table.name} WHERE {_within(table.at)}",
        parameters=_around(probes, as_of, FAR),
    )
    telling = {Source(source) for (source,) in store.rows(query)}
    return [source for source, some in lacking.items() if some and source in telling]


def taken_for(
    store: Rows, probes: Sequence[Probe], as_of: datetime, *, own: Collection[str]
) -> dict[str, int]:
    """Return how many of `probes` gateways took for a tenant's that is none of `own`: they are in its figures and on its bill."""
    if not probes:
        return {}
    query = Query(
        sql="SELECT tenant, uniqExact(request_id) FROM gateway_requests FINAL"
        f" WHERE {_within('received_at')} AND request_id IN {{seen_ids:Array(String)}}"
        " AND tenant != '' AND NOT has({own_tenants:Array(String)}, tenant) GROUP BY tenant ORDER BY tenant",
        parameters={
            "seen_ids": [each.id for each in probes],
            "own_tenants": sorted(own),
            **_around(probes, as_of, REACH),
        },
    )
    return {tenant: int(count) for tenant, count in store.rows(query)}


def keep_reconciled(store: Store, found: Sequence[Reconciled]) -> None:
    """Add what was found of some probes; of a probe that is reconciled again the last row holds."""
    if found:
        columns = (*COLUMNS, "reconciled_at", *_SEEN_COLUMNS)
        insert_stamped(store, "probe_requests", columns, [_kept(each) for each in found])


def reconciled_as_of(store: Rows, window: Interval, as_of: datetime) -> list[Reconciled]:
    """Return what was known at `as_of` of the probes that were to be sent in `window`, in time order."""
    columns = ", ".join((*COLUMNS, "reconciled_at", *_SEEN_COLUMNS))
    found = store.rows(
        Query(
            sql=f"SELECT {columns} FROM (SELECT * FROM probe_requests"
            f" WHERE {WITHIN} AND reconciled_at IS NOT NULL"
            " ORDER BY stored_at DESC, reconciled_at DESC LIMIT 1 BY id) ORDER BY intended_at, id",
            parameters=within(window, as_of),
        )
    )
    return [_reconciled(row) for row in found]


def last_seen(store: Rows, window: Interval, as_of: datetime) -> dict[Source, datetime]:
    """Return when the last probe of `window` was to be sent that a source saw, of each source that saw one."""
    found = store.rows(
        Query(
            sql="SELECT arrayJoin(seen_by) AS source, max(intended_at) FROM probe_requests"
            f" WHERE {WITHIN} AND reconciled_at IS NOT NULL GROUP BY source",
            parameters=within(window, as_of),
        )
    )
    return {Source(source): at for source, at in found}


def _sightings_query(table: _Table, probes: Sequence[Probe], as_of: datetime, reach: timedelta) -> Query:
    """Return the query for (id, source, rows, different ones, the words of the one that ended last) of the probes in a table."""
    names = ", ".join(f"seen_{name}" for name in _SEEN)
    ended = "toUnixTimestamp64Micro(seen_began_at) + ifNull(seen_end_to_end_us, 0)"
    last = f"argMax(tuple({names}), (ifNull({ended}, 0), seen_instance))"
    shown = ", ".join(f"last.{place}" for place in range(1, len(_SEEN) + 1))
    return Query(
        sql=f"SELECT id, seen_by, rows, different, {shown} FROM (SELECT id, seen_by, count() AS rows,"
        f" uniqExact(tuple(seen_began_at, seen_end_to_end_us)) AS different, {last} AS last"
        f" FROM (SELECT {table.id} AS id, {table.reporter} AS seen_by, {_named(table.said)} FROM {table.name} FINAL"
        f" WHERE {_within(table.at)} AND {table.id} IN {{seen_ids:Array(String)}}) GROUP BY id, seen_by) ORDER BY id, seen_by",
        parameters={"seen_ids": [each.id for each in probes], **_around(probes, as_of, reach)},
    )


def _around(probes: Sequence[Probe], as_of: datetime, reach: timedelta) -> dict[str, object]:
    """Return the parameters of `_within`: as far as `reach` from when probes were to be sent."""
    meant = [each.intended_at for each in probes]
    return {
        "seen_from": to_us(min(meant) - reach),
        "seen_to": to_us(max(meant) + reach),
        "as_of_wins": FIRST_WINS_BASE - to_us(as_of),
    }


def _sighting(source: Source, said: Sequence[Any]) -> Sighting:
    named = dict(zip(_SEEN, said, strict=True))
    named["began_at"] = None if named["began_at"] is None else _aware(named["began_at"])
    return Sighting(source=source, **named)


def _kept(found: Reconciled) -> tuple[object, ...]:
    seen = [[getattr(each, name) for each in found.sightings] for name in _SEEN]
    return (
        *row_of(found.probe),
        found.at.astimezone(UTC),
        [each.source.value for each in found.sightings],
        *seen,
    )


def _reconciled(row: Sequence[Any]) -> Reconciled:
    told, (at, sources, *seen) = row[: len(COLUMNS)], row[len(COLUMNS) :]
    return Reconciled(
        probe=probe_of(told),
        at=_aware(at),
        sightings=tuple(
            _sighting(Source(source), said) for source, *said in zip(sources, *seen, strict=True)
        ),
    )


def _aware(instant: datetime) -> datetime:
    """Return an instant with its zone: an element of an array may come without."""
    return instant if instant.tzinfo is not None else instant.replace(tzinfo=UTC)
