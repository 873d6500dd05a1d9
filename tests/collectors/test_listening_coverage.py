"""Which event time a receiver has read through."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.otlp.coverage import ListeningCoverage
from fairclock.model import merge

NOON = datetime(2026, 10, 1, 12, tzinfo=UTC)


def ns(seconds: float) -> int:
    return int((NOON.timestamp() + seconds) * 1e9)


def seconds_covered(*requests: tuple[float, list[float]]) -> list[tuple[float, float]]:
    """Cover with (seconds listened, ends after noon in seconds) requests."""
    coverage = ListeningCoverage()
    intervals = []
    for listened, ends in requests:
        coverage.observe(map(ns, ends), listened_seconds=listened)
        intervals += coverage.take_new()
    return [
        ((each.start - NOON) / timedelta(seconds=1), (each.end - NOON) / timedelta(seconds=1))
        for each in merge(intervals)
    ]


HOUR, MONTH = 3600, 30 * 86400


@pytest.mark.parametrize(
    ("requests", "covered"),
    [
        pytest.param([(0, [])], [], id="no spans cover nothing"),
        pytest.param([(0, [5])], [], id="one span covers no time"),
        pytest.param([(0, [5, 9, 7])], [(5, 9)], id="one request covers from its first to its last end"),
        pytest.param([(0, [5]), (4, [9])], [(5, 9)], id="requests in a row cover the time between them"),
        pytest.param([(0, [5]), (HOUR, [HOUR])], [(5, HOUR)], id="a quiet hour while listening is covered"),
        pytest.param([(0, [5]), (1, [HOUR])], [], id="an hour passed over in a second is not"),
        pytest.param(
            [(0, [-MONTH, 5 - MONTH]), (2, [0]), (9, [7])],
            [(-MONTH, 5 - MONTH), (0, 7)],
            id="last month's spans do not cover the month since",
        ),
        pytest.param([(9, [5]), (10, [3])], [(3, 5)], id="a late span extends backwards"),
        pytest.param(
            [(0, [0]), (1, [90, 91]), (2, [45])],
            [(0, 91)],
            id="a span in the middle closes the gap on both sides",
        ),
        pytest.param(
            [(0, [0, 3]), (4, [-NOON.timestamp(), 5, 10**9 * 4]), (8, [9])],
            [(0, 9)],
            id="clocks that are not set cover nothing and cost nothing",
        ),
        pytest.param(
            [(0, [0, 3]), (5, [MONTH]), (8, [7])], [(0, 7)], id="a span from the future costs nothing"
        ),
    ],
)
def test_coverage(requests, covered):
    assert seconds_covered(*requests) == covered


@given(st.lists(st.lists(st.integers(0, 50_000), max_size=4), max_size=12), st.integers(0, 9_000))
def test_with_one_allowance_order_does_not_matter(requests, listened):
    """Sorted ends whose gaps are allowed are covered, however they arrived."""
    ends = sorted({end for request in requests for end in request})
    pairs = pairwise(ends)
    gaps = sum(after - before for before, after in pairs if after - before <= listened + 60)
    covered = seconds_covered(*((listened, request) for request in requests))
    assert sum(end - start for start, end in covered) == pytest.approx(gaps)


def test_what_could_not_be_written_is_handed_out_again():
    coverage = ListeningCoverage()
    coverage.observe([ns(0), ns(5)], listened_seconds=0)
    coverage.give_back(coverage.take_new())
    coverage.observe([ns(9)], listened_seconds=9)
    assert [(each.start, each.end) for each in coverage.take_new()] == [(NOON, NOON + timedelta(seconds=9))]
    assert coverage.take_new() == []
