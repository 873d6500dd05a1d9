"""Which event time a receiver has read through."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.otlp.coverage import ListeningCoverage
from fairclock.model import Interval, merge
from tests.collectors.deliveries import instant

NOON = datetime(2026, 10, 1, 12, tzinfo=UTC)


def ns(seconds: float) -> int:
    return int((NOON.timestamp() + seconds) * 1e9)


def seconds_covered(*requests: tuple[float, list[float]]) -> list[tuple[float, float]]:
    """Cover with (seconds listened, ends after noon in seconds) requests; None seconds: the request was refused."""
    coverage = ListeningCoverage()
    pieces = []
    for listened, ends in requests:
        if listened is None:
            coverage.refuse(map(ns, ends))
        else:
            pieces += coverage.observe(map(ns, ends), listened_seconds=listened)
    return in_seconds(pieces)


def in_seconds(pieces):
    intervals = [Interval(start=instant(start), end=instant(end)) for start, end in pieces]
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


@pytest.mark.parametrize(
    ("requests", "covered"),
    [
        pytest.param([(0, [0, 1]), (None, [2]), (3, [3, 4])], [(0, 1), (3, 4)], id="and given up, is a gap"),
        pytest.param([(0, [0, 1]), (None, [2]), (3, [3]), (4, [2])], [(0, 3)], id="and sent again, is none"),
        pytest.param(
            [(0, [0]), (None, [2, 4]), (5, [6]), (6, [2])],
            [(0, 2)],
            id="and sent again in part, leaves the rest of the gap",
        ),
        pytest.param(
            [(0, [0, 5]), (None, [2]), (5, [6])], [(0, 6)], id="late, within what was covered, is too late"
        ),
        pytest.param([(0, [0]), (None, [0]), (5, [6])], [(0, 6)], id="though it had been taken, is none"),
        pytest.param(
            [(None, [3]), (0, [1, 2]), (3, [5])], [(1, 2)], id="before anything was heard, counts too"
        ),
        pytest.param(
            [(0, [0]), (None, [-NOON.timestamp()]), (1, [2])], [(0, 2)], id="without a clock, is none"
        ),
    ],
)
def test_a_span_that_was_refused(requests, covered):
    assert seconds_covered(*requests) == covered


def test_more_refused_spans_than_can_be_remembered_one_by_one_are_a_gap_for_good(monkeypatch):
    monkeypatch.setattr("collectors.otlp.coverage._MOST_REFUSED", 10)
    refused = range(10, 21)
    assert seconds_covered((0, [0]), (None, refused), (30, [30]), (31, refused)) == [(0, 10), (14, 30)]


def test_a_copy_is_changed_on_its_own():
    coverage = ListeningCoverage()
    coverage.observe([ns(0)], listened_seconds=0)
    copied = coverage.copy()
    copied.refuse([ns(2)])
    copied.observe([ns(1)], listened_seconds=0)
    assert in_seconds(coverage.observe([ns(4)], listened_seconds=0)) == [(0, 4)]
    assert copied.observe([ns(4)], listened_seconds=0) == []


def test_what_was_covered_before_is_gone_on_from():
    coverage = ListeningCoverage()
    coverage.observe([ns(0), ns(5)], listened_seconds=0)
    coverage.observe([ns(HOUR), ns(HOUR + 1)], listened_seconds=0)
    assert in_seconds(coverage.latest(9)) == [(0, 5), (HOUR, HOUR + 1)]
    later = ListeningCoverage(coverage.latest(1))
    assert in_seconds(later.observe([ns(HOUR + 9)], listened_seconds=0)) == [(HOUR + 1, HOUR + 9)]
    assert later.observe([ns(9)], listened_seconds=0) == []
