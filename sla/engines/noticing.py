"""Own the degradations that nobody records: engines that restarted, ran out of memory, took time to load.

They are rows like others, with Fairclock as their author, and bring no quality level. Noticing again what is known adds
nothing; what becomes known later (the first request that was served) is another row of the same degradation.
"""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from fairclock.model import Interval, to_us
from fairclock.model.remedies import DegradationEntry
from fairclock.store.remedies import degradations_as_of, keep_degradation
from sla.engines.events import EventKind
from sla.engines.reading import life_events

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from fairclock.store import Store
    from sla.engines.events import EngineEvent

AUTHOR = "fairclock"
ORIGIN = "engines"
_REASONS = {
    EventKind.RESTARTED: "the engine was restarted",
    EventKind.OUT_OF_MEMORY: "the engine is suspected to have run out of memory",
    EventKind.RELOADED: "the engine loaded its model anew",
}
_EVERY = timedelta(seconds=30)
_TIMES_AS_LONG = 20
_LOOK_BACK = timedelta(days=1)
_SHORTEST = timedelta(microseconds=1)
_ID_DIGITS = 12


@dataclass(slots=True)
class EnginesStep:
    """Notice what happened to engines in the last day; every 30 seconds, however often it is called.

    Each start costs some queries, so an engine that fails at its start again and again would hold up alerts: where
    looking takes long it is done more rarely, for a twentieth of the time. `monotonic` is in seconds.
    """

    _store: Callable[[], Store]
    _looked_at: datetime | None = None
    _monotonic: Callable[[], float] = time.monotonic
    _every: timedelta = _EVERY

    def step(self, now: datetime) -> None:
        """Keep what is new at `now`."""
        if self._looked_at is not None and timedelta() <= now - self._looked_at < self._every:
            return
        begun = self._monotonic()
        store = self._store()
        as_of = store.watermark()
        notice_engines(store, Interval(start=as_of - _LOOK_BACK, end=as_of), as_of)
        self._looked_at = now
        self._every = max(_EVERY, timedelta(seconds=_TIMES_AS_LONG * (self._monotonic() - begun)))


def notice_engines(store: Store, window: Interval, as_of: datetime) -> int:
    """Keep what happened to engines within `window`, as it is known at `as_of`; return how many rows that took."""
    events = [each for each in life_events(store, window, as_of) if each.kind in _REASONS]
    if not events:
        return 0
    known = {each.id: each for each in degradations_as_of(store, store.watermark())}
    written = 0
    for event in events:
        entry = degradation_of(event)
        before = known.get(entry.id)
        if before is not None:
            if replace(before, sequence=entry.sequence, stored_at=None) == entry:
                continue
            entry = replace(entry, sequence=before.sequence + 1)
        known[entry.id] = keep_degradation(store, entry)
        written += 1
    return written


def degradation_of(event: EngineEvent) -> DegradationEntry:
    """Return the first row about `event`; its identity is what happened to which engine by which start."""
    start = event.start or event.at
    text = "\n".join((event.kind, event.engine, str(to_us(start))))
    # where nothing shows that it served again, no more is said than that it came back
    ends_at = max(event.until or start, event.at + _SHORTEST)
    return DegradationEntry(
        id=f"dg-{hashlib.sha256(text.encode()).hexdigest()[:_ID_DIGITS]}",
        sequence=1,
        mode="",
        starts_at=event.at,
        ends_at=ends_at,
        reason=_REASONS[event.kind],
        author=AUTHOR,
        origin=ORIGIN,
        kind=str(event.kind),
        engine=event.engine,
        evidence=event.evidence,
    )
