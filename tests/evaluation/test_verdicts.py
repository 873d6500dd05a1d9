"""Counts become verdicts: equality, small volumes, little coverage, in that order."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sla.verdicts import (
    Count,
    Judgement,
    Reason,
    Verdict,
    by_count,
    ratio_allowed,
    ratio_kept,
    under_floor,
)

MET, VIOLATED = Verdict.MET, Verdict.VIOLATED
INSUFFICIENT, NOT_MEASURED = Verdict.INSUFFICIENT_DATA, Verdict.NOT_MEASURED
counts = st.builds(
    Count,
    valued=st.integers(50, 100),
    valued_over=st.integers(0, 50),
    unanswered=st.integers(0, 50),
    unknown=st.integers(0, 50),
)


@pytest.mark.parametrize(
    ("counted", "minimum", "otherwise", "kept", "expected"),
    [
        pytest.param(100, 100, "void", True, (MET, Reason.COUNTED), id="the minimum itself is enough"),
        pytest.param(
            99, 100, "void", False, (INSUFFICIENT, Reason.INSUFFICIENT_VOLUME), id="one fewer is void"
        ),
        pytest.param(
            99, 100, "carry_over", True, (INSUFFICIENT, Reason.INSUFFICIENT_VOLUME), id="or carried"
        ),
        pytest.param(
            99, 100, "met", False, (MET, Reason.INSUFFICIENT_VOLUME), id="or met, whatever the count"
        ),
        pytest.param(99, 100, "violated", True, (VIOLATED, Reason.INSUFFICIENT_VOLUME), id="or violated"),
        pytest.param(0, 100, "met", True, (MET, Reason.INSUFFICIENT_VOLUME), id="nothing is fewer too"),
        pytest.param(0, 0, "met", True, (INSUFFICIENT, Reason.NOTHING_COUNTED), id="nothing is never kept"),
        pytest.param(1, 0, "void", False, (VIOLATED, Reason.COUNTED), id="one broken promise counts"),
    ],
)
def test_a_small_volume_is_what_the_contract_says(counted, minimum, otherwise, kept, expected):
    judgement = by_count(kept=kept, counted=counted, minimum=minimum, otherwise=otherwise)
    assert (judgement.verdict, judgement.reason) == expected


@pytest.mark.parametrize("verdict", [MET, INSUFFICIENT])
@pytest.mark.parametrize(("otherwise", "expected"), [("violated", VIOLATED), ("void", NOT_MEASURED)])
def test_coverage_below_the_floor_replaces_what_is_not_violated(verdict, otherwise, expected):
    judgement = under_floor(
        Judgement(verdict=verdict, reason=Reason.COUNTED),
        covered_us=994_999,
        elapsed_us=1_000_000,
        floor=Fraction(995, 1000),
        otherwise=otherwise,
    )
    assert (judgement.verdict, judgement.reason) == (expected, Reason.BELOW_COVERAGE_FLOOR)


def test_coverage_of_exactly_the_floor_is_enough():
    judgement = Judgement(verdict=MET, reason=Reason.COUNTED)
    kept = under_floor(
        judgement, covered_us=995_000, elapsed_us=1_000_000, floor=Fraction(995, 1000), otherwise="violated"
    )
    assert kept == judgement


@pytest.mark.parametrize("otherwise", ["violated", "void"])
def test_no_coverage_at_all_excuses_no_violation(otherwise):
    judgement = Judgement(verdict=VIOLATED, reason=Reason.COUNTED)
    found = under_floor(judgement, covered_us=0, elapsed_us=1, floor=Fraction(1), otherwise=otherwise)
    assert found == judgement


@pytest.mark.parametrize(
    ("good", "counted", "target", "kept"),
    [
        (999, 1000, "0.999", True),
        (998, 1000, "0.999", False),
        (99_900, 100_000, "0.999", True),
        (99_899, 100_000, "0.999", False),
        (1, 3, "1/3", True),
    ],
    ids=["equality meets", "one more does not", "equality of more", "one of more", "an exact third"],
)
def test_a_ratio_is_compared_without_dividing(good, counted, target, kept):
    assert ratio_kept(good, counted, Fraction(target)) is kept


@given(st.integers(0, 10**7), st.fractions(min_value=0, max_value=1, max_denominator=10**6))
def test_what_is_allowed_is_exactly_what_keeps_the_ratio(counted, target):
    allowed = ratio_allowed(counted, target)
    assert ratio_kept(counted - allowed, counted, target)
    assert allowed == counted or not ratio_kept(counted - allowed - 1, counted, target)


@given(counts, counts, st.booleans())
def test_counts_of_disjoint_requests_add_up(one, other, unknown_is_bad):
    both = one + other
    for measure in (Count.counted, Count.over):
        parts = measure(one, unknown_is_bad=unknown_is_bad) + measure(other, unknown_is_bad=unknown_is_bad)
        assert measure(both, unknown_is_bad=unknown_is_bad) == parts


@given(counts)
def test_unknown_requests_are_bad_or_not_there(count):
    for measure in (Count.counted, Count.over):
        assert measure(count, unknown_is_bad=True) - measure(count, unknown_is_bad=False) == count.unknown
