"""Own rounding for display: a printed number stands on the same side of its threshold as the exact one."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_MOST_PLACES = 18
"""Beyond what any stored value can differ by: microseconds, or counts below 10**15."""


def exact(value: float | str | Decimal | Fraction) -> Fraction:
    """Return `value` as written; a float is taken at its shortest decimal form, the one that JSON shows."""
    if isinstance(value, Fraction):
        return value
    return Fraction(repr(value)) if isinstance(value, float) else Fraction(value)


def rounded(value: Fraction, places: int) -> Decimal:
    """Return `value` to `places` decimals, half to even."""
    return Decimal(round(value * 10**places)).scaleb(-places)


def places_beside(value: Fraction, thresholds: Iterable[Fraction], *, least: int) -> int:
    """Return the fewest decimals, at least `least`, that keep `value` where it is to every threshold.

    Below stays below, equal stays equal, above stays above. (A value equal to a threshold that has no
    finite decimal form gets 18 decimals.)
    """
    sides = [(threshold, _side(value, threshold)) for threshold in thresholds]
    for places in range(least, _MOST_PLACES):
        printed = Fraction(rounded(value, places))
        if all(_side(printed, threshold) == side for threshold, side in sides):
            return places
    return _MOST_PLACES


def _side(value: Fraction, threshold: Fraction) -> int:
    return (value > threshold) - (value < threshold)
