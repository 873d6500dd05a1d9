"""Own the outbox in the store: the tables ``alerts``, ``deliveries`` and ``silences``, to which rows are only added."""

from __future__ import annotations

from datetime import UTC, datetime
from threading import Lock
from typing import TYPE_CHECKING, Any

from exporters.webhooks.event import AlertEvent, State, event_text, read_event
from exporters.webhooks.outbox import OPEN, TOLD, Book, Entry, Fate
from exporters.webhooks.silences import Silence
from fairclock.store import Query
from fairclock.store.stamping import insert_stamped

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from fairclock.store import Store

_ALERT_COLUMNS = (
    "alert_id", "sequence", "event_id", "state", "severity", "contract", "objective", "changed_at", "event",
)  # fmt: skip
_DELIVERY_COLUMNS = (
    "destination", "alert_id", "sequence", "event_id", "alert_state", "version", "state", "message_id", "delivery_id",
    "attempt", "http_status", "problem", "planned_at", "retry_at", "stored_at",
)  # fmt: skip
_SILENCE_COLUMNS = ("id", "version", "matchers", "silent_from", "silent_to", "author", "reason")

_FIRST_COPIES = (
    "SELECT alert_id, sequence, state, event FROM alerts ORDER BY alert_id, sequence, stored_at"
    " LIMIT 1 BY alert_id, sequence"
)
_NEWEST = (
    "SELECT destination, alert_id, sequence, any(alert_state) AS alert_state,"
    " argMax(tuple(state, version, message_id, delivery_id, attempt, http_status, problem, planned_at, retry_at),"
    " tuple(version, stored_at)) AS newest FROM deliveries GROUP BY destination, alert_id, sequence"
)
_PROBLEM_CHARACTERS = 500


class StoreOutbox:
    """The outbox of `store`; a function that returns the store as it is reached now will do too."""

    def __init__(self, store: Store | Callable[[], Store]) -> None:
        self._reach: Callable[[], Store] = store if callable(store) else lambda: store
        self._keeping = Lock()

    def keep(self, events: Sequence[AlertEvent]) -> int:
        """Keep events, and return how many were new; the first copy of (alert, sequence) stays."""
        distinct = {event.event_id: event for event in reversed(events)}
        if not distinct:
            return 0
        store = self._reach()
        with self._keeping:
            found = store.rows(
                Query(
                    sql="SELECT DISTINCT event_id FROM alerts WHERE event_id IN {ids:Array(String)}",
                    parameters={"ids": list(distinct)},
                )
            )
            known = {row[0] for row in found}
            new = [event for event in reversed(distinct.values()) if event.event_id not in known]
            if new:
                insert_stamped(store, "alerts", _ALERT_COLUMNS, [_alert_row(event) for event in new])
        return len(new)

    def latest(self) -> dict[str, AlertEvent]:
        """Return the last change of every alert, by alert id: where an engine begins again after a restart."""
        sql = f"SELECT alert_id, argMax(event, sequence) FROM ({_FIRST_COPIES}) GROUP BY alert_id"  # noqa: S608
        return {alert_id: read_event(text) for alert_id, text in self._reach().rows(Query(sql=sql))}

    def read(self) -> Book:
        """Return what has to be decided."""
        store = self._reach()
        unrouted = [read_event(row[0]) for row in store.rows(_UNROUTED)]
        entries = [_entry(row) for row in store.rows(_OPEN)]
        alert_ids = sorted({event.alert_id for event in unrouted} | {e.event.alert_id for e in entries})
        if not alert_ids:
            return Book()
        of_these = {"alerts": alert_ids}
        known = store.rows(Query(sql=_KNOWN, parameters={**of_these, "told": [fate.value for fate in TOLD]}))
        last = store.rows(Query(sql=_LAST, parameters=of_these))
        return Book(
            unrouted=unrouted,
            entries=entries,
            known={(row[0], row[1]): State(row[2]) for row in known},
            last={row[0]: int(row[1]) for row in last},
        )

    def write(self, entries: Sequence[Entry], *, now: datetime) -> None:
        """Add rows, all of them or none: they are one block."""
        if entries:
            rows = [_delivery_row(entry, now) for entry in entries]
            self._reach().insert("deliveries", _DELIVERY_COLUMNS, rows)

    def silences(self, *, now: datetime) -> list[Silence]:
        """Return the silences that are not over."""
        return [each for each in self.every_silence() if now < each.end]

    def every_silence(self) -> list[Silence]:
        """Return all silences as they are now, those to come and those that are over too."""
        return [
            Silence(
                id=row[0],
                version=row[1],
                matchers=tuple((name, pattern) for name, pattern in row[2]),
                start=row[3],
                end=row[4],
                author=row[5],
                reason=row[6],
            )
            for row in self._reach().rows(_SILENCES)
        ]

    def silence(self, silence: Silence) -> None:
        """Add a silence, or its next version."""
        row = (
            silence.id, silence.version, list(silence.matchers), silence.start.astimezone(UTC),
            silence.end.astimezone(UTC), silence.author, silence.reason,
        )  # fmt: skip
        insert_stamped(self._reach(), "silences", _SILENCE_COLUMNS, [row])

    def mark(self) -> object:
        """Return a value that differs from the last one whenever something was written since."""
        return self._reach().rows(_MARK)[0]

    def newest(self) -> list[Mapping[str, Any]]:
        """Return the newest row of every event at every destination, as it is listed; the latest events last."""
        columns = self._reach().columns(_LISTED)
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


