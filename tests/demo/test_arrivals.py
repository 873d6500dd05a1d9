"""The random month: how many, when, and for whom."""

from __future__ import annotations

from datetime import date

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairclock.demo.arrivals import random_traffic, shares
from fairclock.demo.month import month_of
from fairclock.demo.tenants import TENANTS, Bursts, Lengths
from fairclock.errors import UsageError
from tests.demo.factories import tenant

OCTOBER = month_of("2026-10")


def test_the_month_is_the_local_one_and_knows_the_holidays_and_the_days_worked_instead():
    assert OCTOBER.interval.start.isoformat() == "2026-09-30T16:00:00+00:00"
    assert OCTOBER.interval.end.isoformat() == "2026-10-31T16:00:00+00:00"
    assert date(2026, 10, 7) not in OCTOBER.workdays
    assert date(2026, 10, 10) in OCTOBER.workdays, "a Saturday worked instead"
    assert OCTOBER.seconds_at(date(2026, 10, 2), 9, 30) == 86_400 + 9.5 * 3_600


@pytest.mark.parametrize("name", ["2026-13", "2026", "October", "2026-10-01", ""])
def test_what_is_no_month_is_refused(name):
    with pytest.raises(UsageError, match="not a month"):
        month_of(name)


def test_a_month_with_a_change_of_clocks_is_as_long_as_it_is():
    assert month_of("2026-10", zone="Europe/Berlin").length_seconds == 31 * 86_400 + 3_600


@given(weights=st.lists(st.integers(1, 1000), min_size=1, max_size=8), total=st.integers(0, 100_000))
def test_shares_are_whole_and_sum_to_the_total_and_none_is_off_by_one_or_more(weights, total):
    parts = shares(weights, total)
    assert sum(parts) == total
    for part, weight in zip(parts, weights, strict=True):
        assert abs(part - total * weight / sum(weights)) < 1


@settings(max_examples=20)
@given(
    requests=st.integers(1, 400),
    seed=st.integers(0, 2**32),
    zone=st.sampled_from(["Asia/Shanghai", "Europe/Berlin"]),
)
def test_a_month_has_exactly_as_many_requests_as_asked_for_all_inside_it_and_in_order(requests, seed, zone):
    month = month_of("2026-10", zone=zone)
    made = random_traffic(month=month, tenants=TENANTS, requests=requests, seed=seed)
    assert made.size == requests
    assert (np.diff(made.received_seconds) >= 0).all()
    assert made.received_seconds[0] >= 0
    assert made.received_seconds[-1] < month.length_seconds
    assert (made.completion_tokens >= 1).all()


def test_workdays_and_busy_hours_are_busier():
    busy = tenant(half_hours=tuple(1.0 if 18 <= slot < 24 else 0.1 for slot in range(48)), day_off_ratio=0.1)
    made = random_traffic(month=OCTOBER, tenants=(busy,), requests=5_000, seed=1)
    hours = made.received_seconds % 86_400 / 3_600
    days = [OCTOBER.days[int(each)] for each in made.received_seconds // 86_400]
    assert np.mean((hours >= 9) & (hours < 12)) == pytest.approx(3 / (3 + 2.1), abs=0.05)
    share = np.mean([day in OCTOBER.workdays for day in days])
    assert share == pytest.approx(18 / (18 + 1.3), abs=0.05)


def test_a_crowd_comes_within_seconds():
    crowds = tenant(bursts=Bursts(ratio=1.0, size=50, seconds=4.0))
    made = random_traffic(month=OCTOBER, tenants=(crowds,), requests=500, seed=1)
    assert np.median(np.diff(made.received_seconds)) < 1.0, "evenly spread it would be more than an hour"


def test_lengths_keep_to_their_limits_and_their_median():
    short = tenant(prompt=Lengths(median=100, sigma=0.5, low=50, high=200))
    made = random_traffic(month=OCTOBER, tenants=(short,), requests=4_000, seed=1)
    assert made.prompt_tokens.min() == 50
    assert made.prompt_tokens.max() == 200
    assert np.median(made.prompt_tokens) == pytest.approx(100, abs=3)


def test_the_demonstrations_tenants_are_several_and_different_and_one_has_a_chinese_name():
    assert len({each.name for each in TENANTS}) >= 4
    assert sum(each.weight for each in TENANTS) == 1_000
    assert any(not each.name.isascii() for each in TENANTS)
    assert len({each.model for each in TENANTS}) == 2
