"""What holds for any usage and any prices."""

from collections import defaultdict
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from billing.charges import charge, closing
from billing.usage import Treatment
from tests.charges.factories import usage
from tests.prices.factories import good_book, version

SUMS = (
    "requests",
    "uncached_prompt_tokens",
    "cached_prompt_tokens",
    "completion_tokens",
    "gpu_picoseconds",
)
TIERED = {
    "included": [
        {"of": "completion", "quantity": "700"},
        {"of": "requests", "models": "large", "quantity": "5"},
    ],
    "tiers": [
        {
            "of": "tokens",
            "counted": "graduated",
            "steps": [
                {"from": "0", "discount": "0%"},
                {"from": "900", "discount": "7%"},
                {"from": "2000", "discount": "33%"},
            ],
        },
        {
            "of": "gpu_seconds",
            "counted": "volume",
            "steps": [{"from": "0", "discount": "0%"}, {"from": "3", "discount": "10%"}],
        },
    ],
    "minimum": {"per_month": "30"},
}
PLAIN = good_book()
BOOK = good_book({f"versions.0.{key}": value for key, value in TIERED.items()})

counts = st.integers(min_value=0, max_value=3000)


@st.composite
def usages(draw):
    return usage(
        hour=draw(st.integers(0, 5)),
        model=draw(st.sampled_from(["small", "large", "unheard"])),
        machine=draw(st.sampled_from(["H200", "H200 MIG 1g", ""])),
        treatment=draw(st.sampled_from([str(each) for each in Treatment])),
        gpu_picoseconds=draw(st.integers(0, 10**13)),
        **{name: draw(counts) for name in SUMS[:-1]},
    )


@st.composite
def splits(draw):
    """Return a group and two parts of it."""
    whole = draw(usages())
    first = {name: draw(st.integers(0, getattr(whole, name))) for name in SUMS}
    second = {name: getattr(whole, name) - first[name] for name in SUMS}
    return whole, replace(whole, **first), replace(whole, **second)


def _by_kind(*groups, version):
    totals = defaultdict(Fraction)
    for group in groups:
        for each in charge(group, version):
            totals[each.name, each.unit_name, each.unit_price] += each.amount
    return {key: amount for key, amount in totals.items() if amount}


@given(splits())
def test_charges_are_additive_over_any_split(split):
    whole, first, second = split
    (prices,) = PLAIN.versions
    assert _by_kind(whole, version=prices) == _by_kind(first, second, version=prices)


@given(usages())
def test_quantity_times_unit_price_is_the_amount(one):
    for each in charge(one, PLAIN.versions[0]):
        assert each.quantity * Fraction(each.unit_price) == each.amount >= 0
        assert {type(each.quantity), type(each.amount), type(each.count)} == {Fraction}


@given(usages())
def test_the_formula_is_that_of_the_contract(one):
    """Written out once more, as one expression."""
    (prices,) = PLAIN.versions
    weight = {"small": 1, "large": 2}.get(one.model)
    machine = {"H200": Fraction(1, 4), "H200 MIG 1g": Fraction(1, 20)}.get(one.machine, 0)
    tokens = Fraction(
        2 * one.uncached_prompt_tokens + one.cached_prompt_tokens + 8 * one.completion_tokens, 1000
    )
    whole = 0 if weight is None else one.requests * Fraction(1, 2) * weight
    expected = {
        Treatment.COMPLETED: whole
        + (tokens if weight else 0)
        + Fraction(one.gpu_picoseconds, 10**12) * machine,
        Treatment.ABORTED: tokens if weight else 0,
    }.get(one.treatment, 0)
    assert sum((each.amount for each in charge(one, prices)), Fraction(0)) == expected


@settings(deadline=None)
@given(st.lists(usages(), max_size=8), st.randoms(use_true_random=False))
def test_the_order_of_arrival_changes_nothing_at_close(month, random):
    shuffled = list(month)
    random.shuffle(shuffled)
    interval = BOOK.month("2026-10")
    assert closing(month, BOOK, interval, tenant="acme") == closing(shuffled, BOOK, interval, tenant="acme")


@settings(deadline=None)
@given(st.lists(splits(), max_size=6))
def test_splitting_groups_changes_nothing_at_close(month):
    interval = BOOK.month("2026-10")
    whole = closing([each[0] for each in month], BOOK, interval, tenant="acme")
    parts = closing([part for each in month for part in each[1:]], BOOK, interval, tenant="acme")
    assert whole == parts


@settings(deadline=None)
@given(st.lists(usages(), max_size=8))
def test_a_month_of_which_anything_is_charged_owes_its_minimum_and_no_other_owes_anything(month):
    interval = BOOK.month("2026-10")
    charged = sum((each.amount for one in month for each in charge(one, BOOK.versions[0])), Fraction(0))
    adjusted = closing(month, BOOK, interval, tenant="acme")
    total = charged + sum((each.amount for each in adjusted), Fraction(0))
    is_used = any(each.counts for one in month for each in charge(one, BOOK.versions[0]))
    assert total >= 30 if is_used else total == 0
    lowering = [each for each in adjusted if each.rule != "minimum"]
    assert all(each.amount < 0 for each in lowering)
    assert len({each.subject for each in adjusted}) == len(adjusted)


@settings(deadline=None)
@given(st.lists(usages(), max_size=8))
def test_a_new_version_that_changes_nothing_changes_nothing(month):
    """Volumes are counted over the month, not over a version."""
    later = version("v2", "2026-10-01 10:00", **TIERED)
    two = good_book({**{f"versions.0.{key}": value for key, value in TIERED.items()}, "versions.1": later})
    interval = two.month("2026-10")
    assert len(two.changes(interval)) == 1
    one_way = [
        (each.subject, each.count, each.amount) for each in closing(month, BOOK, interval, tenant="acme")
    ]
    assert [
        (each.subject, each.count, each.amount) for each in closing(month, two, interval, tenant="acme")
    ] == one_way


@settings(deadline=None)
@given(st.lists(usages(), max_size=8))
def test_prices_that_change_and_change_back_hold_for_what_was_received_under_them(month):
    """A -> B -> A: what was received under A costs what it costs without B, what was received under B what B says."""
    b = version("b", "2026-10-01 10:00", base_fee="7")  # hour 2 of October's first day in UTC
    book = good_book({"versions.1": b, "versions.2": version("a-again", "2026-10-01 12:00")})
    dearer = good_book({"versions.0.base_fee": "7"})
    for each in month:
        hour = each.start.hour
        alone = dearer if hour in {2, 3} else PLAIN
        found = charge(each, book.version_at(each.start))
        assert found == charge(each, alone.versions[0])


def test_an_unknown_month_of_nothing_adjusts_nothing():
    assert closing([], PLAIN, PLAIN.month("2026-10"), tenant="acme") == []


@pytest.mark.parametrize("hour", [0, 5])
def test_usage_before_the_first_version_is_adjusted_by_nothing(hour):
    book = good_book(
        {"versions.0.from": "2026-11-01", "versions.0.included": [{"of": "requests", "quantity": "9"}]}
    )
    assert closing([usage(hour=hour, requests=5)], book, book.month("2026-10"), tenant="acme") == []
