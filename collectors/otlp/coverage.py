"""Own which event time a listening receiver has read through.

A receiver that was up, and heard nothing for an hour, has read that hour: there was nothing to hear. One that
is handed last month's spans in its first minute has not read the month in between. The two are told apart by
durations, each on its own clock: a gap in event time is covered if it is no longer than the receiver has
listened, with a minute's allowance for spans that were under way.
"""

from __future__ import annotations

from bisect import bisect_right
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from fairclock.model import Interval

if TYPE_CHECKING:
    from collections.abc import Iterable

_ALLOWANCE_US = 60_000_000
_US_PER_SECOND = 1_000_000
_NS_PER_US = 1_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EARLIEST_NS = 946_684_800_000_000_000  # 2000-01-01; earlier and later times are clocks that are not set
_LATEST_NS = 4_102_444_800_000_000_000  # 2100-01-01
_MOST_PIECES = 10_000


class ListeningCoverage:
    """Collect the ends of spans, as they arrive, into intervals of event time."""

    def __init__(self) -> None:
        self._starts_us: list[int] = []
        self._ends_us: list[int] = []
        self._new: list[tuple[int, int]] = []

    def observe(self, ends_ns: Iterable[int], *, listened_seconds: float) -> None:
        """Take the ends of one request's spans; `listened_seconds` is how long the receiver has been up."""
        allowed_us = int(listened_seconds * _US_PER_SECOND) + _ALLOWANCE_US
        for end_us in sorted(
            {end_ns // _NS_PER_US for end_ns in ends_ns if _EARLIEST_NS <= end_ns < _LATEST_NS}
        ):
            self._add(end_us, allowed_us)

    def take_new(self) -> list[Interval]:
        """Return what was covered since the last call."""
        new, self._new = self._new, []
        return [Interval(start=_instant(start), end=_instant(end)) for start, end in new if start < end]

    def give_back(self, intervals: Iterable[Interval]) -> None:
        """Take back what could not be written, for the next call of `take_new`."""
        self._new = [(_microseconds(each.start), _microseconds(each.end)) for each in intervals] + self._new

    def _add(self, end_us: int, allowed_us: int) -> None:
        after = bisect_right(self._starts_us, end_us)
        before = after - 1
        if before >= 0 and end_us <= self._ends_us[before]:
            return
        if before >= 0 and end_us - self._ends_us[before] <= allowed_us:
            self._cover(self._ends_us[before], end_us)
            self._ends_us[before] = end_us
        else:
            before = after
            self._starts_us.insert(before, end_us)
            self._ends_us.insert(before, end_us)
        following = before + 1
        if following < len(self._starts_us) and self._starts_us[following] - end_us <= allowed_us:
            self._cover(end_us, self._starts_us[following])
            self._ends_us[before] = self._ends_us.pop(following)
            del self._starts_us[following]
        if len(self._starts_us) > _MOST_PIECES:
            del self._starts_us[0], self._ends_us[0]

    def _cover(self, start_us: int, end_us: int) -> None:
        if self._new and self._new[-1][1] == start_us:
            self._new[-1] = (self._new[-1][0], end_us)
        else:
            self._new.append((start_us, end_us))


def _instant(microseconds: int) -> datetime:
    return _EPOCH + timedelta(microseconds=microseconds)


def _microseconds(instant: datetime) -> int:
    return (instant - _EPOCH) // timedelta(microseconds=1)