_UNROUTED = Query(
    sql=f"SELECT event FROM ({_FIRST_COPIES}) WHERE state != 'pending' AND (alert_id, sequence) NOT IN"  # noqa: S608
    " (SELECT alert_id, sequence FROM deliveries) ORDER BY alert_id, sequence"
)
_OPEN = Query(
    sql=f"SELECT destination, event, newest FROM (SELECT destination, alert_id, sequence, newest FROM ({_NEWEST})"  # noqa: S608
    f" WHERE newest.1 IN {{open:Array(String)}}) AS d INNER JOIN ({_FIRST_COPIES}) AS a USING (alert_id, sequence)",
    parameters={"open": [fate.value for fate in OPEN]},
)
_KNOWN = (
    f"SELECT destination, alert_id, argMax(alert_state, sequence) FROM ({_NEWEST})"  # noqa: S608
    " WHERE alert_id IN {alerts:Array(String)} AND newest.1 IN {told:Array(String)} GROUP BY destination, alert_id"
)
_LAST = (
    "SELECT alert_id, max(sequence) FROM alerts WHERE alert_id IN {alerts:Array(String)}"
    " AND state != 'pending' GROUP BY alert_id"
)
_SILENCES = Query(
    sql="SELECT id, max(version), argMax(matchers, version), argMax(silent_from, version),"
    " argMax(silent_to, version), argMax(author, version), argMax(reason, version) FROM silences"
    " GROUP BY id ORDER BY 4, id"
)
_MARK = Query(
    sql="SELECT (SELECT count() FROM alerts), (SELECT count() FROM deliveries), (SELECT count() FROM silences)"
)
_LISTED = Query(
    sql="SELECT alert_id, sequence, a.state AS state, severity, contract, objective, changed_at, event_id,"  # noqa: S608
    " JSONExtractString(a.event, 'rule') AS rule, JSONExtractString(a.event, 'since') AS since,"
    " JSONExtractString(a.event, 'summary_en') AS summary_en, JSONExtractString(a.event, 'frozen_reason') AS frozen_reason,"
    " d.destination AS destination,"
    " d.newest.1 AS delivery, d.newest.3 AS message_id, d.newest.4 AS delivery_id, d.newest.5 AS attempts,"
    " d.newest.6 AS http_status, d.newest.7 AS problem, d.newest.9 AS retry_at"
    " FROM (SELECT * FROM alerts ORDER BY alert_id, sequence, stored_at LIMIT 1 BY alert_id, sequence) AS a"
    f" LEFT JOIN ({_NEWEST}) AS d USING (alert_id, sequence) ORDER BY changed_at, alert_id, sequence, destination"
)


def _alert_row(event: AlertEvent) -> tuple[object, ...]:
    return (
        event.alert_id, event.sequence, event.event_id, event.state.value, event.severity.value, event.contract_id,
        event.objective or "", event.at.astimezone(UTC), event_text(event),
    )  # fmt: skip


def _delivery_row(entry: Entry, now: datetime) -> tuple[object, ...]:
    event = entry.event
    return (
        entry.destination, event.alert_id, event.sequence, event.event_id, event.state.value, entry.version,
        entry.fate.value, entry.message_id, entry.delivery_id, entry.attempt, entry.http_status,
        entry.problem[:_PROBLEM_CHARACTERS], _utc(entry.planned_at), _utc(entry.retry_at), now.astimezone(UTC),
    )  # fmt: skip


def _entry(row: Sequence[Any]) -> Entry:
    destination, text, newest = row
    fate, version, message_id, delivery_id, attempt, status, problem, planned_at, retry_at = newest
    return Entry(
        destination=destination, event=read_event(text), fate=Fate(fate), version=version, message_id=message_id,
        delivery_id=delivery_id, attempt=attempt, http_status=status, problem=problem,
        planned_at=_aware(planned_at), retry_at=_aware(retry_at),
    )  # fmt: skip


def _utc(instant: datetime | None) -> datetime | None:
    return None if instant is None else instant.astimezone(UTC)


def _aware(instant: datetime | None) -> datetime | None:
    return None if instant is None else instant if instant.tzinfo else instant.replace(tzinfo=UTC)
