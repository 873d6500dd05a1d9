"""Own the counters over requests: what was stored since an instant, counted once, whatever is sealed or joined anew.

Of each hour that changed, what it came to at the last reading is taken away from what it comes to now. What comes out may
fall, where a late row makes a request another than it was; what is published does not: it stays at the greatest that it
was, until the truth has caught up. So no request is counted twice and none is lost.

A series is first told as 0, until somebody has heard that: Prometheus takes the first that it hears of a series for the
beginning, and what comes after a restart for what follows it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from functools import lru_cache
from operator import add, or_, sub
from typing import TYPE_CHECKING

from exporters.prometheus import Exemplar, Figure, HistogramFigure
from exporters.prometheus.bounds import OTHER
from fairclock.model import Interval, from_us, to_us
from fairclock.model.runs import runs
from fairclock.store.request_sums import OUTCOMES, TOKENS, known_pairs, request_sums
from fairclock.store.requests import HOUR_US
from fairclock.store.slices import changed_hours

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from exporters.prometheus import Published
    from exporters.prometheus.bounds import AdmittedPairs
    from fairclock.store import Store
    from fairclock.store.request_sums import Measured, RequestSum, Slowest

DURATIONS = "fairclock_request_duration_seconds"
OUTPUT_TIME = "fairclock_time_per_output_token_seconds"
QUEUE = "fairclock_queue_duration_seconds"
REQUESTS, SIMULATED, TOKENS_NAME = (
    "fairclock_requests", "fairclock_simulated_requests", "fairclock_tokens",
)  # fmt: skip
ABOUT = {
    DURATIONS: "How long requests took on each clock of docs/architecture.md, of those that were answered (ok).",
    OUTPUT_TIME: "Time per output token of requests that were answered (ok): decode / (tokens - 1).",
    QUEUE: "How long requests that were answered (ok) waited before they were scheduled first; the clock queue.",
    REQUESTS: "Requests, by how they ended.",
    SIMULATED: "Those of them that are marked as simulated.",
    TOKENS_NAME: "Tokens, as far as they are known; prompt is those that were not cached.",
}
_TOKEN_CLOCK, _QUEUE_CLOCK = "time_per_output_token", "queue"
_COUNTS = len(OUTCOMES) + len(TOKENS) + 1
_US_PER_SECOND = 1_000_000
_HOUR = timedelta(hours=1)
_LOOK_BACK = timedelta(days=1)
_REMEMBERED_HOURS = 2
_HOURS_AT_ONCE = 24
Pair = tuple[str, str]
Sums = dict[Pair, "RequestSum"]


@dataclass(slots=True)
class _Series:
    """What is known under one pair of labels, and what is told of it."""

    edges: tuple[tuple[int, ...], ...]
    truth: list[int]
    told: list[int]
    slowest: list[Slowest | None]
    shown: list[bool]
    begun: list[datetime | None]
    figures: list[Published] = field(default_factory=list)
    is_settled: bool = False

    def parts(self) -> Iterator[tuple[int, slice, int]]:
        """Yield the number of each part of the values, where it stands, and where its number of requests does.

        The first part is the counts, which every series has; then comes one a clock.
        """
        yield 0, slice(0, _COUNTS), 0
        for number, at in enumerate(_counts_at(self.edges), start=1):
            yield number, slice(at - len(self.edges[number - 1]), at + 2), at


@dataclass(slots=True, kw_only=True)
class RequestCounters:
    """The counters since `since`; what `read` brings up to date `figures` publishes."""

    clocks: tuple[Measured, ...]
    pairs: AdmittedPairs
    since: datetime
    _as_of: datetime | None = None
    _series: dict[Pair, _Series] = field(default_factory=dict)
    _hours: dict[int, Sums] = field(default_factory=dict)

    def read(self, store: Store, as_of: datetime) -> None:
        """Count what was stored up to `as_of`; where that fails nothing was counted."""
        before = self._as_of
        if before is None:
            self._begin(store)
            before = self.since
        if as_of <= before:
            return
        hours = changed_hours(store, to_us(before), as_of)
        changes: list[tuple[Sums, Sums]] = []
        remembered: dict[int, Sums] = dict(self._hours)
        late = hours[:-_REMEMBERED_HOURS]
        for first, last in runs((hour // HOUR_US for hour in late), most=_HOURS_AT_ONCE):
            window = Interval(start=from_us(first * HOUR_US), end=from_us((last + 1) * HOUR_US))
            changes.append((self._sums(store, window, before), self._sums(store, window, as_of)))
            for number in range(first, last + 1):
                remembered.pop(number * HOUR_US, None)
        for hour in hours[-_REMEMBERED_HOURS:]:
            window = Interval(start=from_us(hour), end=from_us(hour) + _HOUR)
            known = remembered.get(hour)
            now = self._sums(store, window, as_of)
            changes.append((self._sums(store, window, before) if known is None else known, now))
            remembered[hour] = now
        self._hours = {hour: remembered[hour] for hour in sorted(remembered)[-_REMEMBERED_HOURS:]}
        self._as_of = as_of
        for earlier, now in changes:
            self._take(earlier, now)

    def figures(self, *, told: datetime | None) -> list[Published]:
        """Return every counter; `told` is as of when the newest figures are that somebody heard."""
        for pair, series in self._series.items():
            if series.is_settled:
                continue
            values, shown, is_held = list(series.told), list(series.shown), False
            for number, part, count_at in series.parts():
                shown[number] = shown[number] or bool(series.truth[count_at])
                if not shown[number]:
                    continue
                begun = series.begun[number]
                if begun is None:
                    series.begun[number] = self._as_of
                    is_held = True
                elif told is not None and told >= begun:
                    values[part] = map(max, series.told[part], series.truth[part])
                else:
                    is_held = True
            series.is_settled = not is_held
            if not series.figures or values != series.told or shown != series.shown:
                series.told, series.shown = values, shown
                series.figures = list(_figures(pair, series, self.clocks))
        return [each for series in self._series.values() for each in series.figures]

    def _begin(self, store: Store) -> None:
        """Begin with the series that there were lately, at 0."""
        window = Interval(start=self.since - _LOOK_BACK, end=self.since)
        for tenant, model, has in known_pairs(store, window, self.clocks, most=self.pairs.most):
            series = self._of(self.pairs.of(tenant, model), tenant)
            series.shown = [True, *map(or_, series.shown[1:], has)]
        self._as_of = self.since

    def _sums(self, store: Store, window: Interval, as_of: datetime) -> Sums:
        return {(each.tenant, each.model): each for each in request_sums(store, window, as_of, self.clocks)}

    def _take(self, earlier: Sums, now: Sums) -> None:
        for key in sorted({*earlier, *now}):
            old, new = earlier.get(key), now.get(key)
            if old is not None and new is not None and old.values == new.values:
                continue
            values: Sequence[int]
            if old is None:
                values = () if new is None else new.values
            else:
                values = (
                    list(map(sub, new.values, old.values))
                    if new is not None
                    else [-each for each in old.values]
                )
            pair = self.pairs.of(*key)
            series = self._of(pair, key[0])
            own = tuple(each.edges_of(key[0]) for each in self.clocks)
            series.truth = list(map(add, series.truth, _fitted(values, own, series.edges)))
            series.is_settled = False
            if new is not None:
                series.slowest = [
                    fresh or kept for fresh, kept in zip(new.slowest, series.slowest, strict=True)
                ]

    def _of(self, pair: Pair, tenant: str) -> _Series:
        series = self._series.get(pair)
        if series is None:
            edges = tuple(each.edges if pair[0] == OTHER else each.edges_of(tenant) for each in self.clocks)
            width = _COUNTS + sum(len(each) + 2 for each in edges)
            series = self._series[pair] = _Series(
                edges=edges,
                truth=[0] * width,
                told=[0] * width,
                slowest=[None] * len(edges),
                shown=[True, *(False for _ in edges)],
                begun=[None] * (len(edges) + 1),
            )
        return series


def _counts_at(edges: Sequence[Sequence[int]]) -> Iterator[int]:
    """Yield where among the values the number of each clock's observations stands."""
    at = _COUNTS
    for each in edges:
        yield at + len(each)
        at += len(each) + 2


