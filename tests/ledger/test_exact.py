"""Exact amounts have one text, and it is read back to the same amount."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from billing.ledger import read_exact, write_exact


@given(st.fractions())
def test_what_is_written_is_read_back_exactly(value):
    assert read_exact(write_exact(value)) == value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param(Fraction(0), "0", id="zero"),
        pytest.param(Fraction(-3), "-3", id="whole amounts have no point"),
        pytest.param(Fraction("0.0015"), "0.0015", id="decimals that end are decimals"),
        pytest.param(Fraction(-1, 8), "-0.125", id="a negative part of one keeps its zero"),
        pytest.param(Fraction(1, 3), "1/3", id="decimals that never end are a quotient"),
        pytest.param(Fraction(1, 10**12), "0.000000000001", id="a picosecond's share"),
    ],
)
def test_texts(value, text):
    assert write_exact(value) == text


@pytest.mark.parametrize("text", ["1.50", "2/6", "01", "1e-3", "+1", " 1", "-0", "3/10"])
def test_a_second_text_of_an_amount_is_refused(text):
    with pytest.raises(ValueError, match="is written"):
        read_exact(text)
