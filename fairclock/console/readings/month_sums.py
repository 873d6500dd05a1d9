"""Own the sums of months over slices, kept from one question to the next.

A month of many contracts is millions of slices. So the stretch up to about an hour ago is kept, day by day, and a
question adds up what follows it; a day in which a slice was written since is added up anew. What comes out is what
adding up the whole month would give.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field, replace
from datetime import timedelta
from threading import Lock
from typing import TYPE_CHECKING

from fairclock.model import Interval
from fairclock.model.runs import runs
from fairclock.store.slice_buckets import ARRAYS, bucket_sums, changed_buckets, segment_sums
from fairclock.store.slices import MINUTE_US
from sla.tallies import Tally

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from fairclock.store import Store
    from fairclock.store.slice_buckets import Sums
    from fairclock.store.slices import SliceKey

_DAY = timedelta(days=1)
_HOUR = timedelta(hours=1)
_MINUTE = timedelta(microseconds=MINUTE_US)
_DAY_US = 86_400_000_000
_MOST = 512
"""Of months, each of those contracts that one caller may see, that are remembered; the latest asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MonthSum:
    """What slices of a month, or of a part of it, come to."""

    tallies: tuple[Tally, ...]
    requests: int
    queue_us: int
    queue_of_us: int
    gateway_us: int
    engine_us: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """What slices come to by version: their months (absent: no slice), and the tallies of each of the recent `windows`."""

    windows: Sequence[timedelta]
    months: Mapping[SliceKey, MonthSum]
    recent: Mapping[SliceKey, tuple[tuple[Tally, ...], ...]]


@dataclass(slots=True)
class _Kept:
    """The days of one month before `cut`, of some versions, as they were known at `as_of`."""

    as_of: datetime
    cut: datetime
    days: dict[int, dict[SliceKey, Sums]] = field(default_factory=dict)
    together: dict[SliceKey, Sums] = field(default_factory=dict)


class MonthSums:
    """The sums of months; usable from several threads, one of which adds up at a time."""

    def __init__(self) -> None:
        self._guard = Lock()
        self._kept: OrderedDict[tuple[Interval, tuple[SliceKey, ...]], _Kept] = OrderedDict()

    def read(
        self,
        store: Store,
        months: Mapping[SliceKey, Interval],
        as_of: datetime,
        windows: Sequence[timedelta] = (),
    ) -> Counted:
        """Return the sum of each version's month, up to and with the minute of `as_of`, and those of the last `windows`."""
        groups: dict[Interval, list[SliceKey]] = {}
        for key, month in months.items():
            groups.setdefault(month, []).append(key)
        with self._guard:
            wanted = {(month, tuple(sorted(keys))) for month, keys in groups.items()}
            kept = {key: self._brought_up(store, *key, as_of) for key in wanted}
            while len(self._kept) > _MOST:
                self._kept.popitem(last=False)
        end = _minute_after(as_of)
        cuts = {key: each.cut for group, each in kept.items() for key in group[1]}
        # read once: what the table keeps together is much longer than what is asked for
        starts = sorted({*(each for each in cuts.values() if each < end), *(end - each for each in windows)})
        segments: dict[SliceKey, dict[int, Sums]] = {}
        for (key, number), sums in segment_sums(store, list(months), starts, end, as_of=as_of).items():
            segments.setdefault(key, {})[number] = sums

        def since(key: SliceKey, start: datetime, until: datetime) -> list[Sums]:
            return [sums for number, sums in segments.get(key, {}).items() if start <= starts[number] < until]

        month_parts = {
            key: [
                *([each.together[key]] if key in each.together else []),
                *since(key, each.cut, month.end),
            ]
            for (month, keys), each in kept.items()
            for key in keys
        }
        return Counted(
            windows=windows,
            months={key: _month_sum(parts) for key, parts in month_parts.items() if parts},
            recent={
                key: tuple(
                    tallies_of(added(parts)) if (parts := since(key, end - window, end)) else ()
                    for window in windows
                )
                for key in segments
            },
        )

    def _brought_up(
        self, store: Store, month: Interval, keys: tuple[SliceKey, ...], as_of: datetime
    ) -> _Kept:
        """Return a month's days as they were known at `as_of`; of two questions the later one is kept."""
        kept = self._kept.get((month, keys))
        if kept is None or kept.as_of > as_of:
            kept = self._kept[month, keys] = _Kept(as_of=as_of, cut=month.start)
        self._kept.move_to_end((month, keys))
        self._bring_up(store, month, keys, kept, as_of)
        return replace(kept)

    def _bring_up(
        self, store: Store, month: Interval, keys: tuple[SliceKey, ...], kept: _Kept, as_of: datetime
    ) -> None:
        """Add up anew the days that changed, and those that have passed since."""
        before = Interval(start=month.start, end=kept.cut)
        stale = changed_buckets(store, keys, before, step_us=_DAY_US, after=kept.as_of, as_of=as_of)
        cut = max(kept.cut, _cut(month, as_of))
        if cut > kept.cut:
            first, last = (kept.cut - month.start) // _DAY, (cut - month.start - _MINUTE) // _DAY
            stale |= set(range(first, last + 1))
        for first, last in runs(sorted(stale)):
            window = Interval(start=month.start + first * _DAY, end=min(month.start + (last + 1) * _DAY, cut))
            found = bucket_sums(store, keys, window, step_us=_DAY_US, as_of=as_of)
            for day in range(first, last + 1):
                kept.days[day] = {}
            for (key, bucket), sums in found.items():
                kept.days[first + bucket][key] = sums
        if stale:
            kept.together = _together(kept.days)
        kept.as_of, kept.cut = as_of, cut


def _together(days: Mapping[int, Mapping[SliceKey, Sums]]) -> dict[SliceKey, Sums]:
    by_key: dict[SliceKey, list[Sums]] = {}
    for each in days.values():
        for key, sums in each.items():
            by_key.setdefault(key, []).append(sums)
    return {key: added(found) for key, found in by_key.items()}


def added(found: list[Sums]) -> Sums:
    """Return the sums of several stretches together; an array as long as the longest."""
    if len(found) == 1:
        return found[0]
    width = len(found[0])
    together = []
    for place in range(width):
        columns = [each[place] for each in found]
        longest = max(map(len, columns))
        padded = [column + (0,) * (longest - len(column)) for column in columns]
        together.append(tuple(map(sum, zip(*padded, strict=True))))
    return tuple(together)


def tallies_of(sums: Sums) -> tuple[Tally, ...]:
    """Return a tally an objective."""
    good, bad, excluded, unknown = sums[: len(ARRAYS)]
    return tuple(
        Tally(good=one, bad=two, excluded=three, unknown=four)
        for one, two, three, four in zip(good, bad, excluded, unknown, strict=True)
    )


def _month_sum(found: list[Sums]) -> MonthSum:
    whole = added(found)
    requests, queue_us, queue_of_us, gateway_us, engine_us = whole[len(ARRAYS)]
    return MonthSum(
        tallies=tallies_of(whole),
        requests=requests,
        queue_us=queue_us,
        queue_of_us=queue_of_us,
        gateway_us=gateway_us,
        engine_us=engine_us,
    )


def _cut(month: Interval, as_of: datetime) -> datetime:
    """Return up to where slices seldom change any more: the last full hour but one, or the month's end."""
    hour = as_of.replace(minute=0, second=0, microsecond=0) - _HOUR
    return max(month.start, min(hour, month.end))


def _minute_after(instant: datetime) -> datetime:
    whole = instant.replace(second=0, microsecond=0)
    return whole if whole == instant else whole + _MINUTE
