"""Own how exact values become the report's JSON numbers."""

from __future__ import annotations

import math
from fractions import Fraction

_MICROSECONDS = 1_000_000


def seconds(microseconds: int | None) -> float | None:
    """Return microseconds as seconds, with the six decimals that they have; None stays None."""
    return None if microseconds is None else microseconds / _MICROSECONDS


def mean_seconds(microseconds: int, count: int) -> float | None:
    """Return a mean as seconds, rounded half to even to the microsecond; None where nothing was counted."""
    return round(Fraction(microseconds, count)) / _MICROSECONDS if count else None


def ratio(part: int, whole: int) -> float | None:
    """Return part/whole as the nearest float; None where there is no whole.

    Counts of a month and targets of a few decimals lie further apart than two floats, so what is below a
    target is written below it.
    """
    return part / whole if whole else None


def ratio_beside(value: Fraction | None, threshold: Fraction) -> float | None:
    """Return a ratio as a float that stays on its side of `threshold`; None stays None."""
    if value is None:
        return None
    shown, limit = float(value), float(threshold)
    return math.nextafter(limit, 0.0) if value < threshold and shown >= limit else shown


def plain(value: Fraction) -> int | float:
    """Return an exact number as an integer where it is one, else as the nearest float."""
    return value.numerator if value.denominator == 1 else float(value)
