"""Own when a credit can be claimed: dates counted from the end of its month, in the contract's zone and calendar.

The month's end is its last day. ``5 workdays after month end`` is the fifth workday after it; ``2 months`` is the last day
of the second month after, so that a claim for February closes on the last of April, not on the 28th. A claim opens as its
day begins, and closes as its day ends.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING

from sla.calendars import HolidaysUnknown, day_start
from sla.calendars.months import days_of_month

if TYPE_CHECKING:
    from datetime import datetime, tzinfo

    from sla.calendars import HolidayCalendar
    from sla.contracts.remedies import AfterMonthEnd, Claim

_MONTHS_PER_YEAR = 12
_SATURDAY = 5
_DAY = timedelta(days=1)
_DAYS = {"day": 1, "week": 7}


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimWindow:
    """When a credit can be claimed: from `opens_at` on, until `closes_at`; None where it never closes."""

    opens_at: datetime
    closes_at: datetime | None
    last_day: date | None


def claim_window(
    claim: Claim | None, after_month: date, zone: tzinfo, holidays: HolidayCalendar | None
) -> ClaimWindow:
    """Return the window for a month whose first day after it is `after_month`; what the clause leaves out does not limit.

    Without a holiday calendar workdays are Monday to Friday. Where the calendar's year is not on record yet, a claim
    opens as if there were no holidays, and does not close.
    """
    last = after_month - _DAY
    opens, closes = after_month, None
    if claim is not None and claim.opens is not None:
        try:
            opens = date_after(last, claim.opens, holidays)
        except HolidaysUnknown:
            opens = date_after(last, claim.opens, None)
    if claim is not None and claim.closes is not None:
        with suppress(HolidaysUnknown):
            closes = date_after(last, claim.closes, holidays)
    return ClaimWindow(
        opens_at=day_start(opens, zone),
        closes_at=None if closes is None else day_start(closes + _DAY, zone),
        last_day=closes,
    )


def date_after(month_end: date, clause: AfterMonthEnd, holidays: HolidayCalendar | None) -> date:
    """Return the day that a clause names, counted from a month's last day."""
    if clause.unit == "workday":
        return _workdays_after(month_end, clause.number, holidays)
    if clause.unit == "month":
        return _months_after(month_end, clause.number)
    return month_end + timedelta(days=clause.number * _DAYS[clause.unit])


def _workdays_after(day: date, number: int, holidays: HolidayCalendar | None) -> date:
    left = number
    while left:
        day += _DAY
        left -= day.weekday() < _SATURDAY if holidays is None else holidays.is_workday(day)
    return day


def _months_after(day: date, number: int) -> date:
    """Return the same day so many months later; a month's last day stays a month's last."""
    months = day.year * _MONTHS_PER_YEAR + day.month - 1 + number
    year, month = divmod(months, _MONTHS_PER_YEAR)
    first, after = days_of_month(f"{year:04d}-{month + 1:02d}")
    last = after - _DAY
    is_last = (day + _DAY).day == 1
    return last if is_last or day.day > last.day else first.replace(day=day.day)
