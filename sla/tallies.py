"""Own how requests are told apart for one objective: good, bad, excluded, unknown; each is one of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Whole requests. `unknown` ones lack the value that would judge them; the contract says what they count as."""

    good: int = 0
    bad: int = 0
    excluded: int = 0
    unknown: int = 0

    def __post_init__(self) -> None:
        """Refuse counts below zero."""
        if min(self.good, self.bad, self.excluded, self.unknown) < 0:
            raise ValueError(f"a count cannot be negative ({self})")

    def __add__(self, other: Tally) -> Tally:
        """Return the tally of two disjoint sets of requests together."""
        return Tally(
            good=self.good + other.good,
            bad=self.bad + other.bad,
            excluded=self.excluded + other.excluded,
            unknown=self.unknown + other.unknown,
        )

    @property
    def total(self) -> int:
        """Return all of them."""
        return self.good + self.bad + self.excluded + self.unknown

    def counted(self, *, unknown_is_bad: bool) -> int:
        """Return n: what is judged, unknown ones among it where the contract calls them bad."""
        return self.good + self.bad + (self.unknown if unknown_is_bad else 0)

    def spent(self, *, unknown_is_bad: bool) -> int:
        """Return how many of n are bad."""
        return self.bad + (self.unknown if unknown_is_bad else 0)


def total_of(tallies: Iterable[Tally]) -> Tally:
    """Return all of them together; of none, nothing."""
    whole = Tally()
    for tally in tallies:
        whole += tally
    return whole
