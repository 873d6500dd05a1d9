"""Nearest rank by integers, against sorted lists and exact binomials."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sla.percentiles import allowed_over, interval_ranks, is_met, rank

percentiles = st.fractions(min_value=Fraction(1, 1000), max_value=100, max_denominator=1000)
counts = st.integers(min_value=1, max_value=10**8)


@pytest.mark.parametrize(
    ("count", "percentile", "expected"),
    [
        (1, "99", 1),
        (2, "50", 1),
        (3, "50", 2),
        (99, "99", 99),
        (100, "99", 99),
        (101, "99", 100),
        (100, "7", 7),
        (100, "55", 55),
        (1000, "99.9", 999),
        (1001, "99.9", 1000),
        (300_000, "99", 297_000),
        (5, "100", 5),
    ],
    ids=str,
)
def test_the_percentile_is_the_ceil_pn_over_100_th_smallest(count, percentile, expected):
    assert rank(count, Fraction(percentile)) == expected


@given(counts, percentiles)
def test_the_rank_is_the_smallest_that_holds_p_per_cent(count, percentile):
    found = rank(count, percentile)
    assert 100 * found >= percentile * count
    assert 100 * (found - 1) < percentile * count


@given(counts, percentiles)
def test_the_rank_and_what_may_lie_above_it_add_up_to_n(count, percentile):
    assert rank(count, percentile) + allowed_over(count, percentile) == count


@given(st.lists(st.integers(0, 20), min_size=1, max_size=60), percentiles, st.integers(0, 20))
def test_counting_and_the_objectives_own_percentile_agree(values, percentile, threshold):
    over = sum(value > threshold for value in values)
    at_rank = sorted(values)[rank(len(values), percentile) - 1]
    assert is_met(over, len(values), percentile) == (at_rank <= threshold)


@given(counts, percentiles)
def test_exactly_what_is_allowed_meets_and_one_more_does_not(count, percentile):
    allowed = allowed_over(count, percentile)
    assert is_met(allowed, count, percentile)
    assert not is_met(allowed + 1, count, percentile)


@given(st.integers(0, 10**6), counts, percentiles)
def test_one_more_slow_request_never_turns_violated_into_met(over, count, percentile):
    if not is_met(over, count, percentile):
        assert not is_met(over + 1, count + 1, percentile)


def _exact_interval(count: int, percentile: Fraction) -> tuple[int | None, int | None]:
    p = percentile / 100
    mass = [comb(count, k) * p**k * (1 - p) ** (count - k) for k in range(count + 1)]
    lows = [low for low in range(1, count + 1) if sum(mass[:low]) <= Fraction(1, 40)]
    highs = [high for high in range(1, count + 1) if sum(mass[high:]) <= Fraction(1, 40)]
    return max(lows, default=None), min(highs, default=None)


@pytest.mark.parametrize("percentile", ["0.5", "7", "50", "95", "99", "99.9"])
def test_the_interval_is_that_of_the_exact_binomial(percentile):
    p = Fraction(percentile)
    for count in range(1, 45):
        assert interval_ranks(count, p) == _exact_interval(count, p), count


@given(st.integers(1, 2_000_000), st.sampled_from(["50", "95", "99", "99.9"]))
def test_the_interval_encloses_the_percentiles_own_rank(count, percentile):
    p = Fraction(percentile)
    low, high = interval_ranks(count, p)
    own = rank(count, p)
    assert low is None or low <= own
    assert high is None or high >= own


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        (1, (1, None)),
        (100, (97, None)),
        (367, (359, None)),
        (368, (360, 368)),
        (15_000_000, (14_849_244, 14_850_756)),
    ],
    ids=["one value", "a hundred", "one too few for an upper end", "the first upper end", "fifteen million"],
)
def test_the_interval_of_p99(count, expected):
    assert interval_ranks(count, Fraction(99)) == expected


def test_no_values_have_no_interval():
    assert interval_ranks(0, Fraction(99)) == (None, None)


def test_the_largest_value_has_no_upper_bound():
    assert interval_ranks(7, Fraction(100)) == (7, None)


@pytest.mark.parametrize("percentile", ["0", "-1", "100.1"])
def test_a_percentile_outside_is_refused(percentile):
    with pytest.raises(ValueError, match="percentile"):
        rank(10, Fraction(percentile))


def test_the_percentile_of_nothing_is_refused():
    with pytest.raises(ValueError, match="no values"):
        rank(0, Fraction(99))
