"""Half-open intervals of time."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairclock.model import Interval, clip, merge, total_us

HOUR_US = 3_600_000_000


def test_a_month_of_an_autumn_zone_has_an_hour_more():
    berlin = ZoneInfo("Europe/Berlin")
    october = Interval(start=datetime(2026, 10, 1, tzinfo=berlin), end=datetime(2026, 11, 1, tzinfo=berlin))
    assert october.length_us == 745 * HOUR_US


@pytest.mark.parametrize("bad", ["naive", "reversed"])
def test_an_impossible_interval_is_refused(bad):
    start, end = datetime(2026, 10, 2, tzinfo=UTC), datetime(2026, 10, 1, tzinfo=UTC)
    with pytest.raises(ValueError, match=r"aware|before it starts"):
        Interval(start=start, end=end) if bad == "reversed" else Interval(
            start=end.replace(tzinfo=None), end=start
        )


SPANS = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 20)), max_size=12)


def at(minute):
    return datetime.fromtimestamp(1_790_000_000 + minute * 60, UTC)


@given(spans=SPANS, window=st.tuples(st.integers(0, 60), st.integers(1, 30)))
def test_union_and_clip_hold_exactly_the_minutes_that_any_interval_holds(spans, window):
    intervals = [Interval(start=at(start), end=at(start + length)) for start, length in spans]
    minutes = {minute for start, length in spans for minute in range(start, start + length)}
    merged = merge(intervals)
    assert total_us(intervals) == len(minutes) * 60_000_000
    assert all(left.end < right.start for left, right in itertools.pairwise(merged))
    first, length = window
    clipped = clip(intervals, Interval(start=at(first), end=at(first + length)))
    assert total_us(clipped) == len(minutes & set(range(first, first + length))) * 60_000_000
