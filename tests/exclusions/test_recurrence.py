"""When a window comes again: tables for the days on which clocks change, and a minute-by-minute second opinion."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairclock.model import Interval
from sla.exclusions import Recurrence, RecurrenceError, occurrences
from sla.exclusions.recurrence import check_first

MINUTE = timedelta(minutes=1)


def local(zone: str, text: str, fold: int = 0) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone), fold=fold)


def windows(
    rule: str, zone: str, start: str, end: str, window: tuple[str, str]
) -> list[tuple[str, str, str]]:
    found = occurrences(
        Recurrence.parse(rule),
        first=Interval(start=local(zone, start), end=local(zone, end)),
        zone_name=zone,
        window=Interval(start=local(zone, window[0]), end=local(zone, window[1])),
    )
    return [
        (f"{each.time.start:%m-%d %H:%M}", f"{each.time.end:%m-%d %H:%M}", str(each.change or ""))
        for each in found
    ]


@pytest.mark.parametrize(
    ("zone", "start", "end", "day", "expected"),
    [
        pytest.param(
            "Europe/Berlin",
            "02:15",
            "02:45",
            "2026-03-29",
            [],
            id="a window within the gap does not take place",
        ),
        pytest.param(
            "Europe/Berlin",
            "01:30",
            "02:30",
            "2026-03-29",
            [("03-29 00:30", "03-29 01:00", "clocks_forward")],
            id="a window that ends in the gap ends where the gap begins",
        ),
        pytest.param(
            "Europe/Berlin",
            "02:30",
            "04:00",
            "2026-03-29",
            [("03-29 01:00", "03-29 02:00", "clocks_forward")],
            id="a window that starts in the gap starts after it and ends no later",
        ),
        pytest.param(
            "Europe/Berlin",
            "01:00",
            "05:00",
            "2026-03-29",
            [("03-29 00:00", "03-29 03:00", "clocks_forward")],
            id="four hours on the wall around the gap are three",
        ),
        pytest.param(
            "Europe/Berlin",
            "02:00",
            "03:00",
            "2026-10-25",
            [("10-25 00:00", "10-25 01:00", "clocks_back")],
            id="the hour that comes twice is excluded once",
        ),
        pytest.param(
            "Europe/Berlin",
            "02:15",
            "02:45",
            "2026-10-25",
            [("10-25 00:15", "10-25 00:45", "clocks_back")],
            id="half an hour that comes twice is excluded in its first pass",
        ),
        pytest.param(
            "Europe/Berlin",
            "01:00",
            "04:00",
            "2026-10-25",
            [("10-24 23:00", "10-25 02:00", "clocks_back")],
            id="three hours on the wall that last four are excluded for three",
        ),
        pytest.param(
            "Australia/Lord_Howe",
            "02:00",
            "02:30",
            "2026-10-04",
            [],
            id="a gap of half an hour swallows half an hour",
        ),
        pytest.param(
            "Australia/Lord_Howe",
            "01:30",
            "02:00",
            "2026-04-05",
            [("04-04 14:30", "04-04 15:00", "clocks_back")],
            id="half an hour that comes twice where clocks go back by half an hour",
        ),
        pytest.param(
            "Asia/Kathmandu",
            "02:00",
            "03:00",
            "2026-10-25",
            [("10-24 20:15", "10-24 21:15", "")],
            id="a zone a quarter of an hour off",
        ),
        pytest.param(
            "America/Sao_Paulo",
            "23:00",
            "01:00",
            "2018-11-03",
            [("11-04 02:00", "11-04 03:00", "clocks_forward")],
            id="a midnight that does not exist",
        ),
    ],
)
def test_a_daily_window_on_the_day_clocks_change(zone, start, end, day, expected):
    days = [date.fromisoformat(day) - timedelta(days=back) for back in (3, 2, 1)]
    last = days[0] + timedelta(days=1 if end <= start else 0)
    only_that_day = f"FREQ=DAILY;COUNT=4\nEXDATE:{','.join(f'{each:%Y%m%d}' for each in days)}"
    window = (f"{days[0]}T00:00", f"{date.fromisoformat(day) + timedelta(days=3)}T00:00")
    assert windows(only_that_day, zone, f"{days[0]}T{start}", f"{last}T{end}", window) == expected


OCTOBER = ("2026-10-01T00:00", "2026-11-01T00:00")


@pytest.mark.parametrize(
    ("rule", "days"),
    [
        ("FREQ=WEEKLY;BYDAY=SU", [4, 11, 18, 25]),
        ("RRULE:FREQ=WEEKLY;BYDAY=SU", [4, 11, 18, 25]),
        ("FREQ=WEEKLY;BYDAY=SU;COUNT=3", [4]),
        ("FREQ=WEEKLY;BYDAY=SU;UNTIL=20261018", [4, 11, 18]),
        ("FREQ=WEEKLY;BYDAY=SU;UNTIL=20261018T020000", [4, 11, 18]),
        ("FREQ=WEEKLY;BYDAY=SU;UNTIL=20261018T015959", [4, 11]),
        ("FREQ=WEEKLY;BYDAY=SU;UNTIL=20261017T180000Z", [4, 11, 18]),
        ("FREQ=WEEKLY;BYDAY=SU;UNTIL=20261017T175959Z", [4, 11]),
        ("FREQ=WEEKLY;BYDAY=SU\nEXDATE:20261011", [4, 18, 25]),
        ("FREQ=WEEKLY;BYDAY=SU\nEXDATE:20261011T020000,20261017T180000Z", [4, 25]),
        ("FREQ=WEEKLY;BYDAY=SU\nEXDATE:20261011T030000", [4, 11, 18, 25]),
        ("FREQ=WEEKLY;BYDAY=SU;COUNT=4\nEXDATE:20261004", [11]),
        ("FREQ=WEEKLY;INTERVAL=2;BYDAY=SU", [4, 18]),
        ("FREQ=MONTHLY;BYDAY=3SU", [18]),
    ],
    ids=[
        "every Sunday",
        "with the name of the property",
        "COUNT counts from the first",
        "UNTIL a day includes it",
        "UNTIL a local time includes it",
        "UNTIL a second before leaves it out",
        "UNTIL an instant includes it",
        "UNTIL an instant before leaves it out",
        "an EXDATE that is a day",
        "EXDATEs that are a local time and an instant",
        "an EXDATE at another time takes nothing away",
        "COUNT counts what an EXDATE takes away",
        "every other week",
        "the third Sunday",
    ],
)
def test_which_days_a_rule_means(rule, days):
    first = {"FREQ=MONTHLY;BYDAY=3SU": "2026-09-20"}.get(rule, "2026-09-20")
    found = windows(rule, "Asia/Shanghai", f"{first}T02:00", f"{first}T04:00", OCTOBER)
    assert [int(each[0][3:5]) + 1 for each in found] == days  # 02:00 in Shanghai is 18:00 of the day before


@pytest.mark.parametrize(
    ("rule", "problem"),
    [
        ("", "needs exactly one rule"),
        ("FREQ=HOURLY", "recurs at no frequency"),
        ("BYDAY=SU", "recurs at no frequency"),
        ("FREQ=DAILY;BYHOUR=3", "has a part that is not taken"),
        ("FREQ=DAILY;COUNT=3;UNTIL=20261018", "ends twice"),
        ("FREQ=DAILY;COUNT=many", "counts with no number"),
        ("FREQ=DAILY;INTERVAL=0", "counts with no number"),
        ("FREQ=WEEKLY;BYDAY=XX", "is no rule"),
        ("FREQ=DAILY;UNTIL=20261318", "has no date"),
        ("FREQ=DAILY\nRDATE:20261018", "is not understood"),
        ("FREQ=DAILY;FREQ=DAILY", "cannot be read"),
        ("FREQ=DAILY;COUNT=" + "9" * 2_000, "is too long"),
    ],
)
def test_a_rule_that_cannot_be_used_says_why(rule, problem):
    with pytest.raises(RecurrenceError, match=problem):
        Recurrence.parse(rule)


@pytest.mark.parametrize(
    ("start", "end", "problem"),
    [
        ("2026-10-05T02:00", "2026-10-05T04:00", "does not begin with the first window"),
        ("2026-10-25T02:30", "2026-10-25T03:30", "where the clocks change"),
        ("2026-10-04T02:00", "2026-12-04T02:00", "lasts too long"),
    ],
    ids=["a Monday is no Sunday", "in the hour that comes twice", "two months long"],
)
def test_a_recurrence_begins_with_its_first_window(start, end, problem):
    first = Interval(start=local("Europe/Berlin", start, fold=1), end=local("Europe/Berlin", end))
    with pytest.raises(RecurrenceError, match=problem):
        check_first(Recurrence.parse("FREQ=WEEKLY;BYDAY=SU"), first, "Europe/Berlin")


def test_a_rule_that_never_comes_again_ends():
    rule = "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30"
    assert windows(rule, "UTC", "2026-01-01T02:00", "2026-01-01T03:00", OCTOBER) == []


ZONES = (
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
    "Asia/Kolkata",
    "Pacific/Apia",
    "America/St_Johns",
)


def minutes_by_hand(zone: str, first: date, last: date, start: int, length: int) -> set[datetime]:
    """Return the excluded minutes: walk all minutes of real time, look at the wall, and take each face once.

    A minute belongs to a day's window if its face lies within it, comes after the window's first existing
    minute, and no more minutes than announced have passed.
    """
    excluded: set[datetime] = set()
    tz = ZoneInfo(zone)
    day = first
    while day <= last:
        begins = datetime.combine(day, datetime.min.time()) + start * MINUTE
        ends = begins + length * MINUTE
        walker = datetime.combine(day - timedelta(days=1), datetime.min.time(), UTC) - timedelta(hours=14)
        running = False
        left = length
        for _ in range(5 * 1440):
            face = walker.astimezone(tz).replace(tzinfo=None, fold=0)
            if not running and begins <= face:
                running = True
            if running:
                if face >= ends or left == 0:
                    break
                excluded.add(walker)
                left -= 1
            walker += MINUTE
        day += timedelta(days=1)
    return excluded


@settings(max_examples=25, deadline=None)
@given(
    zone=st.sampled_from(ZONES),
    # days near which some of the zones change their clocks
    day=st.sampled_from(
        [
            date(2026, 3, 7),
            date(2026, 3, 28),
            date(2026, 4, 4),
            date(2026, 10, 3),
            date(2026, 10, 24),
            date(2026, 10, 31),
            date(2026, 6, 1),
        ]
    ),
    start=st.integers(0, 1439),
    length=st.integers(1, 600),
)
def test_every_minute_agrees_with_a_walk_along_the_clock(zone, day, start, length):
    begin = datetime.combine(day, datetime.min.time()) + start * MINUTE - timedelta(days=5)
    first = Interval(
        start=begin.replace(tzinfo=ZoneInfo(zone)),
        end=(begin + length * MINUTE).replace(tzinfo=ZoneInfo(zone)),
    )
    lowest = datetime.combine(day - timedelta(days=2), datetime.min.time(), UTC)
    window = Interval(start=lowest, end=lowest + timedelta(days=4))
    found = occurrences(Recurrence.parse("FREQ=DAILY"), first=first, zone_name=zone, window=window)
    minutes = {
        each.time.start + number * MINUTE
        for each in found
        for number in range(each.time.length_us // 60_000_000)
    }
    by_hand = minutes_by_hand(zone, day - timedelta(days=4), day + timedelta(days=4), start, length)
    assert {each for each in minutes if window.start <= each < window.end} == {
        each for each in by_hand if window.start <= each < window.end
    }
