"""Named periods hold at the local times that the contract says, and their complement at all others."""

from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairclock.model import Interval, clip, total_us
from sla.calendars import (
    DailySpan,
    DaySelection,
    HolidayCalendar,
    complement,
    intervals_of,
    period_of_month,
)
from tests.calendars.test_zones import ODD_ZONES

CHINA = HolidayCalendar(code="CN", makeup_workdays=True)
SHANGHAI, BERLIN = ZoneInfo("Asia/Shanghai"), ZoneInfo("Europe/Berlin")


def minutes(clock: str) -> int:
    hours, rest = clock.split(":")
    return int(hours) * 60 + int(rest)


def rule(days: str, start: str, end: str) -> DailySpan:
    return DailySpan(days=DaySelection.parse(days), from_minute=minutes(start), to_minute=minutes(end))


def local(intervals, zone):
    shape = "%m-%d %H:%M"
    return [
        f"{each.start.astimezone(zone).strftime(shape)} to {each.end.astimezone(zone).strftime(shape)}"
        for each in intervals
    ]


def window(first: date, days: int, zone) -> Interval:
    start, end = (
        datetime(day.year, day.month, day.day, tzinfo=zone).astimezone(UTC)
        for day in (first, first + timedelta(days=days))
    )
    return Interval(start=start, end=end)


@pytest.mark.parametrize(
    ("rules", "first", "days", "zone", "expected"),
    [
        pytest.param(
            [rule("workdays", "09:30", "11:30")],
            date(2026, 9, 30),
            11,
            SHANGHAI,
            [
                "09-30 09:30 to 09-30 11:30",
                "10-08 09:30 to 10-08 11:30",
                "10-09 09:30 to 10-09 11:30",
                "10-10 09:30 to 10-10 11:30",
            ],
            id="workdays leave the holiday week out and take the makeup Saturday in",
        ),
        pytest.param(
            [rule("mon-fri", "09:30", "11:30")],
            date(2026, 10, 1),
            3,
            SHANGHAI,
            ["10-01 09:30 to 10-01 11:30", "10-02 09:30 to 10-02 11:30"],
            id="weekday names hold on holidays too",
        ),
        pytest.param(
            [rule("sat,sun", "00:00", "24:00")],
            date(2026, 10, 2),
            4,
            SHANGHAI,
            ["10-03 00:00 to 10-05 00:00"],
            id="whole days that touch are one interval",
        ),
        pytest.param(
            [rule("fri", "22:00", "06:00")],
            date(2026, 10, 3),
            1,
            SHANGHAI,
            ["10-03 00:00 to 10-03 06:00"],
            id="a period over midnight belongs to the day on which it starts",
        ),
        pytest.param(
            [rule("fri-mon", "09:00", "10:00")],
            date(2026, 10, 6),
            7,
            SHANGHAI,
            [
                "10-09 09:00 to 10-09 10:00",
                "10-10 09:00 to 10-10 10:00",
                "10-11 09:00 to 10-11 10:00",
                "10-12 09:00 to 10-12 10:00",
            ],
            id="a range of weekdays may run over the weekend",
        ),
        pytest.param(
            [rule("mon", "09:00", "12:00"), rule("mon-tue", "11:00", "13:00")],
            date(2026, 10, 5),
            2,
            SHANGHAI,
            ["10-05 09:00 to 10-05 13:00", "10-06 11:00 to 10-06 13:00"],
            id="rules that overlap count once",
        ),
        pytest.param(
            [rule("sun", "02:15", "02:45")],
            date(2026, 3, 29),
            1,
            BERLIN,
            [],
            id="a period inside the gap does not take place",
        ),
        pytest.param(
            [rule("sun", "02:30", "04:00")],
            date(2026, 3, 29),
            1,
            BERLIN,
            ["03-29 03:00 to 03-29 04:00"],
            id="a period that starts in the gap starts after it",
        ),
        pytest.param(
            [rule("sun", "01:00", "02:30")],
            date(2026, 3, 29),
            1,
            BERLIN,
            ["03-29 01:00 to 03-29 03:00"],
            id="a period that ends in the gap ends where the gap begins",
        ),
    ],
)
def test_a_period_holds_at_its_local_times(rules, first, days, zone, expected):
    assert local(intervals_of(rules, window(first, days, zone), zone, CHINA), zone) == expected


