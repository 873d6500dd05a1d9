"""Money is rounded once, lines sum to what is printed below them, and 大写 are those of the rules."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from billing.money import Money, chinese_words, exact_decimal

fractions = st.fractions(min_value=-(10**6), max_value=10**6, max_denominator=10**7)
moneys = st.builds(
    Money,
    code=st.just("XXX"),
    digits=st.sampled_from([0, 2, 3]),
    rounding=st.sampled_from(["half_up", "half_even", "down"]),
)


@given(st.lists(fractions, max_size=30), moneys)
def test_printed_lines_sum_to_the_printed_total(amounts, money):
    lines = money.apportioned(amounts)
    assert sum(lines, Decimal(0)) == money.rounded(sum(amounts, Fraction(0)))
    unit = Fraction(1, 10**money.digits)
    assert all(abs(Fraction(line) - amount) < unit for line, amount in zip(lines, amounts, strict=True))
    assert all(line.as_tuple().exponent == -money.digits for line in lines)


@given(st.lists(fractions, max_size=30), moneys)
def test_amounts_that_need_no_rounding_stay_as_they_are(amounts, money):
    whole = [Fraction(money.rounded(amount)) for amount in amounts]
    assert [Fraction(line) for line in money.apportioned(whole)] == whole


@given(fractions, moneys)
def test_a_rounded_amount_is_the_nearest_but_where_it_is_cut(amount, money):
    off = abs(Fraction(money.rounded(amount)) - amount) * 10**money.digits
    assert off < 1 if money.rounding == "down" else off <= Fraction(1, 2)


@pytest.mark.parametrize(
    ("rounding", "digits", "amount", "rounded"),
    [
        ("half_up", 2, "0.125", "0.13"),
        ("half_up", 2, "-0.125", "-0.13"),
        ("half_up", 0, "2.5", "3"),
        ("half_up", 3, "1.0005", "1.001"),
        ("half_even", 2, "0.125", "0.12"),
        ("half_even", 2, "-0.125", "-0.12"),
        ("half_even", 0, "3.5", "4"),
        ("down", 2, "0.129", "0.12"),
        ("down", 2, "-0.129", "-0.12"),
        ("down", 3, "7", "7.000"),
    ],
)
def test_the_rule_of_rounding(rounding, digits, amount, rounded):
    money = Money(code="XXX", digits=digits, rounding=rounding)
    assert str(money.rounded(Fraction(amount))) == rounded


def test_the_first_of_equal_remainders_is_raised():
    money = Money(code="CNY", digits=2, rounding="half_up")
    third = Fraction(1, 3)
    assert [str(line) for line in money.apportioned([third, third, third])] == ["0.34", "0.33", "0.33"]


def test_a_total_out_of_reach_is_refused():
    money = Money(code="CNY", digits=2, rounding="half_up")
    assert money.apportioned([Fraction(1, 3)] * 2, total=Decimal("0.66")) == [Decimal("0.33")] * 2
    with pytest.raises(ValueError, match="missing"):
        money.apportioned([Fraction(1, 3)] * 2, total=Decimal("0.69"))
    with pytest.raises(ValueError, match="missing"):
        money.apportioned([Fraction(1)], total=Decimal("0.99"))
    with pytest.raises(ValueError, match="digits"):
        money.apportioned([Fraction(1)], total=Decimal("1.001"))


@given(st.decimals(allow_nan=False, allow_infinity=False, places=15, min_value=-(10**9), max_value=10**9))
def test_decimals_come_back_exactly(value):
    assert exact_decimal(Fraction(value)) == value


def test_a_third_has_no_decimals():
    with pytest.raises(ValueError, match="no end"):
        exact_decimal(Fraction(1, 3))


@pytest.mark.parametrize(
    ("amount", "words"),
    [
        ("0", "零元整"),
        ("0.00", "零元整"),
        ("1", "壹元整"),
        ("10", "壹拾元整"),
        ("100.5", "壹佰元零伍角整"),
        ("1409.50", "壹仟肆佰零玖元伍角整"),
        ("6007.14", "陆仟零柒元壹角肆分"),
        ("1680.32", "壹仟陆佰捌拾元零叁角贰分"),
        ("107000.53", "壹拾万柒仟元零伍角叁分"),
        ("16409.02", "壹万陆仟肆佰零玖元零贰分"),
        ("325.04", "叁佰贰拾伍元零肆分"),
        ("0.05", "伍分"),
        ("0.5", "伍角整"),
        ("0.505", "伍角零伍厘"),
        ("10001", "壹万零壹元整"),
        ("100000000", "壹亿元整"),
        ("100010000", "壹亿零壹万元整"),
        ("100000001", "壹亿零壹元整"),
        ("1010000", "壹佰零壹万元整"),
        ("1000000000000", "壹万亿元整"),
        ("-12.30", "负壹拾贰元叁角整"),
        ("1.005", "壹元零伍厘"),
        ("1.050", "壹元零伍分"),
        ("1.234", "壹元贰角叁分肆厘"),
    ],
)
def test_amounts_in_chinese_characters(amount, words):
    assert chinese_words(Decimal(amount)) == words


def test_more_decimals_than_three_have_no_characters():
    with pytest.raises(ValueError, match="three"):
        chinese_words(Decimal("1.0001"))
    with pytest.raises(ValueError, match="large"):
        chinese_words(Decimal(10**24))
