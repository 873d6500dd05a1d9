"""Own the reading of what happened to engines from a store, as of an instant."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from fairclock.model import Interval
from fairclock.store.engine_processes import (
    counters_fallen,
    first_answer,
    first_arrival,
    first_finish,
    first_heard,
    gpu_memory_peak,
    last_sign,
    outages,
    processes_seen,
    said_of_lives,
    served_by,
    xids,
)
from sla.engines.finding import Surroundings, event_of_outage, events_of_ends, events_of_start
from sla.engines.lives import lives_said, lives_seen
from sla.engines.routing import Route, route_of
from sla.engines.starts import Start, agreed

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from fairclock.store.engine_lives import Rows
    from sla.engines.events import EngineEvent
    from sla.engines.lives import Life

LONGEST = timedelta(days=1)
"""A start is not connected with what was served later than this; nor is a life before it looked for further back."""
_AROUND_THE_END = timedelta(minutes=2)
_LEARNT_IN = timedelta(minutes=10)
_ON_THE_WAY = timedelta(minutes=10)


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


def lives_within(store: Rows, window: Interval, as_of: datetime, *, with_before: bool) -> list[Life]:
    """Return the lives that began within `window`, as they were known at `as_of`.

    with_before: whether it matters what was before each of them, also where nothing in the day before says its start,
    and whether falls of counters are starts, too, which nothing dates.
    """
    around = Interval(start=window.start - LONGEST, end=max(min(window.end + LONGEST, as_of), window.end))
    fallen = counters_fallen(store, around, as_of) if with_before else ()
    seen = lives_seen(processes_seen(store, around, as_of), fallen)
    heard = first_heard(store, around, as_of) if with_before else {}
    said = lives_said(said_of_lives(store, around, as_of), heard)
    found = [each for each in (*seen, *said) if each.evidence and window.start <= each.began < window.end]
    return sorted(found, key=lambda each: (each.began, each.engine, each.evidence))


def starts_within(
    store: Rows, window: Interval, as_of: datetime, *, with_before: bool = False
) -> list[Start]:
    """Return the starts within `window`, in time order, as they were known at `as_of`; see `lives_within`."""
    lives = lives_within(store, window, as_of, with_before=with_before)
    return agreed([start_of(store, life, as_of) for life in lives])


def start_of(store: Rows, life: Life, as_of: datetime) -> Start:
    """Return what is known of a life's first request.

    It is the earliest of those that count as served by it: one that arrived at the engine, one that a gateway sent
    to its upstream and that was answered well, and one that a scrape shows as finished. They are asked for in the day
    after the start.
    """
    after = Interval(start=life.began, end=max(min(life.began + LONGEST, as_of), life.began))
    arrived = first_arrival(store, life.engine, after, as_of)
    route, answered = _route(store, life, arrived, after, as_of)
    finished = None if life.by_plugin else first_finish(store, life.engine, after, as_of)
    received = min((each for each in (arrived, answered) if each is not None), default=None)
    if finished is not None and (received is None or finished < received):
        return Start(life=life, first_served=finished, route=route, by_then=True)
    return Start(life=life, first_served=received, route=route)


def _route(
    store: Rows, life: Life, arrived: datetime | None, after: Interval, as_of: datetime
) -> tuple[Route, datetime | None]:
    """Return the engine's upstream, and when that first answered well after the start."""
    answered = first_answer(store, life.engine, after, as_of)
    if answered is not None:
        return Route(upstream=life.engine, why=f"gateways call it {life.engine} as well"), answered
    if arrived is None:
        return Route(upstream="", why=f"no gateway calls anything {life.engine}"), None
    pairs = served_by(store, Interval(start=arrived, end=arrived + _LEARNT_IN), as_of, before=_ON_THE_WAY)
    route = route_of(life.engine, pairs)
    return route, first_answer(store, route.upstream, after, as_of) if route.upstream else None
