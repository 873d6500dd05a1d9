"""The laws of budgets, and the numbers of months that are not 30 days long."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairclock.model import Interval
from sla.budgets import Budget, Pace, burn_rate, event_interval, exhausted_us, forecast, sum_of
from sla.calendars import period_of_month, zone_of
from sla.percentiles import is_met
from sla.tallies import Tally, total_of
from sla.verdicts import ratio_kept

counts = st.integers(0, 10**9)
tallies = st.builds(Tally, good=counts, bad=counts, excluded=counts, unknown=counts)
shares = st.fractions(Fraction(1, 10**5), Fraction(99_999, 10**5))


@st.composite
def budgets(draw: st.DrawFn, kind: str | None = None) -> Budget:
    counted = draw(counts)
    return Budget(
        kind=draw(st.sampled_from(("requests", "windows", "time"))) if kind is None else kind,
        share=draw(shares),
        counted=counted,
        spent=draw(st.integers(0, counted)),
    )


@given(budgets())
def test_what_is_spent_and_what_remains_are_what_is_allowed(budget):
    assert budget.spent + budget.remaining == budget.allowed
    assert (budget.remaining < 0) == budget.is_exhausted


@given(budgets("requests"))
def test_a_budget_is_overspent_exactly_where_the_promise_is_broken(budget):
    assert budget.is_exhausted != is_met(int(budget.spent), budget.counted, 100 * (1 - budget.share))
    good = budget.counted - int(budget.spent)
    assert budget.is_exhausted != ratio_kept(good, budget.counted, 1 - budget.share)


@given(budgets(), st.integers(1, 10**6))
def test_more_that_is_bad_never_raises_what_is_left(budget, more):
    worse = Budget(kind=budget.kind, share=budget.share, counted=budget.counted, spent=budget.spent + more)
    assert worse.remaining < budget.remaining
    if budget.remaining_ratio is not None:
        assert worse.remaining_ratio < budget.remaining_ratio
    if budget.counted:
        assert burn_rate(worse.spent, worse.counted, worse.share) > burn_rate(
            budget.spent, budget.counted, budget.share
        )


@given(st.lists(tallies, max_size=20), st.data())
def test_splitting_a_window_anywhere_changes_no_sum(parts, data):
    place = data.draw(st.integers(0, len(parts)))
    whole = total_of(parts)
    assert total_of(parts[:place]) + total_of(parts[place:]) == whole
    assert whole.good + whole.bad + whole.excluded + whole.unknown == whole.total
    assert whole.total == sum(each.total for each in parts)
    assert whole.counted(unknown_is_bad=True) + whole.excluded == whole.total


@given(st.lists(st.tuples(counts, counts), min_size=1, max_size=10), shares)
def test_budgets_of_parts_add_up_to_the_budget_of_the_whole(parts, share):
    whole = sum_of([Budget(kind="requests", share=share, counted=n + bad, spent=bad) for n, bad in parts])
    counted, spent = sum(n + bad for n, bad in parts), sum(bad for _, bad in parts)
    assert whole == Budget(kind="requests", share=share, counted=counted, spent=spent)


@pytest.mark.parametrize(
    ("month", "zone", "minutes"),
    [
        ("2026-10", "Asia/Shanghai", Fraction(446, 10) + Fraction(4, 100)),
        ("2026-02", "Etc/UTC", Fraction(4032, 100)),
        ("2024-02", "Etc/UTC", Fraction(4176, 100)),
        ("2026-03", "Europe/Berlin", Fraction(4458, 100)),
        ("2026-10", "Europe/Berlin", Fraction(4470, 100)),
        ("2026-04", "Australia/Lord_Howe", Fraction(43230, 1000)),
    ],
    ids=[
        "a month of 31 days", "a February", "a leap February", "a month one hour short",
        "a month one hour long", "a month half an hour long",
    ],
)  # fmt: skip
def test_one_thousandth_of_a_month_is_as_long_as_the_month_says(month, zone, minutes):
    period = period_of_month(month, zone_of(zone))
    budget = Budget(kind="time", share=Fraction(1, 1000), counted=period.length_us, spent=0)
    assert budget.allowed == minutes * 60_000_000


def test_a_budget_without_traffic_has_no_part_that_is_left():
    assert Budget(kind="requests", share=Fraction(1, 100), counted=0, spent=0).remaining_ratio is None
    assert burn_rate(0, 0, Fraction(1, 100)) is None


@pytest.mark.parametrize("share", [0, 1, Fraction(-1, 2)], ids=["nothing", "everything", "less than nothing"])
def test_a_share_that_leaves_no_promise_is_refused(share):
    with pytest.raises(ValueError, match="between 0 and 1"):
        Budget(kind="requests", share=Fraction(share), counted=1, spent=0)


@given(st.lists(st.tuples(st.integers(0, 60), st.booleans()), max_size=30), st.integers(0, 300))
def test_time_is_used_up_at_the_microsecond_a_walk_finds(lost, allowed):
    losses = [(60 * place, 60 * place + 60, amount) for place, (amount, _) in enumerate(lost)]
    spent, expected = 0, None
    for start, _, amount in losses:
        for offset in range(amount):
            spent += 1
            if spent > allowed and expected is None:
                expected = start + offset
    assert exhausted_us(losses, allowed) == expected


PERIOD = Interval(start=datetime(2026, 10, 1, tzinfo=UTC), end=datetime(2026, 11, 1, tzinfo=UTC))
NOW = datetime(2026, 10, 11, tzinfo=UTC)
DAY_US = 86_400_000_000


def test_a_steady_pace_uses_the_budget_up_when_the_rule_of_three_says():
    # 10,000 a day, 1 % of 310,000 may be bad: 3,100; 1,000 are, and 300 a day follow: 7 days later
    budget = Budget(kind="requests", share=Fraction(1, 100), counted=100_000, spent=1_000)
    found = forecast(budget, Pace(counted=10_000, spent=300, length_us=DAY_US), now=NOW, period=PERIOD)
    assert abs(found.at - (NOW + timedelta(days=7))) < timedelta(seconds=1)
    assert found.earliest < found.at < found.latest


def test_a_pace_that_the_period_outlasts_uses_nothing_up():
    budget = Budget(kind="requests", share=Fraction(1, 100), counted=100_000, spent=0)
    found = forecast(budget, Pace(counted=10_000, spent=1, length_us=DAY_US), now=NOW, period=PERIOD)
    assert found.at is None
    assert found.latest is None


def test_what_is_beyond_the_whole_periods_budget_is_used_up_now():
    budget = Budget(kind="requests", share=Fraction(1, 100), counted=100_000, spent=9_999)
    found = forecast(budget, Pace(counted=10_000, spent=0, length_us=DAY_US), now=NOW, period=PERIOD)
    assert found.at == NOW


@pytest.mark.parametrize(
    ("count", "low", "high"),
    [(0, 0.0, 3.689), (5, 1.623, 11.668), (10, 4.795, 18.39), (100, 81.36, 121.63)],
    ids=["none seen", "five seen", "ten seen", "a hundred seen"],
)
def test_the_interval_of_events_is_that_of_the_tables(count, low, high):
    found = event_interval(count)
    assert found[0] == pytest.approx(low, rel=0.02)
    assert found[1] == pytest.approx(high, rel=0.02)
