"""Own how the numbers of an exposition are read: exactly, or not at all.

Python's own ``float`` takes more than an exporter may write (underscores, other scripts' digits, white space) and makes
infinity of a number that is merely too large.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collectors.vllm_metrics.exposition.samples import Number

_DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:\.([0-9]*))?|\.[0-9]+)([eE][+-]?[0-9]+)?")
_INFINITE = re.compile(r"([+-]?)inf(?:inity)?", re.IGNORECASE)
_EXACT_BELOW = 2.0**53
_LONGEST_DIGITS = 309  # of the largest float
_US_PER_MS = 1_000
_DIGITS_OF_US = 6
_LAST_US = 253_402_300_800_000_000  # the year 10000


def read_number(text: str) -> Number | None:
    """Read a value; None for NaN. Raises `ValueError` where `text` is none, or larger than a float can be.

    `17`, `17.0` and `1.7e1` are the int 17. Digits without an exponent are kept exactly beyond 2^53 as well.
    """
    digits = text.removesuffix(".0")
    if digits.isdigit() and digits.isascii() and len(digits) <= _LONGEST_DIGITS:
        return int(digits)  # almost every number of a scrape
    match = _DECIMAL.fullmatch(text)
    if match is None:
        return _read_special(text)
    fraction, exponent = match.groups()
    if exponent is None and not (fraction or "").strip("0") and not text.startswith((".", "+.", "-.")):
        digits = text.partition(".")[0]
        if len(digits) > _LONGEST_DIGITS:
            raise ValueError("value: larger than a number can be")
        whole = int(digits)
        return whole if whole or text[0] != "-" else 0
    number = float(text)
    if math.isinf(number):
        raise ValueError("value: larger than a number can be")
    return int(number) if number.is_integer() and abs(number) < _EXACT_BELOW else number


def _read_special(text: str) -> float | None:
    if text.lower() == "nan":
        return None
    match = _INFINITE.fullmatch(text)
    if match is None:
        raise ValueError("value: not a number")
    return -math.inf if match[1] == "-" else math.inf


def read_milliseconds(text: str) -> int:
    """Read a timestamp of the text format, ms since 1970, and return µs. Raises `ValueError`."""
    if not re.fullmatch(r"[+-]?[0-9]{1,16}", text):
        raise ValueError("timestamp: not a whole number of milliseconds")
    return _possible(int(text) * _US_PER_MS)


def read_seconds(text: str) -> int:
    """Read a timestamp of OpenMetrics, seconds since 1970, and return µs, cut. Raises `ValueError`."""
    match = re.fullmatch(r"([+-]?)([0-9]{1,13})(?:\.([0-9]*))?", text)
    if match is not None:  # digit by digit: a float has not enough of them for µs
        sign, whole, fraction = match.groups()
        us = int(whole) * 10**_DIGITS_OF_US + int((fraction or "").ljust(_DIGITS_OF_US, "0")[:_DIGITS_OF_US])
        return _possible(-us if sign == "-" else us)
    number = read_number(text)
    if number is None or math.isinf(number):
        raise ValueError("timestamp: not a number of seconds")
    return _possible(int(number * 10**_DIGITS_OF_US))


def _possible(timestamp_us: int) -> int:
    if abs(timestamp_us) >= _LAST_US:
        raise ValueError("timestamp: beyond the year 9999")
    return timestamp_us
