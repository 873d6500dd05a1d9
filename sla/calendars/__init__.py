"""Own the calendar of a contract: its zone, its months, its named periods, its holidays.

Everything here is arithmetic: no file, no store, no clock is read. Local times become instants by one rule,
written in `fairclock.model.zones`.
"""

from fairclock.model.zones import day_start, instant_of, instant_of_local, is_offset_zone, zone_of
from sla.calendars.days import WEEKDAY_NAMES, DaySelection
from sla.calendars.holidays import HolidayCalendar, Holidays, HolidaysUnknown
from sla.calendars.months import Term, period_of_month
from sla.calendars.periods import DailySpan, complement, intervals_of

__all__ = [
    "WEEKDAY_NAMES",
    "DailySpan",
    "DaySelection",
    "HolidayCalendar",
    "Holidays",
    "HolidaysUnknown",
    "Term",
    "complement",
    "day_start",
    "instant_of",
    "instant_of_local",
    "intervals_of",
    "is_offset_zone",
    "period_of_month",
    "zone_of",
]
