"""Own the months of a contract: local calendar months, cut to its term."""

from __future__ import annotations

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING

from fairclock.errors import UsageError
from fairclock.model import Interval
from fairclock.model.zones import day_start

if TYPE_CHECKING:
    from datetime import tzinfo

_MONTH = re.compile(r"([0-9]{4})-(0[1-9]|1[0-2])")
_MONTHS_PER_YEAR = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """The days on which a contract is in force; both ends included."""

    first_day: date
    last_day: date


def days_of_month(month: str) -> tuple[date, date]:
    """Return the first day of ``2026-10`` and the first day after it; UsageError if it is no month."""
    match = _MONTH.fullmatch(month)
    if match is None or match[1] in {"0000", "9999"}:
        raise UsageError("month", "not a month", found=month, remedy="write a year and a month, 2026-10")
    year, number = int(match[1]), int(match[2])
    after = date(year + number // _MONTHS_PER_YEAR, number % _MONTHS_PER_YEAR + 1, 1)
    return date(year, number, 1), after


def days_from_anniversary(month: str, anniversary: date) -> tuple[date, date]:
    """Return the first day of the month that begins in ``2026-10``, and the first day after it.

    It begins on the day of the month on which `anniversary` lies, or on the last day of a shorter month; so
    exactly one month begins in each calendar month. UsageError if it is no month.
    """
    first, after = days_of_month(month)
    return _same_day(first, anniversary.day), _same_day(after, anniversary.day)


def _same_day(month: date, day: int) -> date:
    return month.replace(day=min(day, monthrange(month.year, month.month)[1]))


def period_of_month(
    month: str, zone: tzinfo, term: Term | None = None, *, anniversary: date | None = None
) -> Interval:
    """Return the instants (UTC) of the local `month`, cut to `term`; UsageError if nothing is left.

    With `anniversary` it is the month that begins in `month`, on that date's day.
    """
    first, after = days_of_month(month) if anniversary is None else days_from_anniversary(month, anniversary)
    if term is not None:
        if first > term.last_day or after <= term.first_day:
            raise UsageError(
                f"month {month}",
                "the contract is not in force",
                found=f"its term is {term.first_day} to {term.last_day}",
                remedy="choose a month of the term",
            )
        first = max(first, term.first_day)
        after = min(after, term.last_day + timedelta(days=1))
    return Interval(start=day_start(first, zone), end=day_start(after, zone))
