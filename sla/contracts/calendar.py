"""Own the calendar clause: named periods, and the holidays that `workdays` rests on."""

# Clauses read their annotations when the program runs.
# ruff: noqa: TC001

from __future__ import annotations

from pydantic import ConfigDict, Field

from fairclock.clauses.clause import Clause
from fairclock.clauses.fields import Flag
from sla.calendars import DailySpan, HolidayCalendar
from sla.contracts.fields import Days, HolidayCode, TimeOfDay


class PeriodRule(Clause):
    """From one local time to another on chosen days; a later `from` than `to` runs over midnight."""

    days: Days
    from_minute: TimeOfDay = Field(alias="from")
    to_minute: TimeOfDay = Field(alias="to")

    @property
    def span(self) -> DailySpan:
        """Return the rule as the calendars know it."""
        return DailySpan(days=self.days, from_minute=self.from_minute, to_minute=self.to_minute)


class CalendarClause(Clause):
    """Holidays, makeup workdays (调休), and one list of rules a named period."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, tuple[PeriodRule, ...]]

    holidays: HolidayCode | None = None
    makeup_workdays: Flag = False

    @property
    def periods(self) -> dict[str, tuple[PeriodRule, ...]]:
        """Return the named periods in the file's order."""
        return dict(self.__pydantic_extra__ or {})

    @property
    def holiday_calendar(self) -> HolidayCalendar | None:
        """Return the holiday calendar that `workdays` asks; None if the clause names none."""
        if self.holidays is None:
            return None
        return HolidayCalendar(code=self.holidays, makeup_workdays=self.makeup_workdays)

    def spans(self, name: str) -> list[DailySpan]:
        """Return the rules of one named period."""
        return [rule.span for rule in self.periods[name]]
