"""Own how durations, percentages, numbers, dates and times of day are read from text and written back.

Nothing passes through a float. Digits are ASCII: a full-width ``９９`` is refused, not guessed.
"""

from __future__ import annotations

import re
from datetime import date
from decimal import Decimal
from fractions import Fraction

MICROSECONDS = {
    "us": 1,
    "ms": 1_000,
    "s": 1_000_000,
    "m": 60_000_000,
    "h": 3_600_000_000,
    "d": 86_400_000_000,
}
MINUTES_PER_DAY = 1_440
_DURATION = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,9})?)(us|ms|s|m|h|d)")
_NUMBER = re.compile(r"[0-9]{1,18}(?:\.[0-9]{1,18})?")
_COUNT = re.compile(r"[0-9]{1,18}")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME_OF_DAY = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])|24:00")
_MINUTES_PER_HOUR = 60
_HUNDRED = 100
_MOST_PLACES = 40
_WRITTEN = (
    ("d", 7 * MICROSECONDS["d"]),
    *((unit, MICROSECONDS[unit]) for unit in ("h", "m", "s")),
)
_YEARS = range(2000, 2200)


class QuantityError(ValueError):
    """Text that is not the quantity asked for, with what to write instead."""

    def __init__(self, problem: str, remedy: str) -> None:
        """Keep problem and remedy apart."""
        self.problem = problem
        self.remedy = remedy
        super().__init__(f"{problem}; {remedy}")


def read_duration_us(text: str) -> int:
    """Read ``2s``, ``300ms``, ``1.5s``, ``72h``, ``30d`` as whole microseconds, exactly."""
    match = _DURATION.fullmatch(text)
    if match is None:
        raise QuantityError("is not a duration", _duration_remedy(text))
    microseconds = Fraction(match[1]) * MICROSECONDS[match[2]]
    if microseconds.denominator != 1:
        raise QuantityError("is finer than a microsecond", "write at most 6 decimals of a second")
    return int(microseconds)


def _duration_remedy(text: str) -> str:
    squeezed = re.sub(r"\s+", "", text.lower())
    squeezed = re.sub(r"(?:econds?|ecs?)$|(?<=m)in(?:ute)?s?$|(?<=h)(?:ou)?rs?$|(?<=d)ays?$", "", squeezed)
    if _DURATION.fullmatch(squeezed):
        return f"write {squeezed}"
    if _NUMBER.fullmatch(squeezed):
        return f"add the unit: {squeezed}ms, {squeezed}s, {squeezed}m, {squeezed}h or {squeezed}d"
    return "write a number and a unit without a space, such as 300ms, 1.5s, 5m, 72h, 30d"


def write_duration(microseconds: int) -> str:
    """Write a duration as files do: whole weeks and more in days, else hours, minutes, seconds or milliseconds."""
    for unit, least in _WRITTEN:
        if microseconds >= least and microseconds % MICROSECONDS[unit] == 0:
            return f"{microseconds // MICROSECONDS[unit]}{unit}"
    if microseconds >= MICROSECONDS["s"]:
        return f"{decimal_text(Fraction(microseconds, MICROSECONDS['s']))}s"
    return f"{decimal_text(Fraction(microseconds, MICROSECONDS['ms']))}ms"


def read_number(text: str) -> Decimal:
    """Read a number that is not negative, from its digits."""
    if not _NUMBER.fullmatch(text):
        squeezed = re.sub(r"(?<=[0-9])[_, ](?=[0-9])", "", text)
        raise QuantityError(
            "is not a number", f"write {squeezed}" if _NUMBER.fullmatch(squeezed) else "write digits only"
        )
    return Decimal(text)


def write_number(number: Decimal) -> str:
    """Write a number plainly, with the digits it was read with."""
    return f"{number:f}"


def read_count(text: str) -> int:
    """Read a whole number that is not negative."""
    if not _COUNT.fullmatch(text):
        squeezed = re.sub(r"(?<=[0-9])[_, ](?=[0-9])", "", text)
        remedy = f"write {squeezed}" if _COUNT.fullmatch(squeezed) else "write digits only"
        raise QuantityError("is not a whole number", remedy)
    return int(text)


def read_percent(text: str) -> Fraction:
    """Read ``99.9%`` as the ratio 999/1000."""
    number = text.removesuffix("%")
    if not _NUMBER.fullmatch(number) or number == text:
        remedy = f"write {number}%" if _NUMBER.fullmatch(number) else "write a number and %, such as 99.9%"
        raise QuantityError("is not a percentage", remedy)
    return Fraction(number) / 100


def write_percent(ratio: Fraction) -> str:
    """Write the ratio 999/1000 as ``99.9%``."""
    return f"{decimal_text(ratio * 100)}%"


def read_percentile(text: str) -> Fraction:
    """Read ``99`` or ``99.9``, a percentile above 0 and up to 100."""
    if not _NUMBER.fullmatch(text):
        bare = text.lower().strip("p% ")
        remedy = f"write {bare}" if _NUMBER.fullmatch(bare) else "write a number, such as 99 or 99.9"
        raise QuantityError("is not a percentile", remedy)
    value = Fraction(text)
    if not 0 < value <= _HUNDRED:
        raise QuantityError("is not between 0 and 100", "write a percentile such as 95, 99 or 99.9")
    return value


def decimal_text(value: Fraction) -> str:
    """Write a fraction whose decimals end as those decimals; others as a quotient."""
    places = 0
    scaled = value
    while scaled.denominator != 1 and places < _MOST_PLACES:
        places += 1
        scaled = value * 10**places
    if scaled.denominator != 1:
        return f"{value.numerator}/{value.denominator}"
    digits = f"{abs(scaled.numerator):0{places + 1}d}"
    sign = "-" if scaled < 0 else ""
    return f"{sign}{digits[:-places]}.{digits[-places:]}" if places else f"{sign}{digits}"


def read_date(text: str) -> date:
    """Read ``2026-01-31``."""
    if _DATE.fullmatch(text):
        try:
            day = date.fromisoformat(text)
        except ValueError as error:
            raise QuantityError("is a date that does not exist", "check month and day") from error
        if day.year in _YEARS:
            return day
        raise QuantityError("is not in a year that can be measured", "write a year from 2000 to 2199")
    raise QuantityError("is not a date", "write year, month and day, such as 2026-01-31")


def read_time_of_day(text: str) -> int:
    """Read ``09:30`` (to ``24:00``) as minutes after midnight."""
    match = _TIME_OF_DAY.fullmatch(text)
    if match is None:
        padded = f"0{text}"
        remedy = f'write "{padded}"' if _TIME_OF_DAY.fullmatch(padded) else 'write hours and minutes, "09:30"'
        raise QuantityError("is not a time of day", remedy)
    return MINUTES_PER_DAY if match[1] is None else int(match[1]) * _MINUTES_PER_HOUR + int(match[2])


def write_time_of_day(minutes: int) -> str:
    """Write minutes after midnight as ``09:30``."""
    return f"{minutes // _MINUTES_PER_HOUR:02d}:{minutes % _MINUTES_PER_HOUR:02d}"
