"""Own what is known of one stretch of time: what was counted in it, and how well it was measured."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from fairclock.model import Interval

if TYPE_CHECKING:
    from datetime import datetime

    from sla.tallies import Tally


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """One window: its instants, what one objective counted in it, how much of it was read through.

    requests: everything in scope, whether or not the objective looks at it.
    queue_us, queue_of_us: the waiting and the whole time of the requests whose waiting is known.
    """

    interval: Interval
    tally: Tally
    covered_us: int
    requests: int = 0
    queue_us: int = 0
    queue_of_us: int = 0

    @property
    def coverage(self) -> Fraction | None:
        """Return the part that was read through; None for an empty window."""
        length = self.interval.length_us
        return Fraction(self.covered_us, length) if length else None

    @property
    def queue_share(self) -> Fraction | None:
        """Return the waiting as a share of the whole time; None where neither is known."""
        return Fraction(self.queue_us, self.queue_of_us) if self.queue_of_us else None

    def __add__(self, other: Window) -> Window:
        """Return two windows that touch, together."""
        if self.interval.end != other.interval.start:
            raise ValueError("windows add up where one begins as the other ends")
        return Window(
            interval=Interval(start=self.interval.start, end=other.interval.end),
            tally=self.tally + other.tally,
            covered_us=self.covered_us + other.covered_us,
            requests=self.requests + other.requests,
            queue_us=self.queue_us + other.queue_us,
            queue_of_us=self.queue_of_us + other.queue_of_us,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What an alert on one objective is judged by.

    began_at: when the contract came into force or the first data arrived, whichever was later.
    newest_at: the end of what was read through; None if nothing ever was.
    coverage_floor: below this share of a window read through, the window does not say that all is well.
    """

    now: datetime
    began_at: datetime
    newest_at: datetime | None
    unknown_is_bad: bool
    coverage_floor: Fraction = Fraction(9, 10)
