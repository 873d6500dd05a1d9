"""Own how much of a month a clause may take, and how that is used up: in time order, overlaps once."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from fairclock.model import Interval, merge

if TYPE_CHECKING:
    from collections.abc import Iterable
    from fractions import Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Cap:
    """A time, or a share of the month; exactly one of them is given."""

    duration_us: int | None = None
    share: Fraction | None = None


def cap_us(cap: Cap, *, period_us: int, whole_us: int, is_prorated: bool) -> int:
    """Return the cap in microseconds, rounded down.

    A share is one of what the term leaves of the month (`period_us`). A time is cut in the same proportion
    (to `whole_us`) where the contract prorates such months.
    """
    if cap.share is not None:
        return int(cap.share * period_us // 1)
    assert cap.duration_us is not None  # noqa: S101 - one of the two is given
    return cap.duration_us * period_us // whole_us if is_prorated and whole_us else cap.duration_us


def first_of(intervals: Iterable[Interval], length_us: int | None) -> list[Interval]:
    """Return the earliest `length_us` microseconds of the union of `intervals`; None takes all of it."""
    merged = merge(intervals)
    if length_us is None:
        return merged
    taken: list[Interval] = []
    left_us = length_us
    for each in merged:
        if left_us <= 0:
            break
        end = min(each.end, each.start + timedelta(microseconds=left_us))
        taken.append(Interval(start=each.start, end=end))
        left_us -= taken[-1].length_us
    return taken
