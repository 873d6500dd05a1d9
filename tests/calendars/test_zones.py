"""Local times become instants by the stated rule, in the gap and in the hour that comes twice."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sla.calendars import day_start, instant_of, is_offset_zone, zone_of

BERLIN = ZoneInfo("Europe/Berlin")
FORWARD, BACK = date(2026, 3, 29), date(2026, 10, 25)
ODD_ZONES = (
    "Europe/Berlin",
    "America/New_York",
    "America/Havana",
    "America/St_Johns",
    "Asia/Kolkata",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
    "Pacific/Apia",
    "Africa/Cairo",
    "Asia/Beirut",
    "Atlantic/Azores",
    "Asia/Shanghai",
    "Pacific/Chatham",
)


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("zone", "day", "clock", "edge", "expected"),
    [
        pytest.param(
            "Europe/Berlin",
            FORWARD,
            "01:59",
            "start",
            "2026-03-29T00:59",
            id="the minute before the gap is itself",
        ),
        pytest.param(
            "Europe/Berlin",
            FORWARD,
            "02:00",
            "start",
            "2026-03-29T01:00",
            id="the gap's first minute is the first instant after it",
        ),
        pytest.param(
            "Europe/Berlin",
            FORWARD,
            "02:30",
            "start",
            "2026-03-29T01:00",
            id="a start in the gap moves to the first instant after it",
        ),
        pytest.param(
            "Europe/Berlin",
            FORWARD,
            "02:30",
            "end",
            "2026-03-29T01:00",
            id="an end in the gap moves to the same instant",
        ),
        pytest.param(
            "Europe/Berlin",
            FORWARD,
            "03:00",
            "start",
            "2026-03-29T01:00",
            id="the minute after the gap is itself",
        ),
        pytest.param(
            "Europe/Berlin",
            BACK,
            "02:30",
            "start",
            "2026-10-25T00:30",
            id="a start that comes twice is the first",
        ),
        pytest.param(
            "Europe/Berlin",
            BACK,
            "02:30",
            "end",
            "2026-10-25T01:30",
            id="an end that comes twice is the second",
        ),
        pytest.param(
            "Europe/Berlin",
            BACK,
            "03:00",
            "end",
            "2026-10-25T02:00",
            id="the minute after the repeated hour comes once",
        ),
        pytest.param(
            "Australia/Lord_Howe",
            date(2026, 10, 4),
            "02:15",
            "start",
            "2026-10-03T15:30",
            id="a gap of half an hour ends where it ends",
        ),
        pytest.param(
            "Asia/Kolkata",
            date(2026, 10, 1),
            "00:00",
            "start",
            "2026-09-30T18:30",
            id="a half-hour zone starts its day on the half hour",
        ),
        pytest.param(
            "Africa/Cairo",
            date(2026, 4, 24),
            "00:00",
            "start",
            "2026-04-23T22:00",
            id="a midnight in the gap is the first instant of the day",
        ),
        pytest.param(
            "America/Havana",
            date(2026, 11, 1),
            "00:30",
            "end",
            "2026-11-01T05:30",
            id="half past a midnight that comes twice ends late",
        ),
        pytest.param(
            "America/Havana",
            date(2026, 10, 31),
            "24:00",
            "end",
            "2026-11-01T04:00",
            id="24:00 ends the day where the next one starts",
        ),
    ],
)
def test_a_local_time_becomes_the_instant_that_the_rule_says(zone, day, clock, edge, expected):
    hours, minutes = map(int, clock.split(":"))
    assert instant_of(day, hours * 60 + minutes, ZoneInfo(zone), edge=edge) == utc(expected)


@given(
    zone=st.sampled_from(ODD_ZONES),
    day=st.dates(date(2005, 1, 1), date(2030, 1, 1)),
    minute=st.integers(0, 1439),
)
def test_no_instant_before_the_answer_shows_a_later_local_time_of_that_day(zone, day, minute):
    """The start is the first instant at which the local clock shows that time or a later one."""
    where = ZoneInfo(zone)
    wanted = datetime.combine(day, datetime.min.time()) + timedelta(minutes=minute)
    found = instant_of(day, minute, where)
    assert found.astimezone(where).replace(tzinfo=None) >= wanted
    just_before = found - timedelta(seconds=1)
    assert just_before.astimezone(where).replace(tzinfo=None) < wanted


@given(
    zone=st.sampled_from(ODD_ZONES),
    day=st.dates(date(2005, 1, 1), date(2030, 1, 1)),
    minute=st.integers(0, 1440),
)
def test_an_end_never_lies_before_the_start_of_the_same_minute(zone, day, minute):
    where = ZoneInfo(zone)
    assert instant_of(day, minute, where, edge="start") <= instant_of(day, minute, where, edge="end")


@given(zone=st.sampled_from(ODD_ZONES), day=st.dates(date(2005, 1, 1), date(2030, 1, 1)))
def test_days_follow_one_another(zone, day):
    where = ZoneInfo(zone)
    length = day_start(day + timedelta(days=1), where) - day_start(day, where)
    skipped = zone == "Pacific/Apia" and day == date(2011, 12, 30)
    assert (length == timedelta(0)) if skipped else timedelta(hours=22) < length < timedelta(hours=26)


@pytest.mark.parametrize(
    ("name", "offset"),
    [
        ("Asia/Shanghai", False),
        ("UTC", False),
        ("Europe/Berlin", False),
        ("+08:00", True),
        ("-03:30", True),
        ("UTC+8", True),
        ("GMT-05:00", True),
        ("Etc/GMT-8", True),
        ("EST", True),
    ],
)
def test_a_zone_is_a_place_or_an_offset(name, offset):
    assert is_offset_zone(name) is offset
    assert zone_of(name).utcoffset(datetime(2026, 1, 1)) is not None  # noqa: DTZ001


@pytest.mark.parametrize(
    "name", ["Asia/Peking", "asia/shanghai", "", "+15:00", "../etc/passwd", "localtime", "Factory", "+0800x"]
)
def test_a_zone_that_nobody_knows_is_refused(name):
    with pytest.raises(ValueError):
        zone_of(name)


@pytest.mark.parametrize(("name", "hours"), [("+08:00", 8), ("UTC+8", 8), ("-03:30", -3.5), ("Etc/GMT-8", 8)])
def test_an_offset_means_east_when_it_is_positive(name, hours):
    assert zone_of(name).utcoffset(datetime(2026, 1, 1)) == timedelta(hours=hours)  # noqa: DTZ001
