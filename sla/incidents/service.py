"""Own what the whole service was like around an incident, put together from the store's readings."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from collectors.gpu.changes import THROTTLES
from fairclock.model import Interval, to_us, total_us
from fairclock.model.counters import increases
from fairclock.store.engine_lives import kv_cache_usage
from fairclock.store.engine_series import points_of, values_query
from fairclock.store.incident_evidence import (
    MINUTE_US,
    gpu_events_in,
    repeated_requests,
    slow_minutes,
    tables_with_rows,
    throttled_seconds,
    token_times,
    traffic_by_minute,
)
from sla.engines import EventKind, engine_events
from sla.incidents.evidence.engines import FULL
from sla.incidents.observations import (
    EngineHappening,
    Fill,
    GpuEvent,
    Life,
    Observed,
    Phases,
    Point,
    Stretch,
    Throttled,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from fairclock.store.incident_evidence import TrafficMinute
    from sla.engines import EngineEvent
    from sla.evaluation.rows import Requests
    from sla.incidents.hits import Hits

LEAD = timedelta(minutes=2)
"""What brings a minute down begins before it does."""
_EARLIER = timedelta(minutes=5)
_LIFE = timedelta(hours=12)
_BEATS = timedelta(hours=3)
_LONGEST = timedelta(hours=6)
_PIECE_US = 10 * MINUTE_US
_SCRAPES = timedelta(minutes=2)
_READ_TENTHS = 9
_STARTS = (EventKind.STARTED, EventKind.RESTARTED, EventKind.RELOADED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """The time of an incident that is looked at, and as much before it, at least 10 minutes and at most an hour."""

    before: Interval
    during: Interval

    @property
    def whole(self) -> Interval:
        """Return both."""
        return Interval(start=self.before.start, end=self.during.end)


def around(start: datetime, end: datetime) -> Around:
    """Return which time is looked at for an incident: at most its first six hours, from two minutes before it on."""
    during = Interval(start=start - LEAD, end=min(end, start + _LONGEST))
    length = max(timedelta(minutes=10), min(timedelta(hours=1), during.end - start))
    whole = timedelta(minutes=-(-length // timedelta(minutes=1)))
    return Around(before=Interval(start=during.start - whole, end=during.start), during=during)


@dataclass(slots=True)
class Service:
    """Reads what the service was like as of one instant; what several incidents share is read once."""

    _store: Requests
    _as_of: datetime
    _seen: dict[tuple[object, ...], Observed] = field(default_factory=dict)

    def observed(self, times: Around, end: datetime, tenants: Sequence[str], hits: Hits) -> Observed:
        """Return everything seen of an incident whose bad requests are `hits`."""
        key = (times.before.start, times.during.start, times.during.end, *tenants)
        if key not in self._seen:
            self._seen[key] = self._read(times, tenants)
        return replace(
            self._seen[key], end_us=to_us(end), over=hits.over, usual=hits.usual, outcomes=hits.outcomes
        )

    def _read(self, times: Around, tenants: Sequence[str]) -> Observed:
        store, as_of = self._store, self._as_of
        cut = times.during.start
        minutes = traffic_by_minute(store, store.requests_as_of(times.whole, as_of), tenants)
        repeated_before, repeated = repeated_requests(store, times.whole, cut, as_of)
        before, during = self._stretch(minutes, times.before), self._stretch(minutes, times.during)
        seen = Observed(
            start_us=to_us(times.during.start + LEAD),
            end_us=to_us(times.during.end),
            during=replace(during, repeated=repeated),
            before=replace(before, repeated=repeated_before),
            over=Phases(),
            usual=Phases(),
            outcomes={},
        )
        hours = Interval(start=times.during.end - _LIFE, end=times.during.end)
        told = tables_with_rows(store, hours, as_of)
        if told & {"engine_samples", "engine_states", "engine_requests"}:
            seen = self._with_engines(seen, times, hours, told)
        if told & {"gpu_events", "gpu_samples"}:
            seen = self._with_gpus(seen, times)
        return seen

    def _with_engines(self, seen: Observed, times: Around, hours: Interval, told: set[str]) -> Observed:
        events = (
            engine_events(self._store, hours, self._as_of)
            if told & {"engine_samples", "engine_states"}
            else []
        )
        if "engine_samples" in told:
            preempted = self._preemptions(times)
            seen = replace(seen, preemptions_before=preempted[0], preemptions=preempted[1])
        if "engine_requests" in told:
            recent = Interval(start=times.during.end - _BEATS, end=times.during.end)
            minutes = _lives_of(slow_minutes(self._store, recent, self._as_of), to_us(recent.start), {})
            seen = replace(seen, lives=self._lives(hours, events), minutes=minutes)
        return replace(seen, fills=self._fills(times), engine_happenings=self._happenings(times, events))

    def _with_gpus(self, seen: Observed, times: Around) -> Observed:
        cut, end = times.during.start, times.during.end
        events = gpu_events_in(self._store, Interval(start=cut - _EARLIER, end=end), self._as_of)
        held = throttled_seconds(self._store, times.whole, cut, self._as_of, reasons=sum(THROTTLES))
        return replace(
            seen,
            gpu_events=tuple(
                GpuEvent(event=event, gpu=gpu, code=code, times=count, first_us=first_us)
                for event, gpu, code, count, first_us in events
            ),
            throttled=tuple(
                Throttled(
                    gpu=gpu,
                    seconds=seconds,
                    measured=of,
                    seconds_before=seconds_before,
                    measured_before=of_before,
                )
                for gpu, seconds, of, seconds_before, of_before in held
            ),
        )

    def _stretch(self, minutes: Sequence[TrafficMinute], interval: Interval) -> Stretch:
        inside = [each for each in minutes if to_us(interval.start) <= each.start_us < to_us(interval.end)]
        covered = total_us(self._store.covered("gateway", interval, self._as_of))
        return Stretch(
            minutes=interval.length_us // MINUTE_US,
            requests=sum(each.requests for each in inside),
            own=sum(each.own for each in inside),
            busiest=max((each.requests for each in inside), default=0),
            refused=sum(each.refused for each in inside),
            prompt_tokens=sum(each.prompt_tokens for each in inside),
            long_tokens=sum(each.long_tokens for each in inside),
            short=sum(each.short for each in inside),
            short_us=sum(each.short_us for each in inside),
            waited=sum(each.waited for each in inside),
            waiting_us=sum(each.waiting_us for each in inside),
            inference_us=sum(each.inference_us for each in inside),
            is_read=10 * covered >= _READ_TENTHS * interval.length_us,
        )

    def _fills(self, times: Around) -> tuple[Fill, ...]:
        during: defaultdict[str, list[float]] = defaultdict(list)
        before: defaultdict[str, list[float]] = defaultdict(list)
        for each in kv_cache_usage(self._store, times.whole, self._as_of):
            name = each.engine if each.rank in {"", "0"} else f"{each.engine} ({each.rank})"
            (during if each.at >= times.during.start else before)[name].append(each.ratio)
        return tuple(
            Fill(
                engine=engine,
                peak=max(ratios),
                scrapes=len(ratios),
                full_scrapes=sum(each >= FULL for each in ratios),
                before=max(before[engine], default=None),
            )
            for engine, ratios in sorted(during.items())
        )

    def _preemptions(self, times: Around) -> tuple[int | None, int | None]:
        """Return what was counted before and during; None where nothing was read."""
        window = Interval(start=times.before.start - _SCRAPES, end=times.during.end)
        rows = self._store.rows(values_query("vllm:num_preemptions", window, self._as_of))
        edges = [to_us(each) for each in (times.before.start, times.during.start, times.during.end)]
        counted = [increases(points, edges) for points in points_of(list(map(tuple, rows))).values()]
        found = []
        for place in (0, 1):
            known = [int(each[place].counted or 0) for each in counted if each[place].counted is not None]
            found.append(sum(known) if known else None)
        return found[0], found[1]

    def _happenings(self, times: Around, events: Sequence[EngineEvent]) -> tuple[EngineHappening, ...]:
        """Return what touched the incident, from five minutes before what is looked at of it."""
        start = times.during.start - _EARLIER
        return tuple(
            EngineHappening(
                kind=str(each.kind),
                engine=each.engine,
                at_us=to_us(each.at),
                until_us=None if each.until is None else to_us(each.until),
            )
            for each in events
            if each.at < times.during.end and (each.until or each.at) >= start
        )

    def _lives(self, window: Interval, events: Sequence[EngineEvent]) -> tuple[Life, ...]:
        starts: dict[str, int] = {}
        for each in events:
            if each.kind in _STARTS and window.start <= each.at < window.end:
                starts[each.engine] = max(to_us(each.at), starts.get(each.engine, 0))
        rows = token_times(self._store, window, _PIECE_US, self._as_of)
        return _lives_of(rows, to_us(window.start), starts)


def _lives_of(
    rows: Sequence[tuple[str, int, int, int]], since_us: int, starts: dict[str, int]
) -> tuple[Life, ...]:
    found: defaultdict[str, list[Point]] = defaultdict(list)
    for engine, piece_us, requests, median_us in rows:
        if piece_us >= starts.get(engine, since_us):
            found[engine].append(Point(at_us=piece_us, requests=requests, median_us=median_us))
    return tuple(
        Life(
            engine=engine,
            since_us=starts.get(engine, since_us),
            knows_start=engine in starts,
            points=tuple(points),
        )
        for engine, points in sorted(found.items())
    )
