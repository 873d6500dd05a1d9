"""Own half-open intervals of time and their unions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_MICROSECONDS_PER_SECOND = 1_000_000
_SECONDS_PER_DAY = 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """The instants `start` <= t < `end`; given aware, kept in UTC."""

    start: datetime
    end: datetime

    def __post_init__(self) -> None:
        """Refuse naive instants and an end before the start."""
        if self.start.tzinfo is None or self.end.tzinfo is None:
            raise ValueError(f"an interval needs aware instants, not {self.start!r} and {self.end!r}")
        # two instants of one zone are subtracted by their faces, an hour off across a change of clocks
        object.__setattr__(self, "start", self.start.astimezone(UTC))
        object.__setattr__(self, "end", self.end.astimezone(UTC))
        if self.end < self.start:
            raise ValueError(f"an interval cannot end ({self.end}) before it starts ({self.start})")

    @property
    def length_us(self) -> int:
        """Return the length in microseconds, exactly."""
        delta = self.end - self.start
        seconds = delta.days * _SECONDS_PER_DAY + delta.seconds
        return seconds * _MICROSECONDS_PER_SECOND + delta.microseconds


def merge(intervals: Iterable[Interval]) -> list[Interval]:
    """Return the union as disjoint, non-empty intervals in time order; touching ones become one."""
    merged: list[Interval] = []
    for interval in sorted(intervals, key=lambda each: (each.start, each.end)):
        if interval.start == interval.end:
            continue
        if merged and interval.start <= merged[-1].end:
            if interval.end > merged[-1].end:
                merged[-1] = Interval(start=merged[-1].start, end=interval.end)
        else:
            merged.append(interval)
    return merged


def shared(one: Interval, other: Interval) -> Interval | None:
    """Return the instants that two intervals share; None where there are none."""
    start, end = max(one.start, other.start), min(one.end, other.end)
    return Interval(start=start, end=end) if start < end else None


def clip(intervals: Iterable[Interval], window: Interval) -> list[Interval]:
    """Return what of the union of `intervals` lies in `window`."""
    return merge(inside for each in intervals if (inside := shared(each, window)) is not None)


def total_us(intervals: Iterable[Interval]) -> int:
    """Return the length of the union of `intervals` in microseconds; overlaps count once."""
    return sum(each.length_us for each in merge(intervals))
