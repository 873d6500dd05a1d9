"""Own which dates are workdays, as the `holidays` library knows them; a year it does not know is refused."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Protocol

from fairclock.errors import NotEvaluable

if TYPE_CHECKING:
    from datetime import date

_PRACTICE_GIVEN_UP_BEFORE = 2018
"""Where the last moved workday on record is older than this, days are no longer moved."""
_DAYS_MOVED_WITH_SOURCE = 4
"""The library writes a moved day off as (month, day, from month, from day[, from year])."""
_NEWER_LIBRARY = (
    "use a Fairclock whose holidays library knows the year, or name weekdays in place of workdays"
)


class HolidaysUnknown(NotEvaluable):
    """The dates of a year are not on record (`year`), or a calendar does not exist at all (`year` None)."""

    def __init__(self, code: str, year: int | None, reason: str, remedy: str) -> None:
        """Say which calendar, which year, why, and what helps."""
        self.code = code
        self.year = year
        which = code if year is None else f"{code} {year}"
        super().__init__("calendar.holidays", reason, found=which, remedy=remedy)


class Holidays(Protocol):
    """What a period needs to know about days."""

    def is_workday(self, day: date) -> bool:
        """Tell whether people work on `day`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class YearOfHolidays:
    """One calendar's dates in one year: days off with their names, and weekend days that are worked."""

    off: tuple[tuple[date, str], ...]
    makeup: tuple[date, ...]
    weekend: frozenset[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class HolidayCalendar:
    """A country's calendar (``CN``, ``DE-BY``), with its makeup workdays (调休) or without."""

    code: str
    makeup_workdays: bool

    def is_workday(self, day: date) -> bool:
        """Tell whether people work on `day`; HolidaysUnknown where its year is not on record."""
        year = year_of_holidays(self.code, day.year, makeup_workdays=self.makeup_workdays)
        if day in year.makeup:
            return True
        return day.weekday() not in year.weekend and all(day != off for off, _ in year.off)

    def year(self, number: int) -> YearOfHolidays:
        """Return the dates of one year; HolidaysUnknown where they are not on record."""
        return year_of_holidays(self.code, number, makeup_workdays=self.makeup_workdays)


def library_version() -> str:
    """Return the version of the library that knows the dates."""
    return version("holidays")


def calendar_exists(code: str) -> bool:
    """Tell whether a calendar is known (asking for one is quicker than listing all)."""
    try:
        _from_library(code, _PRACTICE_GIVEN_UP_BEFORE)
    except HolidaysUnknown as unknown:
        return unknown.year is not None
    return True


def country_codes() -> frozenset[str]:
    """Return the codes of the calendars that exist, subdivisions included (``DE-BY``)."""
    import holidays  # noqa: PLC0415

    countries = holidays.list_supported_countries(include_aliases=False)
    divided = {f"{code}-{part}" for code, parts in countries.items() for part in parts}
    return frozenset(divided | set(countries))


@cache
def year_of_holidays(code: str, year: int, *, makeup_workdays: bool) -> YearOfHolidays:
    """Return the dates of `year`; HolidaysUnknown where they were not announced when the library was made."""
    dates = _from_library(code, year)
    horizon = _last_year_on_record(dates)
    if makeup_workdays and horizon is None:
        raise HolidaysUnknown(code, None, "this calendar moves no workdays", "write makeup_workdays: false")
    alive = horizon is not None and (makeup_workdays or horizon >= _PRACTICE_GIVEN_UP_BEFORE)
    if horizon is not None and alive and year > horizon:
        raise HolidaysUnknown(
            code,
            year,
            f"moved workdays are on record up to {horizon} only, and are not guessed",
            _NEWER_LIBRARY,
        )
    off = tuple(sorted((day, str(name)) for day, name in dates.items() if day.year == year))
    estimated = [day for day, name in off if "estimated" in name.lower()]
    if estimated:
        raise HolidaysUnknown(
            code, year, f"{estimated[0]} is an estimate, and is not guessed", _NEWER_LIBRARY
        )
    makeup = tuple(sorted(day for day in dates.weekend_workdays if day.year == year))
    return YearOfHolidays(off=off, makeup=makeup if makeup_workdays else (), weekend=frozenset(dates.weekend))


def moves_workdays(code: str) -> bool:
    """Tell whether a calendar has ever moved workdays (调休)."""
    return _last_year_on_record(_from_library(code, _PRACTICE_GIVEN_UP_BEFORE)) is not None


def _from_library(code: str, year: int) -> Any:
    import holidays  # noqa: PLC0415

    country, _, part = code.partition("-")
    try:
        dates = holidays.country_holidays(country, subdiv=part or None, years=year, language="en_US")
    except NotImplementedError as error:
        raise HolidaysUnknown(
            code, None, "there is no such calendar", "write a country's code, such as CN, US or DE-BY"
        ) from error
    if not dates.start_year <= year <= dates.end_year:
        raise HolidaysUnknown(code, year, "the year is not on record", _NEWER_LIBRARY)
    return dates


def _last_year_on_record(dates: Any) -> int | None:
    """Return the last year for which the library records a moved workday; None where none ever was."""
    years = [
        year
        for year, entries in getattr(dates, "special_public_holidays", {}).items()
        for entry in (entries if isinstance(entries[0], tuple) else (entries,))
        if len(entry) >= _DAYS_MOVED_WITH_SOURCE
    ]
    return max(years, default=None)
