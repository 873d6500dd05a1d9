"""Holidays and makeup workdays are looked up, and never guessed."""

from datetime import date

import pytest

from fairclock.errors import NotEvaluable
from sla.calendars import DaySelection, HolidayCalendar, HolidaysUnknown
from sla.calendars.holidays import country_codes, moves_workdays


@pytest.mark.parametrize(
    ("day", "with_makeup", "without"),
    [
        pytest.param(date(2026, 10, 1), False, False, id="National Day is off"),
        pytest.param(date(2026, 10, 6), False, False, id="a day that was moved off is off"),
        pytest.param(date(2026, 10, 8), True, True, id="the day after the holidays is worked"),
        pytest.param(date(2026, 10, 10), True, False, id="a makeup Saturday is worked only where agreed"),
        pytest.param(date(2026, 9, 20), True, False, id="a makeup Sunday too"),
        pytest.param(date(2026, 10, 17), False, False, id="another Saturday is off"),
        pytest.param(date(2025, 1, 26), True, False, id="an earlier year has its own makeup days"),
    ],
)
def test_a_chinese_day_is_worked_or_not(day, with_makeup, without):
    assert HolidayCalendar(code="CN", makeup_workdays=True).is_workday(day) is with_makeup
    assert HolidayCalendar(code="CN", makeup_workdays=False).is_workday(day) is without


@pytest.mark.parametrize("makeup", [True, False], ids=["with makeup workdays", "without them"])
def test_a_year_that_was_not_announced_is_refused(makeup):
    calendar = HolidayCalendar(code="CN", makeup_workdays=makeup)
    with pytest.raises(HolidaysUnknown, match="not guessed") as refusal:
        calendar.is_workday(date(2099, 3, 3))
    assert isinstance(refusal.value, NotEvaluable)
    assert refusal.value.year == 2099
    assert refusal.value.exit_code == 3


def test_an_estimated_holiday_is_refused():
    with pytest.raises(HolidaysUnknown, match="is an estimate, and is not guessed"):
        HolidayCalendar(code="ID", makeup_workdays=False).year(2040)


def test_makeup_workdays_of_a_calendar_that_moves_none_are_refused():
    with pytest.raises(HolidaysUnknown, match="moves no workdays"):
        HolidayCalendar(code="US", makeup_workdays=True).year(2026)
    assert not moves_workdays("US")
    assert moves_workdays("CN")


@pytest.mark.parametrize(
    ("code", "day", "worked"),
    [
        ("US", date(2026, 7, 3), False),
        ("US", date(2026, 7, 6), True),
        ("DE-BY", date(2026, 1, 6), False),
        ("DE", date(2026, 1, 6), True),
        ("SA", date(2026, 10, 2), False),
        ("SA", date(2026, 10, 4), True),
    ],
    ids=[
        "Independence Day observed",
        "an ordinary Monday",
        "Epiphany in Bavaria",
        "Epiphany elsewhere in Germany",
        "a Friday where the weekend is Friday and Saturday",
        "a Sunday there",
    ],
)
def test_other_countries_have_their_own_days(code, day, worked):
    assert HolidayCalendar(code=code, makeup_workdays=False).is_workday(day) is worked


@pytest.mark.parametrize("code", ["XX", "DE-ZZ"])
def test_a_calendar_that_does_not_exist_is_refused(code):
    assert code not in country_codes()
    with pytest.raises(HolidaysUnknown, match="there is no such calendar"):
        HolidayCalendar(code=code, makeup_workdays=False).year(2026)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mon-fri", "mon,tue,wed,thu,fri"),
        ("sat,sun", "sat,sun"),
        ("Sat, Sun", "sat,sun"),
        ("fri-mon", "mon,fri,sat,sun"),
        ("monday", "mon"),
        ("mon-mon", "mon"),
        ("mon-tue,fri", "mon,tue,fri"),
        ("workdays", "workdays"),
    ],
)
def test_days_are_read_and_written(text, expected):
    assert str(DaySelection.parse(text)) == expected
    assert DaySelection.parse(expected) == DaySelection.parse(text)


@pytest.mark.parametrize("text", ["", "weekend", "mon-", "mon,,tue", "workdays,sat", "1-5", "星期一"])
def test_what_are_no_days_is_refused(text):
    with pytest.raises(ValueError):
        DaySelection.parse(text)
