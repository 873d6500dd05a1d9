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
    first_finish,
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

    by_then: a scrape shows no more than that it had served one by `first_served`.
    route: what gateways call it, or why that is not known.
    """

    life: Life
    first_served: datetime | None
    route: Route
    by_then: bool = False

    @property
    def evidence(self) -> str:
        """Return what shows the start, the route and the first served request."""
        return f"{self.life.evidence}; {self.route.why}; {self._served}"

    @property
    def brief(self) -> str:
        """Return the same without the number of requests that show the route, which grows for a while."""
        route = "" if self.route.upstream else f"{self.route.why}; "
        return f"{self.life.evidence}; {route}{self._served}"

    @property
    def _served(self) -> str:
        if self.first_served is None:
            return "no request that it served is known"
        at = utc_text(self.first_served)
        if self.by_then:
            return f"its request_success shows at {at} that it had served a request"
        return f"it first served a request received at {at}"


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
        earliest = min([each.first_served, *others])
        found.append(
            replace(each, first_served=earliest, by_then=each.by_then and earliest == each.first_served)
        )
    return found
