"""Own exact amounts as text: ``0.0015`` where the decimals end, else a quotient such as ``1/3``."""

from __future__ import annotations

import re
from fractions import Fraction

_WRITTEN = re.compile(r"-?[0-9]+(?:[.][0-9]+|/[0-9]+)?")
_POWERS = tuple(10**places for places in range(61))


def write_exact(value: Fraction) -> str:
    """Return the one text of `value`: plain decimals without trailing zeros, else numerator/denominator."""
    numerator, denominator = value.numerator, value.denominator
    if denominator == 1:
        return str(numerator)
    places = next((each for each, power in enumerate(_POWERS) if power % denominator == 0), None)
    if places is None:
        # the decimals do not end, or are more than anybody writes
        return f"{numerator}/{denominator}"
    digits = str(abs(numerator) * (_POWERS[places] // denominator)).rjust(places + 1, "0")
    return f"{'-' if numerator < 0 else ''}{digits[:-places]}.{digits[-places:]}"


def read_exact(text: str) -> Fraction:
    """Return what `write_exact` wrote; ValueError for any other text, such as ``1.50`` or ``2/6``."""
    if not _WRITTEN.fullmatch(text):
        # 1e30000000 would take hours to be found out
        raise ValueError(f"an exact amount is written in plain digits, not {text[:40]}")
    value = Fraction(text)
    if write_exact(value) != text:
        raise ValueError(f"an exact amount is written {write_exact(value)}, not {text}")
    return value