def _fitted(
    values: Sequence[int], own: Sequence[tuple[int, ...]], wanted: Sequence[tuple[int, ...]]
) -> Sequence[int]:
    """Return values counted at the edges `own` as counted at `wanted`, which are all among them."""
    if tuple(own) == tuple(wanted):
        return values
    fitted, at = list(values[:_COUNTS]), _COUNTS
    for there, here in zip(own, wanted, strict=True):
        counted = dict(zip(there, values[at : at + len(there)], strict=True))
        fitted += [counted[edge] for edge in here]
        fitted += values[at + len(there) : at + len(there) + 2]
        at += len(there) + 2
    return fitted


def _figures(pair: Pair, series: _Series, clocks: Sequence[Measured]) -> Iterator[Published]:
    labels = {"tenant": pair[0], "model": pair[1]}
    told = series.told
    for outcome, value in zip(OUTCOMES, told, strict=False):
        yield _counter(REQUESTS, value, {**labels, "outcome": str(outcome)})
    for name, value in zip(TOKENS, told[len(OUTCOMES) :], strict=False):
        yield _counter(TOKENS_NAME, value, {**labels, "class": name})
    yield _counter(SIMULATED, told[_COUNTS - 1], labels)
    for number, (clock, edges, count_at) in enumerate(
        zip(clocks, series.edges, _counts_at(series.edges), strict=True)
    ):
        if not series.shown[number + 1]:
            continue
        named = {DURATIONS: {**labels, "clock": clock.clock}}
        if clock.clock == _TOKEN_CLOCK:
            named = {OUTPUT_TIME: labels}
        elif clock.clock == _QUEUE_CLOCK:
            named[QUEUE] = labels
        for name, said in named.items():
            yield _histogram(name, said, told, edges=edges, count_at=count_at, slowest=series.slowest[number])


@lru_cache(maxsize=256)
def _seconds(edges: tuple[int, ...]) -> tuple[float, ...]:
    """Return edges in seconds: one object for all series that have them."""
    return tuple(each / _US_PER_SECOND for each in edges)


def _counter(name: str, value: int, labels: dict[str, str]) -> Figure:
    return Figure(name=name, about=ABOUT[name], value=value, labels=labels, kind="counter")


def _histogram(
    name: str,
    labels: dict[str, str],
    told: Sequence[int],
    *,
    edges: tuple[int, ...],
    count_at: int,
    slowest: Slowest | None,
) -> HistogramFigure:
    count, exemplar = told[count_at], None
    if slowest is not None and count:
        exemplar = Exemplar(
            trace_id=slowest.trace_id,
            value=slowest.value_us / _US_PER_SECOND,
            at_seconds=slowest.received_us / _US_PER_SECOND,
        )
    return HistogramFigure(
        name=name,
        about=ABOUT[name],
        labels=labels,
        edges=_seconds(edges),
        counts=(*told[count_at - len(edges) : count_at], count),
        total=told[count_at + 1] / _US_PER_SECOND,
        exemplar=exemplar,
    )
