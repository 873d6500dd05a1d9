"""Own what gateways and engines said of probes, and what was found of each when all that was laid side by side."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, timedelta
from typing import TYPE_CHECKING, Any

from fairclock.model import to_us
from fairclock.model.sightings import Reconciled, Sighting, Source
from fairclock.store.batches import FIRST_WINS_BASE
from fairclock.store.probes import COLUMNS, WITHIN, probe_of, row_of, within
from fairclock.store.query import Query
from fairclock.store.stamping import insert_stamped

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from fairclock.model import Interval
    from fairclock.model.probes import Probe
    from fairclock.store import Store
    from fairclock.store.probes import Rows

REACH = timedelta(hours=1)
"""How far from when a probe was sent, by whatever clock, its rows are looked for: a clock further off is not found."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What was stored of some probes, by their ids.

    repeated: how often an id was told by one source more than once, which says nothing of the probe.
    """

    by_id: dict[str, tuple[Sighting, ...]]
    repeated: int


def seen_of(store: Rows, probes: Sequence[Probe], as_of: datetime) -> Seen:
    """Return what gateways, spans and the plugin said of `probes`, as it was known at `as_of`.

    A row is a probe's by its request id, as each source knows it; of probes and rows further apart than `REACH` none is found.
    """
    if not probes:
        return Seen(by_id={}, repeated=0)
    sent = [each.intended_at for each in probes]
    parameters = {
        "seen_ids": [each.id for each in probes],
        "seen_from": to_us(min(sent) - REACH),
        "seen_to": to_us(max(sent) + REACH),
        "as_of_wins": FIRST_WINS_BASE - to_us(as_of),
    }
    found: defaultdict[str, list[Sighting]] = defaultdict(list)
    repeated = 0
    for id_, source, count, *said in store.rows(Query(sql=_sightings_sql(), parameters=parameters)):
        if int(count) == 1:
            found[id_].append(_sighting(Source(source), said))
        else:
            repeated += 1
    return Seen(by_id={id_: tuple(each) for id_, each in found.items()}, repeated=repeated)


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


def _sightings_sql() -> str:
    """Return the query for (id, source, rows, one row's words) of every source's rows of the probes."""
    gateway = (
        f"SELECT request_id AS id, 'gateway' AS seen_by, {_named(_OF_GATEWAY)} FROM gateway_requests FINAL"
        f" WHERE {_within('received_at')} AND request_id IN {{seen_ids:Array(String)}}"
    )
    engine = (
        f"SELECT join_id AS id, toString(reporter) AS seen_by, {_named(_OF_ENGINE)} FROM engine_requests FINAL"
        f" WHERE {_within('arrived_at')} AND join_id IN {{seen_ids:Array(String)}}"
    )
    said = ", ".join(f"any(seen_{name})" for name in _SEEN)
    return (
        f"SELECT id, seen_by, count(), {said} FROM ({gateway} UNION ALL {engine})"
        " GROUP BY id, seen_by ORDER BY id, seen_by"
    )


def _within(column: str) -> str:
    return (
        f"{column} >= fromUnixTimestamp64Micro({{seen_from:Int64}}, 'UTC')"
        f" AND {column} < fromUnixTimestamp64Micro({{seen_to:Int64}}, 'UTC') AND first_wins >= {{as_of_wins:UInt64}}"
    )


def _named(expressions: Mapping[str, str]) -> str:
    return ", ".join(f"{expressions[name]} AS seen_{name}" for name in _SEEN)


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
