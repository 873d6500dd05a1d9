"""Own the evaluator: it finds the hours that changed, counts them for every contract, and writes what differs.

It may be stopped anywhere, run twice at once, or run again: what is read afterwards is the same. Up to where it
has come is noted last, for each version of a contract and for what the counting rests on beside the rows.
"""

from __future__ import annotations

import hashlib
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from fairclock.model import Interval, clip, from_us, merge, to_us
from fairclock.store.slices import (
    MINUTE_US,
    MinuteState,
    SliceKey,
    changed_hours,
    kept_in_memory,
    live_hours,
    note_progress,
    progress,
    slice_stage,
)
from sla.evaluation.excluded import NOTHING
from sla.grids import Grid
from sla.slices.counting import counted_by_minute, reach_us, term_of, way_of_counting
from sla.slices.view import OneWindow

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime

    from fairclock.store import Store
    from sla.contracts import Contract
    from sla.evaluation.excluded import Excluded

_FORMAT = "1"
"""Changes with what a slice means, so that all of them are counted anew."""
_HOUR_US = 3_600_000_000
_JOINED_GAP_HOURS = 6
_LONGEST_HOURS = 32 * 24
_KEPT_HOURS = 6
_WRITE_AT_MINUTES = 200_000


@dataclass(frozen=True, slots=True, kw_only=True)
class InForce:
    """One version of a contract, when it judges (`within` None: for its whole term), and what is left out."""

    contract: Contract
    within: Interval | None = None
    excluded: Excluded = NOTHING
    way: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Note how it counts, so that those who count alike are counted together."""
        object.__setattr__(self, "way", way_of_counting(self.contract))

    @property
    def key(self) -> SliceKey:
        """Return whose slices these are."""
        return SliceKey(self.contract.id, self.contract.version_sha256)

    @property
    def interval(self) -> Interval | None:
        """Return when it judges, cut to its term; None if never."""
        term = term_of(self.contract)
        inside = clip([self.within or term], term)
        return inside[0] if inside else None

    @property
    def inputs(self) -> str:
        """Return the hash of what its slices rest on beside the rows: another one means counting all anew."""
        interval = self.interval
        when = interval and (to_us(interval.start), to_us(interval.end))
        instants = [(to_us(each.start), to_us(each.end)) for each in merge(self.excluded.instants)]
        requests = self.excluded.requests
        said = repr((_FORMAT, when, instants, requests.sql, sorted(requests.parameters.items())))
        return hashlib.sha256(said.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pass:
    """What one evaluation did: read as of an instant, counted so many hours, wrote so many slices."""

    as_of: datetime
    hours: int
    written: int


def evaluate_slices(
    store: Store,
    versions: Sequence[InForce],
    *,
    window: Interval | None = None,
    as_of: datetime | None = None,
) -> Pass:
    """Count what changed since the last pass, or all of `window`, and write the slices that differ.

    Everything is read as of one instant, the store's watermark. Only a pass without a window moves the progress.
    """
    known = store.checked_as_of(as_of)
    as_of_us = to_us(known)
    hours_written = [0, 0]
    if window is not None:
        first, last = to_us(window.start) // _HOUR_US, -(-to_us(window.end) // _HOUR_US)
        hours = [number * _HOUR_US for number in range(first, last) if number * _HOUR_US < as_of_us]
        hours_written[:] = _count_hours(store, versions, hours, known)
        return Pass(as_of=known, hours=hours_written[0], written=hours_written[1])
    for since_us, group in _by_progress(store, versions).items():
        if since_us >= as_of_us:
            continue
        found = _count_hours(store, group, changed_hours(store, since_us, known), known)
        hours_written = [one + other for one, other in zip(hours_written, found, strict=True)]
        note_progress(store, {each.key: each.inputs for each in group}, known)
    return Pass(as_of=known, hours=hours_written[0], written=hours_written[1])


def _by_progress(store: Store, versions: Iterable[InForce]) -> dict[int, list[InForce]]:
    """Return the versions by the instant (µs) up to which their slices hold; 0 for those that have none."""
    done: dict[str, dict[SliceKey, datetime]] = {}
    groups: dict[int, list[InForce]] = {}
    for version in versions:
        inputs = version.inputs
        if inputs not in done:
            done[inputs] = progress(store, inputs)
        since = done[inputs].get(version.key)
        groups.setdefault(0 if since is None else to_us(since), []).append(version)
    return groups


def _count_hours(
    store: Store, versions: Sequence[InForce], hours: Sequence[int], as_of: datetime
) -> tuple[int, int]:
    """Count `hours` (starts in µs) for `versions`; return how many hours were looked at and slices written."""
    looked_at = written = 0
    in_force = [(each, interval) for each in versions if (interval := each.interval) is not None]
    reach = max((reach_us(each.contract) for each, _ in in_force), default=0)
    for window in _windows(hours, reach, as_of):
        wanted = [(each, inside[0]) for each, interval in in_force if (inside := clip([interval], window))]
        if wanted:
            looked_at += -(-window.length_us // _HOUR_US)
            written += _count_window(store, wanted, window, as_of)
    return looked_at, written


def _windows(hours: Sequence[int], reach: int, as_of: datetime) -> list[Interval]:
    """Return few windows that hold `hours` and what they reach into, none beyond the minute of `as_of`."""
    windows: list[list[int]] = []
    for hour in sorted(hours):
        last = windows[-1] if windows else None
        if (
            last is not None
            and hour - last[1] <= _JOINED_GAP_HOURS * _HOUR_US
            and hour - last[0] < _LONGEST_HOURS * _HOUR_US
        ):
            last[1] = hour + _HOUR_US
        else:
            windows.append([hour, hour + _HOUR_US])
    end_us = -(-to_us(as_of) // MINUTE_US) * MINUTE_US
    minutes = -(-reach // MINUTE_US) * MINUTE_US
    return [
        Interval(start=from_us(first), end=from_us(min(last + minutes, end_us)))
        for first, last in windows
        if first < end_us
    ]


def _count_window(
    store: Store, versions: Sequence[tuple[InForce, Interval]], window: Interval, as_of: datetime
) -> int:
    """Count one window for the versions that judge in it, each within its own part; return slices written."""
    before = timedelta(microseconds=max(reach_us(each.contract) for each, _ in versions))
    source = Interval(start=window.start - before, end=window.end)
    written = staged_minutes = 0
    with ExitStack() as stack:
        live = live_hours(store, source, as_of)
        view = OneWindow(store, source, as_of)
        if live and source.length_us <= _KEPT_HOURS * _HOUR_US:
            # joined once, and not again for every contract
            view.serve(stack.enter_context(kept_in_memory(store, view.requests_as_of(source, as_of))))
        stage = stack.enter_context(slice_stage(store, _minutes(view, window, as_of, live), as_of))
        for group, inside in _alike(versions):
            contracts = [each.contract for each in group]
            stage.add(
                [each.key for each in group],
                counted_by_minute(view, contracts, inside, as_of, excluded=group[0].excluded),
                inside,
            )
            staged_minutes += len(group) * inside.length_us // MINUTE_US
            if staged_minutes >= _WRITE_AT_MINUTES:
                written += stage.write()
                staged_minutes = 0
        return written + stage.write()


def _alike(
    versions: Iterable[tuple[InForce, Interval]],
) -> Iterator[tuple[list[InForce], Interval]]:
    """Yield groups that one query can count: alike, over one interval, no tenant twice, and not too many."""
    groups: dict[object, list[list[InForce]]] = {}
    intervals: dict[object, Interval] = {}
    for version, inside in versions:
        way = (version.way, inside, repr(version.excluded))
        intervals[way] = inside
        most = max(1, _WRITE_AT_MINUTES * MINUTE_US // max(inside.length_us, 1))
        tenants = set(version.contract.customer.tenants)
        for group in groups.setdefault(way, []):
            taken = {tenant for each in group for tenant in each.contract.customer.tenants}
            if len(group) < most and not taken & tenants:
                group.append(version)
                break
        else:
            groups[way].append([version])
    for key, found in groups.items():
        for group in found:
            yield group, intervals[key]


def _minutes(view: OneWindow, window: Interval, as_of: datetime, live: set[int]) -> list[MinuteState]:
    """Return every minute of `window`, with how much of it was read through and the seal of its hour."""
    start_us, end_us = to_us(window.start), to_us(window.end)
    grid = Grid(start_us=start_us, end_us=end_us, step_us=MINUTE_US)
    gateway, engine = (
        grid.shares([(to_us(each.start), to_us(each.end)) for each in view.covered(kind, window, as_of)])
        for kind in ("gateway", "engine")
    )
    seals = {to_us(hour): seal for hour, seal in view.seals_as_of(window, as_of)}
    states = []
    for place in range(grid.count):
        minute_us = start_us + place * MINUTE_US
        hour_us = minute_us // _HOUR_US * _HOUR_US
        seal = 0 if hour_us in live else seals.get(hour_us, 0)
        states.append(MinuteState(minute_us, gateway[place], engine[place], seal))
    return states
