"""The law of rounding: what is printed stands on the same side of every threshold as what is."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairclock.documents.numbers import exact, places_beside, rounded

_SECONDS = st.integers(min_value=0, max_value=10**9).map(lambda us: Fraction(us, 10**6))


def _side(value: Fraction, threshold: Fraction) -> int:
    return (value > threshold) - (value < threshold)


@given(_SECONDS, st.lists(_SECONDS, max_size=4), st.integers(min_value=0, max_value=4))
def test_below_stays_below_equal_stays_equal_above_stays_above(
    value: Fraction, thresholds: list[Fraction], least: int
) -> None:
    printed = Fraction(rounded(value, places_beside(value, thresholds, least=least)))
    assert [_side(printed, each) for each in thresholds] == [_side(value, each) for each in thresholds]


@given(
    st.integers(min_value=0, max_value=10**9),
    st.integers(min_value=1, max_value=10**9),
    st.integers(min_value=1, max_value=99_999),
)
def test_ratios_of_counts_stay_on_their_side_of_a_target(good: int, bad: int, target: int) -> None:
    value, threshold = 100 * Fraction(good, good + bad), Fraction(target, 1000)
    printed = Fraction(rounded(value, places_beside(value, [threshold], least=2)))
    assert _side(printed, threshold) == _side(value, threshold)


@given(_SECONDS, _SECONDS, st.integers(min_value=0, max_value=6))
def test_one_digit_fewer_would_cross_or_be_fewer_than_asked(
    value: Fraction, threshold: Fraction, least: int
) -> None:
    places = places_beside(value, [threshold], least=least)
    assert places >= least
    if places > least:
        shorter = Fraction(rounded(value, places - 1))
        assert _side(shorter, threshold) != _side(value, threshold)


@pytest.mark.parametrize(
    ("value", "threshold", "least", "printed"),
    [
        pytest.param("99.8951", "99.9", 1, "99.895", id="99.8951 is never 99.9 beside 99.9"),
        pytest.param("99.8951", "99.5", 1, "99.9", id="but it is 99.9 beside 99.5"),
        pytest.param("2.0004", "2", 3, "2.0004", id="2.0004 is never 2.000 beside 2"),
        pytest.param("2", "2", 3, "2.000", id="what is equal prints as equal"),
        pytest.param("1.9999", "2", 3, "1.9999", id="1.9999 is never 2.000 beside 2"),
        pytest.param("0.287113", "0.3", 3, "0.287", id="three digits are enough far away"),
        pytest.param("2.0000005", "2", 3, "2.0000005", id="half a microsecond over"),
        pytest.param("1.5", "1.4999996", 3, "1.500", id="a threshold with more digits than the value"),
        pytest.param("1.4999996", "1.5", 3, "1.4999996", id="and the other way round"),
    ],
)
def test_examples(value: str, threshold: str, least: int, printed: str) -> None:
    number = exact(value)
    assert str(rounded(number, places_beside(number, [exact(threshold)], least=least))) == printed


@pytest.mark.parametrize(
    ("value", "fraction"),
    [
        pytest.param(0.1, Fraction(1, 10), id="a float is what JSON shows, not its binary value"),
        pytest.param("0.999", Fraction(999, 1000), id="text"),
        pytest.param(Decimal("2.50"), Fraction(5, 2), id="a decimal"),
        pytest.param(9.57e-05, Fraction(957, 10**7), id="a float in exponent form"),
        pytest.param(3, Fraction(3), id="an integer"),
    ],
)
def test_numbers_are_read_as_written(value: float | str | Decimal, fraction: Fraction) -> None:
    assert exact(value) == fraction
