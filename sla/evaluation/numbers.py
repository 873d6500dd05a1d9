"""Own how exact values become the report's JSON numbers."""

from __future__ import annotations

from datetime import UTC, datetime
from fractions import Fraction

_MICROSECONDS = 1_000_000


def seconds(microseconds: int | None) -> float | None:
    """Return microseconds as seconds, with the six decimals that they have; None stays None."""
    return None if microseconds is None else microseconds / _MICROSECONDS


def mean_seconds(microseconds: Fraction) -> float:
    """Return an exact mean as seconds, rounded half to even to the microsecond."""
    return round(microseconds) / _MICROSECONDS


def ratio(part: int | Fraction, whole: int | Fraction) -> float | None:
    """Return part/whole as the nearest float; None where there is no whole.

    A float tells apart any two ratios of counts below 10**7, so what is below a target prints below it.
    """
    return float(Fraction(part) / Fraction(whole)) if whole else None


def plain(value: Fraction) -> int | float:
    """Return an exact number as an integer where it is one, else as the nearest float."""
    return value.numerator if value.denominator == 1 else float(value)


def instant(moment: datetime) -> str:
    """Return an instant in UTC, with microseconds only where it has some."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
