"""Own named periods: spans of local days, as instants."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from fairclock.model import Interval, clip, merge
from fairclock.model.zones import instant_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import date, tzinfo

    from sla.calendars.days import DaySelection
    from sla.calendars.holidays import Holidays


@dataclass(frozen=True, slots=True, kw_only=True)
class DailySpan:
    """From one local time to another on chosen days, in minutes after midnight.

    Where `to_minute` is not later than `from_minute`, the span ends on the next day; it belongs to the day on
    which it starts. 1440 is the end of the day.
    """

    days: DaySelection
    from_minute: int
    to_minute: int

    def on(self, day: date, zone: tzinfo) -> Interval | None:
        """Return the span that starts on `day`; None where the clocks go forward over all of it."""
        last = day + timedelta(days=1) if self.to_minute <= self.from_minute else day
        start = instant_of(day, self.from_minute, zone, edge="start")
        end = instant_of(last, self.to_minute, zone, edge="end")
        return Interval(start=start, end=end) if start < end else None


def intervals_of(
    spans: Sequence[DailySpan], window: Interval, zone: tzinfo, holidays: Holidays | None = None
) -> list[Interval]:
    """Return when the period made of `spans` holds within `window`: disjoint, sorted, in UTC."""
    day = window.start.astimezone(zone).date() - timedelta(days=1)
    last = window.end.astimezone(zone).date()
    found: list[Interval] = []
    while day <= last:
        candidates = ((span, span.on(day, zone)) for span in spans)
        found += [
            interval
            for span, interval in candidates
            if interval is not None
            and interval.start < window.end
            and interval.end > window.start
            and span.days.includes(day, holidays)
        ]
        day += timedelta(days=1)
    return clip(found, window)


def complement(intervals: Iterable[Interval], window: Interval) -> list[Interval]:
    """Return what of `window` lies in none of `intervals`."""
    gaps: list[Interval] = []
    start = window.start
    for interval in clip(merge(intervals), window):
        if start < interval.start:
            gaps.append(Interval(start=start, end=interval.start))
        start = interval.end
    if start < window.end:
        gaps.append(Interval(start=start, end=window.end))
    return gaps
