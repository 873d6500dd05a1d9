"""A quantile of buckets lies between two edges, or nowhere; histograms begin anew as a whole."""

from __future__ import annotations

import math
from bisect import bisect_left

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairclock.model.buckets import QuantileBounds, quantile_bounds
from fairclock.model.histogram_increases import HistogramPoint, histogram_increases

EDGES = (0.3, 0.5, 1.0, math.inf)


class TestQuantiles:
    @pytest.mark.parametrize(
        ("counts", "percent", "expected"),
        [
            pytest.param((0, 100, 100, 100), 99, QuantileBounds(n=100, above=0.3, at_most=0.5), id="between two edges"),
            pytest.param((1, 99, 100, 100), 99, QuantileBounds(n=100, above=0.3, at_most=0.5), id="the 99th of 100"),
            pytest.param((1, 98, 100, 100), 99, QuantileBounds(n=100, above=0.5, at_most=1.0), id="the 99th is the next"),
            pytest.param(
                (8, 8, 8, 8), 99, QuantileBounds(n=8, at_most=0.3, why_not="it lies below the first edge"),
                id="the mass lies below the first edge",
            ),
            pytest.param(
                (0, 0, 1, 8), 99, QuantileBounds(n=8, above=1.0, why_not="it lies above the last edge"),
                id="the mass lies in the last bucket",
            ),
            pytest.param((0, 0, 0, 0), 99, QuantileBounds(n=0, why_not="there is no observation"), id="no observation"),
            pytest.param(
                (3, 2, 4, 4), 50, QuantileBounds(n=4, why_not="the buckets contradict each other"), id="buckets that fall"
            ),
            pytest.param((0, 1, 1, 1), 0, QuantileBounds(n=1, above=0.3, at_most=0.5), id="the smallest"),
            pytest.param((0, 0, 1, 1), 100, QuantileBounds(n=1, above=0.5, at_most=1.0), id="the largest"),
        ],
    )  # fmt: skip
    def test_lies(self, counts, percent, expected):
        assert quantile_bounds(EDGES, counts, numerator=percent, denominator=100) == expected

    def test_without_an_infinite_edge_the_count_says_how_many_lie_above(self):
        found = quantile_bounds((0.3, 0.5), (1, 2), numerator=99, denominator=100, n=5)
        assert (found.above, found.why_not) == (0.5, "it lies above the last edge")

    def test_a_count_below_the_buckets_contradicts_them(self):
        assert not quantile_bounds((0.3,), (5,), numerator=1, denominator=2, n=4).is_computable

    def test_no_buckets_at_all(self):
        assert not quantile_bounds((), (), numerator=1, denominator=2, n=4).is_computable

    @given(
        observed=st.lists(st.floats(0, 2), min_size=1, max_size=40),
        percent=st.integers(1, 100),
        edges=st.lists(st.floats(0.01, 1.9), min_size=1, max_size=5, unique=True).map(sorted),
    )
    def test_the_nearest_rank_lies_between_the_bounds(self, observed, percent, edges):
        ordered = sorted(observed)
        counts = [sum(value <= edge for value in ordered) for edge in edges] + [len(ordered)]
        exact = ordered[-(-percent * len(ordered) // 100) - 1]
        found = quantile_bounds([*edges, math.inf], counts, numerator=percent, denominator=100)
        assert found.above is None or found.above < exact
        assert found.at_most is None or exact <= found.at_most
        assert found.is_computable == (0 < bisect_left(edges, exact) < len(edges))


def reading(at, *counts, since=None, edges=EDGES):
    return HistogramPoint(at_us=at, edges=edges[: len(counts)], counts=counts, since_us=since)


class TestIncreases:
    def test_each_bucket_increases(self):
        found = histogram_increases(
            [reading(99, 1, 2, 2, 2, since=5), reading(199, 1, 4, 5, 5, since=5)], [100, 200]
        )[0]
        assert (found.counts, found.is_exact) == ((0, 2, 3, 3), True)

    def test_all_buckets_begin_anew_where_one_drops(self):
        found = histogram_increases([reading(99, 5, 5, 5, 5), reading(199, 3, 6, 7, 8)], [100, 200])[0]
        assert (found.counts, found.is_exact) == ((3, 6, 7, 8), False)

    def test_a_restart_that_creation_tells(self):
        points = [reading(99, 1, 1, 1, 1, since=5), reading(199, 2, 3, 3, 3, since=150)]
        assert histogram_increases(points, [100, 200])[0].counts == (2, 3, 3, 3)

    def test_two_drops_are_two_restarts(self):
        points = [reading(99, 5, 5), reading(120, 3, 3), reading(150, 1, 2), reading(199, 2, 2)]
        assert histogram_increases(points, [100, 200])[0].counts == (3 + 2, 3 + 2)

    def test_edges_that_changed_are_compared_where_both_have_them(self):
        points = [
            reading(99, 1, 2, 2, 2, since=5),
            HistogramPoint(at_us=199, edges=(0.5, 2.5, math.inf), counts=(3, 4, 4), since_us=150),
        ]
        found = histogram_increases(points, [100, 200])[0]
        assert (found.edges, found.counts) == ((0.5, math.inf), (3, 4))

    def test_no_reading_says_nothing(self):
        found = histogram_increases([], [100, 200])[0]
        assert (found.counts, found.is_exact) == (None, False)

    def test_engines_add_up_at_the_edges_that_both_have(self):
        first = histogram_increases([reading(99, 0, 0, 0), reading(199, 1, 2, 3)], [100, 200])[0]
        second = histogram_increases([reading(99, 0, 0), reading(199, 5, 6)], [100, 200])[0]
        assert (first + second).edges == (0.3, 0.5)
        assert (first + second).counts == (6, 8)

    def test_an_engine_that_says_nothing_adds_nothing_and_leaves_it_inexact(self):
        first = histogram_increases([reading(99, 0, 0), reading(199, 5, 6)], [100, 200])[0]
        second = histogram_increases([reading(150, 5, 6)], [100, 200])[0]
        assert ((first + second).counts, (first + second).is_exact) == ((5, 6), False)

    @given(
        steps=st.lists(
            st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=6
        ),
        cut=st.integers(1, 600),
    )
    def test_parts_add_up(self, steps, cut):
        points, total = [], [0, 0, 0]
        for index, step in enumerate(steps):
            total = [total[0] + step[0], total[1] + sum(step[:2]), total[2] + sum(step)]
            points.append(reading(100 * index, *total))
        whole = histogram_increases(points, [0, 700])[0]
        parts = [
            each.counts for each in histogram_increases(points, [0, cut, 700]) if each.counts is not None
        ]
        assert whole.counts == (tuple(map(sum, zip(*parts, strict=True))) if parts else None)
