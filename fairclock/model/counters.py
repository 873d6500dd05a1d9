"""Own how readings of a counter become increases: across restarts, gaps and first readings, without extrapolation.

A counter belongs to a process, and `Point.since_us` tells which: readings of two processes behind one address are told
apart by it, and a restart is a new process and no drop. Only where nothing tells since when a counter counts, a drop is
read as a restart, and one that does not show is not excluded. What was counted between the last reading of a process
and its end is known to nobody.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from fairclock.model.counter_streams import Number, Point, Step, steps_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Increase", "Number", "Point", "increases"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Increase:
    """What a counter says of ``[start_us, end_us)``.

    counted: what readings within the interval show for the first time; it adds up over intervals, and over engines.
        None where no reading tells anything, which is not 0.
    at_least, at_most: what must, and what can, have happened within the interval; `at_most` is None without a bound.
    resets: how many times it began anew.
    """

    start_us: int
    end_us: int
    counted: Number | None = None
    at_least: Number = 0
    at_most: Number | None = None
    resets: int = 0

    def __add__(self, other: Increase) -> Increase:
        """Add what another counter says of the same interval."""
        if (self.start_us, self.end_us) != (other.start_us, other.end_us):
            raise ValueError("increases of two intervals do not add up")
        known = [each for each in (self.counted, other.counted) if each is not None]
        most = None if self.at_most is None or other.at_most is None else self.at_most + other.at_most
        return Increase(
            start_us=self.start_us,
            end_us=self.end_us,
            counted=sum(known) if known else None,
            at_least=self.at_least + other.at_least,
            at_most=most,
            resets=self.resets + other.resets,
        )


def increases(points: Iterable[Point], edges_us: Sequence[int]) -> list[Increase]:
    """Return the increase in each interval between two of `edges_us`, whatever the order of the readings.

    The first reading of a process counts whole if the process began after the first edge, or after the first reading of
    all; if it began earlier, what it shows was counted at an unknown time, and is no increase.
    """
    tallies = [_Tally() for _ in pairwise(edges_us)]
    steps = steps_of(points, watched_from_us=edges_us[0])
    for step in steps:
        _count(step, edges_us, tallies)
    known_from = min((step.from_us for step in steps), default=edges_us[-1])
    known_to = max((step.to_us for step in steps), default=edges_us[0])
    return [
        Increase(
            start_us=start,
            end_us=end,
            counted=tally.counted,
            at_least=tally.at_least,
            at_most=tally.at_most
            if tally.is_bounded and known_from < start and end <= known_to + 1
            else None,
            resets=tally.resets,
        )
        for tally, (start, end) in zip(tallies, pairwise(edges_us), strict=True)
    ]


@dataclass(slots=True)
class _Tally:
    """What is known of one interval so far."""

    counted: Number | None = None
    at_least: Number = 0
    at_most: Number = 0
    is_bounded: bool = True
    resets: int = 0


def _count(step: Step, edges_us: Sequence[int], tallies: list[_Tally]) -> None:
    """Enter `step` into the intervals that it touches; it happened after `from_us`, and up to `to_us`."""
    first = bisect_right(edges_us, step.from_us + 1) - 1
    last = bisect_right(edges_us, step.to_us) - 1
    for tally in tallies[max(first, 0) : max(last + 1, 0)]:
        tally.at_most += step.increase or 0
        tally.is_bounded = tally.is_bounded and not step.is_lossy
    if step.increase is None or not 0 <= last < len(tallies):
        return
    tallies[last].counted = (tallies[last].counted or 0) + step.increase
    tallies[last].resets += step.is_reset
    if first == last:
        tallies[last].at_least += step.increase
