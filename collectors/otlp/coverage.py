"""Own which event time a listening receiver has read through.

A receiver that was up, and heard nothing for an hour, has read that hour: there was nothing to hear. One that
is handed last month's spans in its first minute has not read the month in between. The two are told apart by
durations, each on its own clock: a gap in event time is covered if it is no longer than the receiver has
listened, with a minute's allowance for spans that were under way.

Spans that were refused are known to exist. No gap that holds the end of one is covered, until it comes again.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_ALLOWANCE_US = 60_000_000
_US_PER_SECOND = 1_000_000
_NS_PER_US = 1_000
_EARLIEST_NS = 946_684_800_000_000_000  # 2000-01-01; earlier and later times are clocks that are not set
_LATEST_NS = 4_102_444_800_000_000_000  # 2100-01-01
_MOST_PIECES = 10_000
_MOST_REFUSED = 200_000
_MOST_LOST = 1_000


class ListeningCoverage:
    """Collect the ends of spans, as they arrive, into pieces of event time: (from, to) in µs since 1970."""

    def __init__(self, pieces: Sequence[tuple[int, int]] = ()) -> None:
        """Go on from `pieces`, in order, which were covered before."""
        self._starts_us = [start for start, _ in pieces]
        self._ends_us = [end for _, end in pieces]
        self._refused_us: list[int] = []
        self._lost_us: list[tuple[int, int]] = []

    def copy(self) -> Self:
        """Return the same, to be changed on its own."""
        copied = type(self)()
        copied._starts_us, copied._ends_us = self._starts_us.copy(), self._ends_us.copy()  # noqa: SLF001
        copied._refused_us, copied._lost_us = self._refused_us.copy(), self._lost_us.copy()  # noqa: SLF001
        return copied

    def latest(self, most: int) -> list[tuple[int, int]]:
        """Return the last pieces, `most` of them at most, in order."""
        return list(zip(self._starts_us[-most:], self._ends_us[-most:], strict=True))

    def observe(self, ends_ns: Iterable[int], *, listened_seconds: float) -> list[tuple[int, int]]:
        """Take the ends of one request's spans and return what is covered now and was not before.

        `listened_seconds` is how long the receiver has been up.
        """
        allowed_us = int(listened_seconds * _US_PER_SECOND) + _ALLOWANCE_US
        new: list[tuple[int, int]] = []
        for end_us in _instants(ends_ns):
            self._forgive(end_us)
            self._add(end_us, allowed_us, new)
        return new

    def refuse(self, ends_ns: Iterable[int]) -> None:
        """Take note of spans that a sender was told to send again."""
        for end_us in _instants(ends_ns):
            at = bisect_left(self._refused_us, end_us)
            if self._refused_us[at : at + 1] != [end_us]:
                self._refused_us.insert(at, end_us)
        if len(self._refused_us) > _MOST_REFUSED:  # too many to wait for one by one: given up, oldest first
            half = self._refused_us[: _MOST_REFUSED // 2]
            del self._refused_us[: len(half)]
            self._lost_us.append((half[0], half[-1]))
            self._forget_oldest_losses()

    def lose(self, lost_ns: Iterable[tuple[int, int]]) -> None:
        """Take note of time, (from, to), of which a sender lost spans for good."""
        for start_ns, end_ns in lost_ns:
            if _EARLIEST_NS <= start_ns <= end_ns < _LATEST_NS:
                self._lost_us.append((start_ns // _NS_PER_US, end_ns // _NS_PER_US))
        self._forget_oldest_losses()

    def _forget_oldest_losses(self) -> None:
        """Keep a bounded number; the two oldest become one, which covers less and never more."""
        while len(self._lost_us) > _MOST_LOST:
            (first, last), (other_first, other_last) = self._lost_us[:2]
            self._lost_us[:2] = [(min(first, other_first), max(last, other_last))]

    def _forgive(self, end_us: int) -> None:
        at = bisect_left(self._refused_us, end_us)
        if self._refused_us[at : at + 1] == [end_us]:
            del self._refused_us[at]

    def _add(self, end_us: int, allowed_us: int, new: list[tuple[int, int]]) -> None:
        after = bisect_right(self._starts_us, end_us)
        before = after - 1
        if before >= 0 and end_us <= self._ends_us[before]:
            return
        if before >= 0 and self._was_heard(self._ends_us[before], end_us, allowed_us):
            _extend(new, self._ends_us[before], end_us)
            self._ends_us[before] = end_us
        else:
            before = after
            self._starts_us.insert(before, end_us)
            self._ends_us.insert(before, end_us)
        following = before + 1
        if following < len(self._starts_us) and self._was_heard(
            end_us, self._starts_us[following], allowed_us
        ):
            _extend(new, end_us, self._starts_us[following])
            self._ends_us[before] = self._ends_us.pop(following)
            del self._starts_us[following]
        if len(self._starts_us) > _MOST_PIECES:
            del self._starts_us[0], self._ends_us[0]

    def _was_heard(self, start_us: int, end_us: int, allowed_us: int) -> bool:
        """Return whether nothing can have been missed between two ends that follow each other."""
        if end_us - start_us > allowed_us:
            return False
        at = bisect_right(self._refused_us, start_us)
        if at < len(self._refused_us) and self._refused_us[at] < end_us:
            return False
        return not any(first < end_us and last > start_us for first, last in self._lost_us)


def _instants(ends_ns: Iterable[int]) -> list[int]:
    return sorted({end_ns // _NS_PER_US for end_ns in ends_ns if _EARLIEST_NS <= end_ns < _LATEST_NS})


def _extend(new: list[tuple[int, int]], start_us: int, end_us: int) -> None:
    if new and new[-1][1] == start_us:
        new[-1] = (new[-1][0], end_us)
    else:
        new.append((start_us, end_us))
