"""From when until when a credit can be claimed: dates in the contract's zone and calendar."""

from datetime import UTC, date, datetime

import pytest

from sla.calendars import HolidayCalendar, zone_of
from sla.contracts.remedies import Claim
from sla.credits import claim_window

CN = HolidayCalendar(code="CN", makeup_workdays=True)
SHANGHAI = zone_of("Asia/Shanghai")
NOVEMBER = date(2026, 11, 1)


def window(after=NOVEMBER, holidays=CN, zone=SHANGHAI, **clause):
    return claim_window(Claim.model_validate({"required": "true", **clause}), after, zone, holidays)


def test_the_example_contract():
    found = window(opens="5 workdays after month end", closes="2 months after month end")
    assert found.opens_at == datetime(2026, 11, 5, 16, tzinfo=UTC)
    assert found.closes_at == datetime(2026, 12, 31, 16, tzinfo=UTC)
    assert found.last_day == date(2026, 12, 31)


@pytest.mark.parametrize(
    ("after", "closes", "last_day"),
    [
        pytest.param(date(2026, 3, 1), "2 months after month end", date(2026, 4, 30), id="a month's last day stays a last day"),
        pytest.param(date(2027, 1, 1), "2 months after month end", date(2027, 2, 28), id="into a shorter month"),
        pytest.param(date(2026, 10, 16), "1 month after month end", date(2026, 11, 15), id="a month that ends on the 15th"),
        pytest.param(date(2026, 10, 31), "4 months after month end", date(2027, 2, 28), id="the 30th into February"),
        pytest.param(NOVEMBER, "10 days after month end", date(2026, 11, 10), id="days"),
        pytest.param(NOVEMBER, "2 weeks after month end", date(2026, 11, 14), id="weeks"),
        pytest.param(date(2026, 10, 1), "1 workday after month end", date(2026, 10, 8), id="the first workday after the holidays"),
        pytest.param(date(2026, 10, 1), "2 workdays after month end", date(2026, 10, 9), id="and the next"),
    ],
)  # fmt: skip
def test_dates(after, closes, last_day):
    assert window(after, closes=closes).last_day == last_day


def test_a_makeup_saturday_is_a_workday():
    assert window(date(2026, 10, 10), closes="1 workday after month end").last_day == date(2026, 10, 10)


def test_without_a_calendar_workdays_are_monday_to_friday():
    assert window(date(2026, 10, 1), holidays=None, closes="2 workdays after month end").last_day == date(
        2026, 10, 2
    )


def test_where_holidays_are_not_on_record_the_customer_loses_no_day():
    far = window(date(2199, 1, 1), opens="1 workday after month end", closes="5 workdays after month end")
    assert far.opens_at == datetime(2198, 12, 31, 16, tzinfo=UTC)
    assert far.closes_at is None


def test_a_day_ends_where_the_next_begins_when_clocks_change():
    found = window(
        date(2026, 10, 1), holidays=None, zone=zone_of("Europe/Berlin"), closes="25 days after month end"
    )
    assert found.closes_at == datetime(2026, 10, 25, 23, tzinfo=UTC)


def test_no_clause_opens_at_the_month_s_end_and_never_closes():
    found = claim_window(None, NOVEMBER, SHANGHAI, CN)
    assert (found.opens_at, found.closes_at) == (datetime(2026, 10, 31, 16, tzinfo=UTC), None)
