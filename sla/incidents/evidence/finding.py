"""Own what a piece of evidence is: a kind, the numbers of its sentence, and the tables they were read from."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

Number = int | Fraction | str | tuple[str, ...] | None
_SECOND_US = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What else was true during an incident. It names no cause: `numbers` are what was counted, and who reads judges.

    A number's name ends in its unit: `_seconds`, `_ratio` (a share), `_times` (a multiple), `_per_minute`, `_mean`, `_tau`; others are whole counts or names. None: not known.
    """

    kind: str
    numbers: Mapping[str, Number]
    sources: tuple[str, ...]


def seconds(microseconds: int | Fraction) -> Fraction:
    """Return microseconds as seconds."""
    return Fraction(microseconds) / _SECOND_US


def part(some: int, whole: int) -> Fraction | None:
    """Return `some` of `whole`; None where there is no whole."""
    return Fraction(some, whole) if whole else None


def mean(total: int, count: int) -> Fraction | None:
    """Return the mean in seconds of a sum in microseconds; None of nothing."""
    return seconds(Fraction(total, count)) if count else None


def per_minute(count: int, minutes: int) -> Fraction | None:
    """Return how many a minute; None of no time."""
    return Fraction(count, minutes) if minutes else None
