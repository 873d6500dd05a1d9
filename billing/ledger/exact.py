"""Own exact amounts as text: ``0.0015`` where the decimals end, else a quotient such as ``1/3``."""

from __future__ import annotations

from fractions import Fraction

_MOST_PLACES = 60


def write_exact(value: Fraction) -> str:
    """Return the one text of `value`: plain decimals without trailing zeros, else numerator/denominator."""
    places = _places(value.denominator)
    if places is None:
        return f"{value.numerator}/{value.denominator}"
    digits = str(abs(value.numerator) * 10**places // value.denominator).rjust(places + 1, "0")
    sign = "-" if value < 0 else ""
    return f"{sign}{digits[:-places]}.{digits[-places:]}" if places else f"{sign}{digits}"


def read_exact(text: str) -> Fraction:
    """Return what `write_exact` wrote; ValueError for any other text, such as ``1.50`` or ``2/6``."""
    value = Fraction(text)
    if write_exact(value) != text:
        raise ValueError(f"an exact amount is written {write_exact(value)}, not {text}")
    return value


def _places(denominator: int) -> int | None:
    """Return how many decimals a fraction in lowest terms has; None where they do not end, or are too many."""
    counts = []
    for prime in (2, 5):
        count = 0
        while denominator % prime == 0:
            denominator //= prime
            count += 1
        counts.append(count)
    return max(counts) if denominator == 1 and max(counts) <= _MOST_PLACES else None
