"""Own the P99 of each local day, with and without queueing: how the two drift apart over a month."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from fairclock.model import Clock, Interval, to_us
from sla.calendars import day_start
from sla.evaluation.clocks import column_of
from sla.evaluation.fragments import named, select, sql

if TYPE_CHECKING:
    from datetime import date, tzinfo

    from fairclock.store import Query
    from sla.evaluation.rows import Requests

_LEVEL = "0.989999999999"
"""0.99 less 1e-12: the exact quantile takes the element floor(L·n) from 0, which is then ceil(0.99·n) - 1
for every n below 10**10."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """One local day: how many requests were `ok`, and their P99 in microseconds (None if none was)."""

    date: date
    count: int
    with_queue_us: int | None
    without_queue_us: int | None


def days_of(period: Interval, zone: tzinfo) -> dict[date, Interval]:
    """Return the local days that `period` touches, cut to it."""
    day = period.start.astimezone(zone).date()
    days: dict[date, Interval] = {}
    start = period.start
    while start < period.end:
        day_after = day + timedelta(days=1)
        end = min(day_start(day_after, zone), period.end)
        if start < end:
            days[day] = Interval(start=start, end=end)
            start = end
        day = day_after
    return days


def daily_query(source: Query, starts_us: list[int]) -> Query:
    """Return the query for the `ok` requests of each day, by the day's start."""
    return select(
        (
            named(sql("roundDown(at_us, {day_starts:Array(Int64)})", day_starts=starts_us), "day_us"),
            sql("count()"),
            sql(f"quantileExact({_LEVEL})({column_of(Clock.END_TO_END)})"),
            sql(f"quantileExact({_LEVEL})({column_of(Clock.EXCLUDING_QUEUE)})"),
        ),
        source,
        sql("WHERE is_ok"),
        sql("GROUP BY day_us"),
    )


def daily(store: Requests, source: Query, period: Interval, zone: tzinfo) -> list[Day]:
    """Return every local day of `period`, those without traffic too."""
    days = days_of(period, zone)
    starts = {to_us(interval.start): day for day, interval in days.items()}
    found = {row[0]: row[1:] for row in store.rows(daily_query(source, sorted(starts)))} if starts else {}
    nothing = (0, None, None)
    return [
        Day(date=day, count=count, with_queue_us=with_queue, without_queue_us=without_queue)
        for start, day in starts.items()
        for count, with_queue, without_queue in (found.get(start, nothing),)
    ]
