"""Own the choice of days: weekday names, ranges, lists, and workdays."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import date

    from sla.calendars.holidays import Holidays

WEEKDAY_NAMES = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_FULL_NAMES = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NUMBERS = {name: number for names in (WEEKDAY_NAMES, _FULL_NAMES) for number, name in enumerate(names)}
_WORKDAYS = "workdays"
_RANGE = re.compile(r"([a-z]+)\s*-\s*([a-z]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class DaySelection:
    """The days on which a span of a period lies: by weekday, or the workdays of a holiday calendar."""

    weekdays: frozenset[int]
    workdays: bool

    @classmethod
    def parse(cls, text: str) -> DaySelection:
        """Read ``workdays``, or weekday names, ranges and lists (``mon-fri``, ``sat,sun``); ValueError else."""
        words = [word.strip() for word in text.lower().split(",")]
        if words == [_WORKDAYS]:
            return cls(weekdays=frozenset(), workdays=True)
        weekdays: set[int] = set()
        for word in words:
            weekdays |= _weekdays_in(word)
        return cls(weekdays=frozenset(weekdays), workdays=False)

    def __str__(self) -> str:
        if self.workdays:
            return _WORKDAYS
        return ",".join(WEEKDAY_NAMES[number] for number in sorted(self.weekdays))

    def includes(self, day: date, holidays: Holidays | None) -> bool:
        """Tell whether `day` is chosen; ``workdays`` asks `holidays`, weekday names do not."""
        if not self.workdays:
            return day.weekday() in self.weekdays
        if holidays is None:
            raise ValueError("workdays need a holiday calendar")
        return holidays.is_workday(day)


def _weekdays_in(word: str) -> set[int]:
    if word in _NUMBERS:
        return {_NUMBERS[word]}
    match = _RANGE.fullmatch(word)
    if match is None or not {match[1], match[2]} <= _NUMBERS.keys():
        raise ValueError(word)
    first, last = _NUMBERS[match[1]], _NUMBERS[match[2]]
    return {(first + step) % 7 for step in range((last - first) % 7 + 1)}
