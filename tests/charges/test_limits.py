"""Ceilings and budgets are conditions: equality is within, and no pace is no forecast."""

from datetime import timedelta
from fractions import Fraction
from pathlib import Path

import pytest

from billing.charges.limits import budget_conditions, ceiling_conditions
from billing.prices import load_price_book

BOOK = load_price_book(Path(__file__).parents[2] / "examples/prices.yaml")
OCTOBER = BOOK.month("2026-10")


@pytest.mark.parametrize(
    ("requests", "amount", "broken"),
    [
        pytest.param(1000, "1.5", False, id="what costs as much as it may is within"),
        pytest.param(1000, "1.500001", True, id="anything above is not"),
    ],
)
def test_a_ceiling(requests, amount, broken):
    (condition,) = ceiling_conditions(
        BOOK.ceilings, {"short": (requests, Fraction(amount)), "": (5, Fraction(99))}
    )
    assert (condition.length_class, condition.is_broken) == ("short", broken)


def test_long_context_counts_for_the_ceiling_of_long_prompts():
    (condition,) = ceiling_conditions(
        BOOK.ceilings, {"long": (1, Fraction("0.001")), "long_context": (1, Fraction("0.009"))}
    )
    assert (condition.length_class, condition.per_call, condition.is_broken) == (
        "long",
        Fraction("0.005"),
        True,
    )


def test_a_class_without_calls_has_no_condition():
    assert ceiling_conditions(BOOK.ceilings, {"short": (0, Fraction(0))}) == []


@pytest.mark.parametrize(
    ("days", "spent", "forecast", "over", "headed"),
    [
        pytest.param(0, 0, None, False, False, id="no forecast where nothing has passed"),
        pytest.param(10, 10_000, 31_000, False, False, id="a pace within the budget"),
        pytest.param(10, 20_000, 62_000, False, True, id="a pace beyond the budget"),
        pytest.param(10, 50_000, 155_000, False, True, id="a budget that is just used up is not exceeded"),
        pytest.param(31, 50_001, 50_001, True, True, id="more than was meant"),
        pytest.param(45, 50_000, 50_000, False, False, id="after its end a month comes to what it was"),
    ],
)
def test_a_budget(days, spent, forecast, over, headed):
    now = OCTOBER.start + timedelta(days=days)
    (condition,) = budget_conditions(
        BOOK.budgets, {"acme": Fraction(spent), "bank": Fraction(10**9)}, month=OCTOBER, now=now
    )
    assert (condition.forecast, condition.is_broken, condition.is_headed_over) == (forecast, over, headed)
