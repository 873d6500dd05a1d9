"""Own how a period is cut into intervals of one length, and how much of each lies in a set of instants.

Everything is whole microseconds since 1970. A grid begins where its period begins, so that it follows the
contract's zone; its last interval is cut where the period ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

Span = tuple[int, int]
"""A start and an end, not included, in microseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """Intervals of `step_us` from `start_us` on; the last one ends at `end_us`, however short it is."""

    start_us: int
    end_us: int
    step_us: int

    @property
    def count(self) -> int:
        """Return the number of intervals."""
        return -(-(self.end_us - self.start_us) // self.step_us)

    def ended_by(self, instant_us: int) -> Grid:
        """Return the grid of the intervals that have ended by an instant."""
        if instant_us >= self.end_us:
            return self
        whole = max(0, instant_us - self.start_us) // self.step_us
        return Grid(start_us=self.start_us, end_us=self.start_us + whole * self.step_us, step_us=self.step_us)

    def shares(self, spans: Sequence[Span]) -> list[int]:
        """Return how many microseconds of each interval lie in `spans`, which are disjoint."""
        found = [0] * self.count
        for start, end in spans:
            low, high = max(start, self.start_us), min(end, self.end_us)
            while low < high:
                place = (low - self.start_us) // self.step_us
                edge = min(high, self.start_us + (place + 1) * self.step_us)
                found[place] += edge - low
                low = edge
        return found


def intersection(first: Sequence[Span], second: Sequence[Span]) -> list[Span]:
    """Return the instants that lie in both; each is disjoint and in time order, and so is the answer."""
    found: list[Span] = []
    mine = theirs = 0
    while mine < len(first) and theirs < len(second):
        start = max(first[mine][0], second[theirs][0])
        end = min(first[mine][1], second[theirs][1])
        if start < end:
            found.append((start, end))
        if first[mine][1] <= second[theirs][1]:
            mine += 1
        else:
            theirs += 1
    return found
