"""Durations, percentages and numbers are exact, and what is not exact is refused with what to write."""

from datetime import date
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairclock.clauses.quantities import (
    QuantityError,
    decimal_text,
    read_count,
    read_date,
    read_duration_us,
    read_number,
    read_percent,
    read_percentile,
    read_time_of_day,
    write_duration,
    write_percent,
    write_time_of_day,
)


@pytest.mark.parametrize(
    ("text", "microseconds"),
    [
        ("2s", 2_000_000),
        ("300ms", 300_000),
        ("1.5s", 1_500_000),
        ("72h", 259_200_000_000),
        ("30d", 2_592_000_000_000),
        ("5m", 300_000_000),
        ("1us", 1),
        ("0.000001s", 1),
        ("0.1s", 100_000),
        ("2.675ms", 2_675),
        ("0s", 0),
    ],
)
def test_a_duration_is_whole_microseconds(text, microseconds):
    assert read_duration_us(text) == microseconds


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("2", "add the unit: 2ms, 2s, 2m, 2h or 2d"),
        ("2 s", "write 2s"),
        ("2 sec", "write 2s"),
        ("2 Seconds", "write 2s"),
        ("5min", "write 5m"),
        ("3 hours", "write 3h"),
        ("3 days", "write 3d"),
        ("-2s", "write a number and a unit"),
        ("1e3s", "write a number and a unit"),
        ("２s", "write a number and a unit"),
        ("1h30m", "write a number and a unit"),
        ("", "write a number and a unit"),
        ("0.0000001s", "at most 6 decimals"),
        ("0.5us", "at most 6 decimals"),
    ],
)
def test_what_is_no_duration_is_refused_with_what_to_write(text, remedy):
    with pytest.raises(QuantityError) as refusal:
        read_duration_us(text)
    assert remedy in refusal.value.remedy


@given(st.integers(0, 10**15))
def test_a_duration_that_is_written_reads_back(microseconds):
    assert read_duration_us(write_duration(microseconds)) == microseconds


@pytest.mark.parametrize(
    ("microseconds", "text"),
    [
        (300_000, "300ms"),
        (1_500_000, "1.5s"),
        (259_200_000_000, "72h"),
        (2_592_000_000_000, "30d"),
        (2_675, "2.675ms"),
        (60_000_000, "1m"),
        (0, "0ms"),
    ],
)
def test_a_duration_is_written_as_contracts_do(microseconds, text):
    assert write_duration(microseconds) == text


@pytest.mark.parametrize(
    ("text", "ratio"),
    [
        ("99.9%", Fraction(999, 1000)),
        ("5%", Fraction(1, 20)),
        ("0%", Fraction(0)),
        ("150%", Fraction(3, 2)),
        ("99.8951%", Fraction(998951, 1000000)),
        ("0.1%", Fraction(1, 1000)),
    ],
)
def test_a_percentage_is_an_exact_ratio(text, ratio):
    assert read_percent(text) == ratio
    assert write_percent(ratio) == text


@pytest.mark.parametrize("text", ["99.9", "%", "99,9%", "99.9 %", "-1%", "９９%", "99.9%%", "1e1%"])
def test_what_is_no_percentage_is_refused(text):
    with pytest.raises(QuantityError):
        read_percent(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [("99", Fraction(99)), ("99.9", Fraction(999, 10)), ("95", Fraction(95)), ("100", Fraction(100))],
)
def test_a_percentile_is_an_exact_fraction(text, value):
    assert read_percentile(text) == value


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("p99", "write 99"),
        ("99%", "write 99"),
        ("0", "such as 95"),
        ("101", "such as 95"),
        ("９９", "such as 99"),
    ],
)
def test_what_is_no_percentile_is_refused(text, remedy):
    with pytest.raises(QuantityError) as refusal:
        read_percentile(text)
    assert remedy in refusal.value.remedy


def test_a_number_keeps_the_digits_it_was_written_with():
    assert read_number("0.10") == Decimal("0.10")
    assert str(read_number("0.10")) == "0.10"
    assert read_number("0.1") + read_number("0.2") == Decimal("0.3")


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("1,000", "write 1000"),
        ("1_000", "write 1000"),
        ("1 000", "write 1000"),
        ("ten", "digits"),
        ("-1", "digits"),
    ],
)
def test_a_count_is_digits_and_nothing_else(text, remedy):
    with pytest.raises(QuantityError) as refusal:
        read_count(text)
    assert remedy in refusal.value.remedy


@given(st.fractions(min_value=0, max_value=1000, max_denominator=10**6))
def test_a_fraction_is_written_as_decimals_that_equal_it_or_as_a_quotient(value):
    assert Fraction(decimal_text(value)) == value


@pytest.mark.parametrize(
    ("text", "minutes"), [("00:00", 0), ("09:30", 570), ("23:59", 1439), ("24:00", 1440)]
)
def test_a_time_of_day_is_minutes(text, minutes):
    assert read_time_of_day(text) == minutes
    assert write_time_of_day(minutes) == text


@pytest.mark.parametrize("text", ["9:30", "24:01", "25:00", "09:60", "0930", "09:30:00", "570", "９:30"])
def test_what_is_no_time_of_day_is_refused(text):
    with pytest.raises(QuantityError):
        read_time_of_day(text)


def test_a_date_is_year_month_day():
    assert read_date("2026-02-28") == date(2026, 2, 28)


@pytest.mark.parametrize(
    "text", ["2026-02-30", "2026-2-3", "03.02.2026", "1999-12-31", "2200-01-01", "20260203"]
)
def test_what_is_no_date_is_refused(text):
    with pytest.raises(QuantityError):
        read_date(text)
