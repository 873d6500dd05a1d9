"""Starts that are remembered: read anew when they are due, and then what reading them all would give."""

from __future__ import annotations

from datetime import timedelta

import pytest

from fairclock.model import Interval
from sla.exclusions import EngineStart
from sla.slices.remembered import RememberedStarts
from tests.engine_lives.conftest import START

MONTH = Interval(start=START - timedelta(days=6), end=START)
DAY = timedelta(days=1)


def a_start(began):
    return EngineStart(instance="e", upstream="u", started_at=began, first_served_at=None, evidence="")


class Asked:
    """Stands for the store's starts: those that began up to a day before a window, and are in `known`."""

    def __init__(self):
        self.known = []
        self.windows = []

    def __call__(self, store, window, as_of):
        self.windows.append(window)
        return [each for each in self.known if window.start - DAY <= each.started_at < window.end]


@pytest.fixture
def asked(monkeypatch):
    asked = Asked()
    monkeypatch.setattr("sla.slices.remembered.engine_starts", asked)
    return asked


def grown(later):
    return Interval(start=MONTH.start, end=MONTH.end + later)


def test_within_a_minute_nothing_is_read_again(asked):
    starts = RememberedStarts()
    for seconds in (0, 5, 59):
        starts(None, grown(timedelta(seconds=seconds)), START + timedelta(seconds=seconds))
    assert asked.windows == [MONTH]


def test_after_a_minute_the_last_two_days_are_and_what_was_before_stays(asked):
    old, late, new = (a_start(START + offset) for offset in (-3 * DAY, -DAY, timedelta(seconds=30)))
    asked.known = [old, late]
    starts = RememberedStarts()
    assert starts(None, MONTH, START) == (old, late)
    asked.known = [old, late, new]
    minute = timedelta(minutes=1)
    assert starts(None, grown(minute), START + minute) == (old, late, new)
    assert asked.windows[1] == Interval(start=START + minute - 2 * DAY, end=START + minute)


def test_after_an_hour_all_are(asked):
    starts = RememberedStarts()
    assert starts(None, MONTH, START) == ()
    asked.known = [a_start(START - 4 * DAY)]
    hour = timedelta(hours=1)
    assert starts(None, grown(timedelta(minutes=2)), START + timedelta(minutes=2)) == ()
    assert starts(None, grown(hour), START + hour) == tuple(asked.known)


def test_of_a_month_that_is_over_nothing_is_read_in_between(asked):
    over = Interval(start=MONTH.start, end=START - 3 * DAY)
    starts = RememberedStarts()
    for minutes in (0, 2, 4):
        starts(None, over, START + timedelta(minutes=minutes))
    assert asked.windows == [over]


def test_a_reader_of_an_earlier_instant_is_not_told_what_came_later(asked):
    starts = RememberedStarts()
    starts(None, MONTH, START)
    starts(None, grown(-DAY), START - DAY)
    assert asked.windows == [MONTH, grown(-DAY)]