@pytest.mark.parametrize(
    ("start", "end", "hours"),
    [
        pytest.param("02:00", "03:00", 2, id="the hour that comes twice counts twice"),
        pytest.param("02:30", "04:00", 2.5, id="a start in it is the first, so that the second is inside"),
        pytest.param("01:00", "02:30", 2.5, id="an end in it is the second, so that the first is inside"),
        pytest.param("00:00", "24:00", 25, id="the day has 25 hours"),
        pytest.param("03:00", "04:00", 1, id="what lies beside it is as long as ever"),
    ],
)
def test_a_period_covers_both_passes_of_the_hour_that_comes_twice(start, end, hours):
    found = intervals_of([rule("sun", start, end)], window(date(2026, 10, 25), 1, BERLIN), BERLIN)
    assert total_us(found) == hours * 3_600_000_000


def test_the_day_on_which_clocks_go_forward_has_23_hours():
    found = intervals_of([rule("sun", "00:00", "24:00")], window(date(2026, 3, 29), 1, BERLIN), BERLIN)
    assert total_us(found) == 23 * 3_600_000_000


def test_workdays_without_a_calendar_are_refused():
    with pytest.raises(ValueError, match="workdays need a holiday calendar"):
        intervals_of([rule("workdays", "09:00", "10:00")], window(date(2026, 3, 2), 1, BERLIN), BERLIN)


_day_words = st.sampled_from(["mon", "mon-fri", "sat,sun", "fri-mon", "tue,thu", "mon-sun"])
_spans = st.builds(
    lambda days, start, length: DailySpan(
        days=DaySelection.parse(days), from_minute=start, to_minute=(start + length - 1) % 1440 + 1
    ),
    days=_day_words,
    start=st.integers(0, 1439),
    length=st.integers(1, 1439),
)


@given(
    rules=st.lists(_spans, min_size=1, max_size=3),
    zone=st.sampled_from(ODD_ZONES),
    year=st.integers(2010, 2029),
    month=st.integers(1, 12),
    offset=st.integers(0, 40_000),
)
def test_a_period_holds_exactly_where_the_local_clock_says_so(rules, zone, year, month, offset):
    """Outside the hours around a change of the clocks, membership is what the wall clock shows."""
    where = ZoneInfo(zone)
    period = period_of_month(f"{year}-{month:02d}", where)
    instant = period.start + timedelta(minutes=offset % 40_000)
    if instant >= period.end or _near_a_change(instant, where):
        return
    found = intervals_of(rules, period, where)
    inside = any(each.start <= instant < each.end for each in found)
    assert inside is any(_shows(each, instant.astimezone(where)) for each in rules)


def _near_a_change(instant: datetime, zone) -> bool:
    around = [instant + timedelta(hours=hours) for hours in range(-26, 27)]
    return len({each.astimezone(zone).utcoffset() for each in around}) > 1


def _shows(span: DailySpan, wall: datetime) -> bool:
    minute = wall.hour * 60 + wall.minute
    today, yesterday = wall.weekday(), (wall.weekday() - 1) % 7
    if span.to_minute > span.from_minute:
        return today in span.days.weekdays and span.from_minute <= minute < span.to_minute
    return (today in span.days.weekdays and minute >= span.from_minute) or (
        yesterday in span.days.weekdays and minute < span.to_minute
    )


@given(
    rules=st.lists(_spans, min_size=1, max_size=3),
    zone=st.sampled_from(ODD_ZONES),
    month=st.integers(1, 12),
    cut=st.integers(0, 700),
)
def test_a_period_and_its_complement_are_the_window_and_cutting_the_window_changes_nothing(
    rules, zone, month, cut
):
    where = ZoneInfo(zone)
    whole = period_of_month(f"2026-{month:02d}", where)
    found = intervals_of(rules, whole, where)
    rest = complement(found, whole)
    assert total_us(found) + total_us(rest) == whole.length_us == total_us([*found, *rest])
    assert all(first.end < second.start for first, second in pairwise(found))
    middle = whole.start + timedelta(hours=cut)
    middle = min(middle, whole.end)
    parts = (Interval(start=whole.start, end=middle), Interval(start=middle, end=whole.end))
    pieces = [piece for part in parts for piece in intervals_of(rules, part, where)]
    assert clip(pieces, whole) == found
