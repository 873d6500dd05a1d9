"""Which prices hold when: versions begin at times of the book's zone."""

from datetime import UTC, date, datetime

import pytest

from fairclock.model import Interval
from tests.prices.factories import good_book, version


def utc(*parts):
    return datetime(*parts, tzinfo=UTC)


BOOK = good_book({"versions.1": version("v2", "2026-06-15 12:00"), "versions.2": version("v3", "2026-07-01")})


@pytest.mark.parametrize(
    ("instant", "name"),
    [
        pytest.param(utc(2025, 12, 31, 15, 59, 59), None, id="before the first version there is none"),
        pytest.param(utc(2025, 12, 31, 16), "v1", id="a day begins in the zone, not in UTC"),
        pytest.param(utc(2026, 6, 15, 3, 59, 59, 999_999), "v1", id="until the instant before"),
        pytest.param(utc(2026, 6, 15, 4), "v2", id="from the instant on"),
        pytest.param(utc(2030, 1, 1), "v3", id="the last one holds for good"),
    ],
)
def test_the_version_in_force(instant, name):
    found = BOOK.version_at(instant)
    assert (found.name if found else None) == name


def test_changes_within_an_interval_leave_out_its_edges():
    inside = Interval(start=utc(2026, 6, 15, 4), end=utc(2026, 6, 30, 16))
    assert BOOK.changes(inside) == []
    wider = Interval(start=utc(2026, 6, 15, 3), end=utc(2026, 6, 30, 17))
    assert BOOK.changes(wider) == [utc(2026, 6, 15, 4), utc(2026, 6, 30, 16)]


def test_a_time_that_the_clocks_skip_is_the_first_instant_after_it():
    book = good_book({"time_zone": "Europe/Berlin", "versions.0.from": "2026-03-29 02:30"})
    assert book.versions[0].start == utc(2026, 3, 29, 1)


def test_a_time_that_is_there_twice_is_the_first_of_them():
    book = good_book({"time_zone": "Europe/Berlin", "versions.0.from": "2026-10-25 02:30"})
    assert book.versions[0].start == utc(2026, 10, 25, 0, 30)


@pytest.mark.parametrize(
    ("month", "start", "end"),
    [
        ("2026-10", utc(2026, 9, 30, 16), utc(2026, 10, 31, 16)),
        ("2026-12", utc(2026, 11, 30, 16), utc(2026, 12, 31, 16)),
    ],
)
def test_months_are_those_of_the_zone(month, start, end):
    assert BOOK.month(month) == Interval(start=start, end=end)


def test_the_exchange_rate_is_the_latest_of_a_day_before_the_end():
    rates = [
        {"to": "USD", "digits": "2", "rate": "0.14", "source": "parity", "on": "2026-10-30"},
        {"to": "USD", "digits": "2", "rate": "0.15", "source": "parity", "on": "2026-11-01"},
    ]
    book = good_book({"exchange_rates": rates})
    october = book.exchange_rate("USD", until=book.month("2026-10").end)
    assert (str(october.rate), october.day) == ("0.14", date(2026, 10, 30))
    assert str(book.exchange_rate("USD", until=utc(2026, 12, 1)).rate) == "0.15"
    assert book.exchange_rate("USD", until=utc(2026, 10, 1)) is None
    assert book.exchange_rate("EUR", until=utc(2026, 12, 1)) is None
