"""Own promises about windows: a percentile of each window, and what the windows say together.

A window's value is a number of the promise's own unit (microseconds, or millionths of a token per second);
None where its rank falls on a request without one. Nothing here decides by a float.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from fractions import Fraction


class Window(NamedTuple):
    """One window: how many requests it counts, and its percentile or mean."""

    counted: int
    value: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowCount:
    """The windows that have requests, and how many requests lack the value that would judge them."""

    windows: tuple[Window, ...] = ()
    unknown: int = 0

    def __add__(self, other: WindowCount) -> WindowCount:
        """Return the windows of two disjoint periods together."""
        return WindowCount(windows=self.windows + other.windows, unknown=self.unknown + other.unknown)

    @property
    def requests(self) -> int:
        """Return how many requests all windows count."""
        return sum(window.counted for window in self.windows)


@dataclass(frozen=True, slots=True, kw_only=True)
class Combined:
    """What windows say together: of `windows` are `over`; `allowed` None where no number of them decides."""

    windows: int
    requests: int
    over: int
    allowed: int | None
    value: int | None
    kept: bool


def fast_enough(count: WindowCount, *, at_least: int, share: Fraction, min_requests: int) -> Combined:
    """Judge speeds: at least `share` of the windows reach `at_least`.

    The value is the speed that this share of the windows reaches, so that it and the count say the same.
    """
    judged = [window for window in count.windows if window.counted >= min_requests]
    speeds = sorted(window.value or 0 for window in judged)
    slow = sum(speed < at_least for speed in speeds)
    allowed = int((1 - share) * len(judged) // 1)
    return Combined(
        windows=len(judged),
        requests=sum(window.counted for window in judged),
        over=slow,
        allowed=allowed,
        value=speeds[allowed] if speeds else None,
        kept=slow <= allowed,
    )


def short_enough(count: WindowCount, *, at_most: int, combine: Literal["mean", "worst"]) -> Combined:
    """Judge durations: the worst window's, or the windows' mean; an unanswered one has no mean and is worst.

    The mean is rounded up to the microsecond; the comparison is made before.
    """
    windows = count.windows
    values = [window.value for window in windows if window.value is not None]
    over = len(windows) - len(values) + sum(value > at_most for value in values)
    all_answered = len(values) == len(windows)
    if combine == "worst":
        value = max(values, default=None)
        kept = over == 0
    else:
        value = -(-sum(values) // len(values)) if values else None
        kept = all_answered and sum(values) <= at_most * len(values)
    return Combined(
        windows=len(windows),
        requests=count.requests,
        over=over,
        allowed=0 if combine == "worst" else None,
        value=value if all_answered else None,
        kept=kept,
    )
