"""Months are local, follow one another without gap, and are cut to the term."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairclock.errors import UsageError
from fairclock.model import Interval
from sla.calendars import Term, period_of_month
from tests.calendars.test_zones import ODD_ZONES

YEAR = Term(first_day=date(2026, 1, 1), last_day=date(2026, 12, 31))


def span(start: str, end: str) -> Interval:
    first, last = (datetime.fromisoformat(text).replace(tzinfo=UTC) for text in (start, end))
    return Interval(start=first, end=last)


@pytest.mark.parametrize(
    ("month", "zone", "expected", "hours"),
    [
        pytest.param(
            "2026-10",
            "Asia/Shanghai",
            span("2026-09-30T16:00", "2026-10-31T16:00"),
            744,
            id="a zone ahead of UTC starts its month the day before",
        ),
        pytest.param(
            "2026-03",
            "Europe/Berlin",
            span("2026-02-28T23:00", "2026-03-31T22:00"),
            743,
            id="a month in which the clocks go forward is an hour shorter",
        ),
        pytest.param(
            "2026-10",
            "Europe/Berlin",
            span("2026-09-30T22:00", "2026-10-31T23:00"),
            745,
            id="a month in which they go back is an hour longer",
        ),
        pytest.param(
            "2026-02",
            "Asia/Kolkata",
            span("2026-01-31T18:30", "2026-02-28T18:30"),
            672,
            id="a half-hour zone has whole months all the same",
        ),
        pytest.param(
            "2026-12",
            "UTC",
            span("2026-12-01T00:00", "2027-01-01T00:00"),
            744,
            id="December ends with the year",
        ),
        pytest.param(
            "2028-02",
            "UTC",
            span("2028-02-01T00:00", "2028-03-01T00:00"),
            696,
            id="a leap year's February has 29 days",
        ),
        pytest.param(
            "2026-10",
            "Australia/Lord_Howe",
            span("2026-09-30T13:30", "2026-10-31T13:00"),
            743.5,
            id="where clocks move by half an hour the month loses half an hour",
        ),
        pytest.param(
            "2026-11",
            "America/Havana",
            span("2026-11-01T04:00", "2026-12-01T05:00"),
            721,
            id="a month that starts with a midnight that comes twice has both",
        ),
    ],
)
def test_a_month_is_its_local_days(month, zone, expected, hours):
    found = period_of_month(month, ZoneInfo(zone))
    assert found == expected
    assert found.length_us == hours * 3_600_000_000


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        pytest.param(
            Term(first_day=date(2026, 10, 20), last_day=date(2027, 1, 1)),
            span("2026-10-20T00:00", "2026-11-01T00:00"),
            id="a month in which the contract starts is cut at its first day",
        ),
        pytest.param(
            Term(first_day=date(2026, 1, 1), last_day=date(2026, 10, 20)),
            span("2026-10-01T00:00", "2026-10-21T00:00"),
            id="the last day is included",
        ),
        pytest.param(
            Term(first_day=date(2026, 10, 31), last_day=date(2026, 10, 31)),
            span("2026-10-31T00:00", "2026-11-01T00:00"),
            id="a term may be one day",
        ),
    ],
)
def test_a_month_is_cut_to_the_term(term, expected):
    assert period_of_month("2026-10", ZoneInfo("UTC"), term) == expected


@pytest.mark.parametrize("month", ["2025-12", "2027-01"])
def test_a_month_outside_the_term_is_refused_with_the_term(month):
    with pytest.raises(UsageError, match="its term is 2026-01-01 to 2026-12-31"):
        period_of_month(month, ZoneInfo("UTC"), YEAR)


@pytest.mark.parametrize(
    "month", ["2026-13", "2026-1", "2026", "0000-01", "2026-10-01", "２０２６-10", "", "9999-12"]
)
def test_what_is_no_month_is_refused(month):
    with pytest.raises(UsageError, match="write a year and a month, 2026-10"):
        period_of_month(month, ZoneInfo("UTC"))


@given(
    zone=st.sampled_from(ODD_ZONES),
    instant=st.datetimes(datetime(2005, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001
)
def test_every_instant_lies_in_exactly_the_month_that_its_local_clock_shows(zone, instant):
    where = ZoneInfo(zone)
    local = instant.astimezone(where).date()
    months = {(local + timedelta(days=shift)).strftime("%Y-%m") for shift in (-40, 0, 40)}
    holding = [
        month
        for month in sorted(months)
        if (period := period_of_month(month, where)).start <= instant < period.end
    ]
    assert len(holding) == 1
    first_pass = holding == [local.strftime("%Y-%m")]
    repeated_midnight = zone in {"America/Havana", "Atlantic/Azores"}
    assert first_pass or repeated_midnight


@given(zone=st.sampled_from(ODD_ZONES), year=st.integers(2005, 2029), number=st.integers(1, 12))
def test_months_follow_one_another_without_gap_or_overlap(zone, year, number):
    where = ZoneInfo(zone)
    following = f"{year + number // 12}-{number % 12 + 1:02d}"
    assert period_of_month(f"{year}-{number:02d}", where).end == period_of_month(following, where).start
