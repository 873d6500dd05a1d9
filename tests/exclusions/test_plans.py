"""How much of a month exclusions get: caps in time order, overlaps once, month edges, notice, cold starts."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairclock.model import EPOCH, Interval
from fairclock.model.remedies import ExclusionState
from sla.exclusions import (
    Cap,
    Claim,
    ClaimedWindow,
    ClauseRule,
    EngineStart,
    cap_us,
    claims_of,
    cold_start_claims,
    exclusions_at,
    plan_of,
)
from tests.exclusions.factories import (
    HOUR,
    HOUR_US,
    OCTOBER,
    START,
    a_month,
    a_proposal,
    an_answer,
    at,
    between,
    rules,
)

SEPTEMBER = between("08-31 16:00", "09-30 16:00")
NOVEMBER = between("10-31 16:00", "11-30 16:00")
NOW = at("12-15 00:00")


def accepted(**changes):
    first = a_proposal(**changes)
    return [first, an_answer(first, "accepted", first.stored_at + HOUR)]


def granted(entries, month=None, its_rules=None, now=NOW):
    """Return what is left out, as pairs of text, and the plan."""
    span, known = month or a_month(), its_rules or rules()
    claims = claims_of(exclusions_at(entries, now), known, span)
    plan = plan_of([each for each in claims if each.is_granted], known, span)
    return [f"{each.start:%m-%d %H:%M} {each.end:%m-%d %H:%M}" for each in plan.times], plan, claims


@pytest.mark.parametrize(
    ("state", "times"),
    [
        ("accepted", ["10-11 02:00 10-11 04:00"]),
        ("disputed", []),
        ("revoked", []),
        (None, []),
    ],
    ids=["accepted", "disputed", "revoked", "only proposed"],
)
def test_only_what_was_accepted_is_left_out(state, times):
    first = a_proposal(answer_by=NOW + HOUR)
    entries = [first] if state is None else [first, an_answer(first, state, START)]
    assert granted(entries)[0] == times


def test_a_clause_that_the_contract_no_longer_has_excludes_nothing_and_says_so():
    times, _, claims = granted(accepted(), its_rules={"force_majeure": ClauseRule(name="force_majeure")})
    assert (times, [each.fits for each in claims]) == ([], [False])


@pytest.mark.parametrize(
    ("late_counts", "times"), [(True, []), (False, ["10-11 02:00 10-11 04:00"])], ids=["counts", "excluded"]
)
def test_late_maintenance_is_what_the_contract_says_of_emergencies(late_counts, times):
    maintenance = replace(rules()["maintenance"], late_counts=late_counts)
    found = granted(accepted(notice_at=START - HOUR), its_rules=rules(maintenance=maintenance))
    assert found[0] == times
    assert found[2][0].windows[0].late


def test_of_a_recurrence_only_the_windows_announced_in_time_are_left_out():
    entries = accepted(
        starts_at=at("10-03 18:00"),
        ends_at=at("10-03 19:00"),
        recurrence="FREQ=WEEKLY;BYDAY=SU",
        notice_at=at("10-08 00:00"),
        stored_at=at("10-08 00:00"),
    )
    times, _, (claim,) = granted(entries)
    assert times == ["10-17 18:00 10-17 19:00", "10-24 18:00 10-24 19:00"]
    assert [each.late for each in claim.windows] == [True, True, False, False]
    assert [each.retroactive for each in claim.windows] == [True, False, False, False]


def test_the_cap_is_used_up_in_time_order_whoever_was_accepted_first():
    later = accepted(id="ex-later", starts_at=at("10-20 00:00"), ends_at=at("10-20 03:00"))
    earlier = accepted(id="ex-earlier", starts_at=at("10-10 00:00"), ends_at=at("10-10 03:00"))
    times, plan, _ = granted([*later, *earlier])
    assert times == ["10-10 00:00 10-10 03:00", "10-20 00:00 10-20 01:00"]
    assert plan.used_us["maintenance"] == 4 * HOUR_US


def test_overlapping_windows_use_the_cap_up_once():
    one = accepted(id="ex-1", starts_at=at("10-10 00:00"), ends_at=at("10-10 03:00"))
    two = accepted(id="ex-2", starts_at=at("10-10 01:00"), ends_at=at("10-10 05:00"))
    times, plan, _ = granted([*one, *two])
    assert times == ["10-10 00:00 10-10 04:00"]
    assert [(each.id, each.time.length_us // HOUR_US) for each in plan.pieces] == [("ex-1", 3), ("ex-2", 1)]


def test_time_that_two_clauses_claim_uses_up_both_and_is_left_out_once():
    maintenance = accepted(id="ex-1", starts_at=at("10-10 00:00"), ends_at=at("10-10 03:00"))
    flood = accepted(
        id="ex-2", clause="force_majeure", starts_at=at("10-10 02:00"), ends_at=at("10-10 04:00")
    )
    after = accepted(id="ex-3", starts_at=at("10-20 00:00"), ends_at=at("10-20 03:00"))
    times, plan, _ = granted([*maintenance, *flood, *after])
    assert times == ["10-10 00:00 10-10 04:00", "10-20 00:00 10-20 01:00"]
    assert plan.used_us | {"maintenance": 4 * HOUR_US, "force_majeure": 2 * HOUR_US} == plan.used_us


def test_a_window_over_the_months_edge_uses_each_months_cap_for_its_part():
    entries = accepted(
        starts_at=at("10-31 13:00"), ends_at=at("10-31 21:00")
    )  # five hours each side of midnight
    assert granted(entries)[0] == ["10-31 13:00 10-31 16:00"]
    entries = accepted(starts_at=at("10-31 10:00"), ends_at=at("10-31 21:00"))
    assert granted(entries)[0] == ["10-31 10:00 10-31 14:00"]
    assert granted(entries, a_month(NOVEMBER))[0] == ["10-31 16:00 10-31 20:00"]
    assert granted(entries, a_month(SEPTEMBER))[0] == []


def test_an_open_end_that_was_accepted_reaches_up_to_the_acceptance():
    first = a_proposal(clause="force_majeure", ends_at=None)
    once = an_answer(first, "accepted", START + 3 * HOUR)
    again = an_answer(first, "accepted", START + 5 * HOUR, sequence=3)
    assert granted([first, once])[0] == ["10-11 02:00 10-11 05:00"]
    assert granted([first, once, again])[0] == ["10-11 02:00 10-11 07:00"]
    assert granted([first, an_answer(first, "accepted", START - HOUR)])[0] == []
    disputed = an_answer(first, "disputed", START + 6 * HOUR, sequence=4)
    _, _, (claim,) = granted([first, once, disputed])
    assert claim.windows[0].time.end == OCTOBER.end


def test_nothing_is_claimed_of_time_that_has_not_passed():
    elapsed = Interval(start=OCTOBER.start, end=START + HOUR)
    assert granted(accepted(), a_month(elapsed=elapsed))[0] == ["10-11 02:00 10-11 03:00"]
    assert (
        granted(accepted(starts_at=START + HOUR, ends_at=START + 2 * HOUR), a_month(elapsed=elapsed))[2] == []
    )


@pytest.mark.parametrize(
    ("cap", "period_us", "whole_us", "is_prorated", "expected"),
    [
        (Cap(share=Fraction(1, 1000)), 744 * HOUR_US, 744 * HOUR_US, True, 2_678_400_000),
        (Cap(share=Fraction(1, 1000)), 743 * HOUR_US, 743 * HOUR_US, True, 2_674_800_000),
        (Cap(share=Fraction(1, 1000)), 745 * HOUR_US, 745 * HOUR_US, True, 2_682_000_000),
        (Cap(share=Fraction(1, 1000)), 372 * HOUR_US, 744 * HOUR_US, True, 1_339_200_000),
        (Cap(share=Fraction(1, 3)), 100, 100, True, 33),
        (Cap(duration_us=4 * HOUR_US), 744 * HOUR_US, 744 * HOUR_US, True, 4 * HOUR_US),
        (Cap(duration_us=4 * HOUR_US), 372 * HOUR_US, 744 * HOUR_US, True, 2 * HOUR_US),
        (Cap(duration_us=4 * HOUR_US), 372 * HOUR_US, 744 * HOUR_US, False, 4 * HOUR_US),
        (Cap(duration_us=10), 1, 3, True, 3),
    ],
    ids=[
        "0.1 % of 31 days",
        "of a month that lost an hour",
        "of a month that gained one",
        "of what the term leaves",
        "rounded down",
        "a time",
        "half a month, half the time",
        "unless the month is not prorated",
        "rounded down, too",
    ],
)
def test_how_much_a_cap_is(cap, period_us, whole_us, is_prorated, expected):
    assert cap_us(cap, period_us=period_us, whole_us=whole_us, is_prorated=is_prorated) == expected


def start(instance, began, served, upstream="10.0.0.1:8000"):
    first = None if served is None else at(served)
    return EngineStart(
        instance=instance,
        upstream=upstream,
        started_at=at(began),
        first_served_at=first,
        evidence="engine_states",
    )


@pytest.mark.parametrize(
    ("starts", "times"),
    [
        ([start("a", "10-10 00:00", "10-10 00:10")], ["00:00 00:10"]),
        ([start("a", "10-10 00:00", None)], []),
        ([start("a", "10-10 00:00", "10-10 00:00")], []),
        ([start("a", "10-10 00:00", "10-10 00:10", upstream="")], []),
        (
            [start("a", "10-10 00:00", "10-10 00:30"), start("a", "10-10 00:20", "10-10 00:30")],
            ["00:20 00:30"],
        ),
        ([start("a", "10-10 00:00", "10-10 00:10")] * 2, ["00:00 00:10"]),
        (
            [
                start("a", "10-10 00:00", "10-10 00:25"),
                start("b", "10-10 00:05", "10-10 00:40", "10.0.0.2:8000"),
            ],
            ["00:00 00:25", "00:05 00:30"],
        ),
    ],
    ids=[
        "from its start to its first served request",
        "it never served",
        "it served at once",
        "nothing is routed to it",
        "it started again before it had served",
        "the same start seen twice",
        "of two engines the cap is used up together, overlaps once",
    ],
)
def test_a_cold_start_is_left_out_without_anyones_word(starts, times):
    claims = cold_start_claims(starts, rules(), a_month())
    plan = plan_of(claims, rules(), a_month())
    assert [f"{each.time.start:%H:%M} {each.time.end:%H:%M}" for each in plan.pieces] == times
    assert plan.times == []
    assert all(each.upstream for each in plan.pieces)
    assert cold_start_claims(starts, {}, a_month()) == []


def test_a_cold_start_leaves_out_requests_to_that_engine_only():
    plan = plan_of(
        cold_start_claims([start("a", "10-10 00:00", "10-10 00:10")], rules(), a_month()), rules(), a_month()
    )
    inside = at("10-10 00:09")
    assert [plan.holds(inside, each) for each in ("10.0.0.1:8000", "10.0.0.2:8000", "")] == [
        True,
        False,
        False,
    ]
    assert not plan.holds(at("10-10 00:10"), "10.0.0.1:8000")


# --- every microsecond, by hand -----------------------------------------------------------------------------------

LENGTH = 60
PERIOD = Interval(start=EPOCH, end=EPOCH + timedelta(microseconds=LENGTH))
CLAUSES = ("maintenance", "force_majeure", "cold_start")
spans = st.lists(
    st.tuples(st.integers(0, LENGTH - 1), st.integers(1, 25), st.booleans()).map(
        lambda each: (each[0], min(LENGTH, each[0] + each[1]), each[2])
    ),
    min_size=1,
    max_size=4,
)
claim_lists = st.lists(
    st.tuples(st.sampled_from(CLAUSES), st.sampled_from(["", "a", "b"]), spans), max_size=6
)
cap_values = st.fixed_dictionaries({name: st.none() | st.integers(0, 40) for name in CLAUSES})


def as_claims(drawn):
    return [
        Claim(
            id=f"ex-{number}",
            clause=clause,
            state=ExclusionState.ACCEPTED,
            upstream=upstream,
            windows=tuple(
                ClaimedWindow(
                    time=Interval(
                        start=EPOCH + timedelta(microseconds=low), end=EPOCH + timedelta(microseconds=high)
                    ),
                    counts=counts,
                )
                for low, high, counts in windows
            ),
        )
        for number, (clause, upstream, windows) in enumerate(drawn)
    ]


def as_rules(caps):
    return {
        name: ClauseRule(name=name, cap=None if cap is None else Cap(duration_us=cap))
        for name, cap in caps.items()
    }


def left_out_by_hand(drawn, caps):
    """Return the (microsecond, upstream) left out, walking through the month with a purse for each clause."""
    left = dict(caps)
    out = set()
    for instant in range(LENGTH):
        for clause in CLAUSES:
            wanted = [
                upstream
                for its, upstream, windows in drawn
                if its == clause
                and any(low <= instant < high and not counts for low, high, counts in windows)
            ]
            if not wanted or left[clause] == 0:
                continue
            if left[clause] is not None:
                left[clause] -= 1
            for upstream in ("x", "a", "b"):
                if "" in wanted or upstream in wanted:
                    out.add((instant, upstream))
    return out


@settings(max_examples=150, deadline=None)
@given(drawn=claim_lists, caps=cap_values)
def test_every_microsecond_is_left_out_as_a_walk_through_the_month_says(drawn, caps):
    plan = plan_of(as_claims(drawn), as_rules(caps), a_month(PERIOD))
    found = {
        (instant, upstream)
        for instant in range(LENGTH)
        for upstream in ("x", "a", "b")
        if plan.holds(EPOCH + timedelta(microseconds=instant), upstream)
    }
    assert found == left_out_by_hand(drawn, caps)


@settings(max_examples=60, deadline=None)
@given(drawn=claim_lists, caps=cap_values, order=st.randoms(use_true_random=False))
def test_pieces_are_disjoint_capped_and_do_not_depend_on_the_order_of_claims(drawn, caps, order):
    claims = as_claims(drawn)
    plan = plan_of(claims, as_rules(caps), a_month(PERIOD))
    for upstream in {each.upstream for each in plan.pieces}:
        mine = sorted((each.time.start, each.time.end) for each in plan.pieces if each.upstream == upstream)
        assert all(one[1] <= two[0] for one, two in pairwise(mine))
    assert all(cap is None or plan.used_us[name] <= cap for name, cap in caps.items())
    shuffled = list(claims)
    order.shuffle(shuffled)
    assert plan_of(shuffled, as_rules(caps), a_month(PERIOD)).pieces == plan.pieces


@settings(max_examples=60, deadline=None)
@given(drawn=claim_lists, caps=cap_values, more=st.tuples(st.sampled_from(CLAUSES), st.just(""), spans))
def test_one_more_claim_never_uses_up_less(drawn, caps, more):
    before = plan_of(as_claims(drawn), as_rules(caps), a_month(PERIOD))
    after = plan_of(as_claims([*drawn, more]), as_rules(caps), a_month(PERIOD))
    assert all(before.used_us[name] <= after.used_us[name] for name in CLAUSES)
