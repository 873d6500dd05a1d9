"""Own the reading of what happened to engines from a store, as of an instant."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from fairclock.model import Interval
from fairclock.store.engine_processes import (
    first_heard,
    gpu_memory_peak,
    last_sign,
    outages,
    said_of_lives,
    xids,
)
from sla.engines.finding import Surroundings, event_of_outage, events_of_ends, events_of_start
from sla.engines.lives import lives_said
from sla.engines.starts import LONGEST, starts_within

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from fairclock.store.engine_lives import Rows
    from sla.engines.events import EngineEvent
    from sla.engines.lives import Life

_AROUND_THE_END = timedelta(minutes=2)


def engine_events(store: Rows, window: Interval, as_of: datetime) -> list[EngineEvent]:
    """Return what happened to engines within `window`, as it was known at `as_of`, in time order.

    An event belongs to `window` if it touches it; what lasts longer than a day is not looked for. The same rows give the same events.
    """
    wider = _wider(window, as_of)
    found = [*life_events(store, window, as_of), *map(event_of_outage, outages(store, wider, as_of))]
    return _touching(found, window)


def life_events(store: Rows, window: Interval, as_of: datetime) -> list[EngineEvent]:
    """Return what `engine_events` does without the failed scrapes: starts, ends, restarts, reloads."""
    wider = _wider(window, as_of)
    heard = first_heard(store, wider, as_of)
    found = list(events_of_ends(lives_said(said_of_lives(store, wider, as_of), heard)))
    for start in starts_within(store, wider, as_of, with_before=True):
        found += events_of_start(start, surroundings(store, start.life, as_of))
    return _touching(found, window)


def _wider(window: Interval, as_of: datetime) -> Interval:
    end = max(min(window.end + LONGEST, as_of), window.end)
    return Interval(start=window.start - LONGEST, end=end)


def _touching(events: Iterable[EngineEvent], window: Interval) -> list[EngineEvent]:
    found = {each for each in events if each.at < window.end and (each.until or each.at) >= window.start}
    return sorted(found, key=lambda each: (each.at, each.engine, each.kind, each.evidence))


def surroundings(store: Rows, life: Life, as_of: datetime) -> Surroundings:
    """Return what was read around the end of the life before `life`, where that one had not said that it stops."""
    before = life.before
    if before is None or not before.by_plugin or before.ended is not None:
        return Surroundings()
    sign = last_sign(store, life.engine, Interval(start=before.began, end=life.began), as_of)
    # an instance without a name of its own is called by its host and its process
    host, is_named_so, _ = life.engine.rpartition(":")
    if sign is None or not is_named_so:
        return Surroundings(sign=sign)
    end = Interval(start=sign.at - _AROUND_THE_END, end=min(sign.at + _AROUND_THE_END, life.began))
    return Surroundings(
        sign=sign,
        gpu=gpu_memory_peak(store, host, end, as_of),
        xids=tuple(xids(store, host, end, as_of)),
    )
