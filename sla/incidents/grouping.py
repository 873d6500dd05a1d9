"""Own which minutes of an objective are bad, and which bad minutes are one incident.

A minute is *bad* where a greater share of what counted was bad than the objective allows. It is *good* where
something counted and it is not bad. Where nothing counted it is *silent* if it was read through, else *unmeasured*.
Two bad minutes belong to one incident unless `GOOD_MINUTES` good ones, more than `SILENT_MINUTES` silent ones or more
than `UNMEASURED_MINUTES` unmeasured ones lie between them. So nothing that is not known ends an incident soon.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MINUTE_US = 60_000_000
GOOD_MINUTES = 5
SILENT_MINUTES = 60
UNMEASURED_MINUTES = 360
LEAST_BAD = 5
"""An incident has at least so many bad requests; fewer are mishaps."""
REACH_MINUTES = (GOOD_MINUTES - 1) + SILENT_MINUTES + UNMEASURED_MINUTES + 1
"""Two bad minutes that lie further apart are of two incidents, whatever lies between."""


class Minute(NamedTuple):
    """What counted in the minute that begins at `start_us`: of `counted` requests `bad` were, of which `share` is allowed."""

    start_us: int
    counted: int
    bad: int
    share: Fraction

    @property
    def is_bad(self) -> bool:
        """Say whether more was bad than is allowed; in whole numbers."""
        return self.bad * self.share.denominator > self.share.numerator * self.counted


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Bad minutes that belong together, with what counted from the first to the last of them, in time order.

    is_open: a bad minute right after the last known one would still belong to it.
    """

    minutes: tuple[Minute, ...]
    is_open: bool

    @property
    def start_us(self) -> int:
        """Return when its first bad minute begins."""
        return self.minutes[0].start_us

    @property
    def end_us(self) -> int:
        """Return when its last bad minute ends."""
        return self.minutes[-1].start_us + MINUTE_US

    @property
    def bad_minutes(self) -> tuple[Minute, ...]:
        """Return the bad ones."""
        return tuple(each for each in self.minutes if each.is_bad)

    @property
    def counted(self) -> int:
        """Return what counted from its start to its end."""
        return sum(each.counted for each in self.minutes)

    @property
    def bad(self) -> int:
        """Return how many of those were bad."""
        return sum(each.bad for each in self.minutes)

    @property
    def worst(self) -> Minute:
        """Return the bad minute with the greatest share of bad requests; of equal ones that with most, then the first."""
        return max(
            self.bad_minutes, key=lambda each: (Fraction(each.bad, each.counted), each.bad, -each.start_us)
        )

    @property
    def is_incident(self) -> bool:
        """Say whether enough went wrong to speak of it."""
        return sum(each.bad for each in self.bad_minutes) >= LEAST_BAD


def groups_of(minutes: Iterable[Minute], *, read_us: Sequence[int], known_to_us: int) -> list[Group]:
    """Return the groups of bad minutes, in time order.

    minutes: those of one objective in which something counted, each once, in any order.
    read_us: the starts of the minutes that were read through, in time order. known_to_us: what may be known by now ends
    there.
    """
    ordered = sorted((each for each in minutes if each.counted), key=lambda each: each.start_us)
    bad = [place for place, each in enumerate(ordered) if each.is_bad]
    if not bad:
        return []
    parts = [[bad[0]]]
    for earlier, later in pairwise(bad):
        if _is_linked(ordered, earlier, later, until_us=ordered[later].start_us, read_us=read_us):
            parts[-1].append(later)
        else:
            parts.append([later])
    now_us = known_to_us // MINUTE_US * MINUTE_US
    goes_on = _is_linked(ordered, parts[-1][-1], len(ordered), until_us=now_us, read_us=read_us)
    return [
        Group(minutes=tuple(ordered[part[0] : part[-1] + 1]), is_open=goes_on and part is parts[-1])
        for part in parts
    ]


def incidents_among(groups: Iterable[Group]) -> list[Group]:
    """Return the groups in which enough went wrong."""
    return [each for each in groups if each.is_incident]


def _is_linked(
    ordered: Sequence[Minute], earlier: int, later: int, *, until_us: int, read_us: Sequence[int]
) -> bool:
    """Say whether what lies between a bad minute and `until_us` leaves what comes then in the same incident."""
    good = later - earlier - 1
    if good >= GOOD_MINUTES:
        return False
    first_us = ordered[earlier].start_us
    read = bisect_left(read_us, until_us) - bisect_right(read_us, first_us)
    silent = read - sum(
        _is_among(read_us, each.start_us) for each in ordered[earlier + 1 : later] if each.start_us < until_us
    )
    between = max((until_us - first_us) // MINUTE_US - 1, 0)
    unmeasured = between - good - silent
    return silent <= SILENT_MINUTES and unmeasured <= UNMEASURED_MINUTES


def _is_among(read_us: Sequence[int], start_us: int) -> bool:
    place = bisect_left(read_us, start_us)
    return place < len(read_us) and read_us[place] == start_us
