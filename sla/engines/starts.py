"""Own an engine's start as the evaluation needs it: where its requests went, and the first one that it served."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from fairclock.model import Interval, utc_text
from fairclock.store.engine_processes import (
    counters_fallen,
    first_answer,
    first_arrival,
    first_heard,
    processes_seen,
    said_of_lives,
    served_by,
)
from sla.engines.lives import lives_said, lives_seen
from sla.engines.routing import Route, route_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from fairclock.store.engine_lives import Rows
    from sla.engines.lives import Life

LONGEST = timedelta(days=1)
"""A start is not connected with what was served later than this; nor is a life before it looked for further back."""
_LEARNT_IN = timedelta(minutes=10)
_ON_THE_WAY = timedelta(minutes=10)


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """One start. first_served: when the first request that it served was received; None while there is none.

    route: what gateways call it, or why that is not known.
    """

    life: Life
    first_served: datetime | None
    route: Route

    @property
    def evidence(self) -> str:
        """Return what shows the start, the route and the first served request."""
        served = (
            "no request that it served is known"
            if self.first_served is None
            else f"it first served a request received at {utc_text(self.first_served)}"
        )
        return f"{self.life.evidence}; {self.route.why}; {served}"


def lives_within(store: Rows, window: Interval, as_of: datetime, *, with_before: bool) -> list[Life]:
    """Return the lives that began within `window`, as they were known at `as_of`.

    with_before: whether it matters what was before each of them, also where nothing in the day before says its start.
    """
    around = Interval(start=window.start - LONGEST, end=max(min(window.end + LONGEST, as_of), window.end))
    seen = lives_seen(processes_seen(store, around, as_of), counters_fallen(store, around, as_of))
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

    It is the earliest of those that count as served by it: one that arrived at the engine, and one that a gateway sent
    to its upstream and that was answered well. Both are asked for in the day after the start.
    """
    after = Interval(start=life.began, end=max(min(life.began + LONGEST, as_of), life.began))
    arrived = first_arrival(store, life.engine, after, as_of)
    route, answered = _route(store, life, arrived, after, as_of)
    known = [each for each in (arrived, answered) if each is not None]
    return Start(life=life, first_served=min(known, default=None), route=route)


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


def agreed(starts: Sequence[Start]) -> list[Start]:
    """Return `starts` so that what one series knows of an upstream's first served request holds for the others.

    Scrapes date the process and the plugin the loaded engine: two starts of one life, and the earlier first request
    is the first.
    """
    found = []
    for each in starts:
        if each.first_served is None or not each.route.upstream:
            found.append(each)
            continue
        others = [
            other.first_served
            for other in starts
            if other.route.upstream == each.route.upstream
            and other.first_served is not None
            and each.life.began <= other.life.began <= each.first_served
        ]
        found.append(replace(each, first_served=min([each.first_served, *others])))
    return found
