"""Own the calendar month that is simulated."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import holidays

from fairclock.errors import UsageError
from fairclock.model import Interval

if TYPE_CHECKING:
    from datetime import date


@dataclass(frozen=True, slots=True, kw_only=True)
class Month:
    """A calendar month in a zone, and which of its days are worked."""

    name: str  # 2026-10
    zone: str
    interval: Interval  # in UTC: a difference of two local instants of one zone ignores a change of clocks
    days: tuple[date, ...]
    workdays: tuple[date, ...]

    @property
    def epoch_seconds(self) -> int:
        """Return the first instant, in Unix time."""
        return int(self.interval.start.timestamp())

    @property
    def length_seconds(self) -> float:
        """Return the elapsed length (a month with a change of clocks is an hour longer or shorter)."""
        return self.interval.length_us / 1_000_000

    def seconds_at(self, day: date, hour: int, minute: int) -> float:
        """Return a wall-clock time of `day` as seconds since the first instant."""
        local = datetime(day.year, day.month, day.day, hour, minute, tzinfo=ZoneInfo(self.zone))
        return local.timestamp() - self.epoch_seconds


def month_of(name: str, *, zone: str = "Asia/Shanghai") -> Month:
    """Return the month `name` (2026-10) of `zone`, with China's public holidays and make-up workdays."""
    try:
        first = datetime.strptime(name + "-01 +0000", "%Y-%m-%d %z").date()
    except ValueError as error:
        raise UsageError("month", "not a month", found=name, remedy="write it as 2026-10") from error
    after = (first + timedelta(days=32)).replace(day=1)
    days = tuple(first + timedelta(days=offset) for offset in range((after - first).days))
    calendar = holidays.country_holidays("CN", years=first.year)
    midnight = datetime(first.year, first.month, 1, tzinfo=ZoneInfo(zone))
    return Month(
        name=f"{first:%Y-%m}",
        zone=zone,
        interval=Interval(
            start=midnight.astimezone(UTC),
            end=midnight.replace(year=after.year, month=after.month).astimezone(UTC),
        ),
        days=days,
        workdays=tuple(day for day in days if calendar.is_working_day(day)),
    )
