"""Increases are right across restarts, gaps and first readings; what is not known is not made up."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairclock.model.counters import Increase, Point, increases


def point(at, value, since=None):
    return Point(at_us=at, value=value, since_us=since)


def one(points, start=100, end=200):
    return increases(points, [start, end])[0]


def increase(counted, at_least, at_most, resets=0):
    return Increase(
        start_us=100, end_us=200, counted=counted, at_least=at_least, at_most=at_most, resets=resets
    )


class TestIncreases:
    @pytest.mark.parametrize(
        ("points", "expected"),
        [
            pytest.param([], increase(None, 0, None), id="no reading says nothing, and not 0"),
            pytest.param([point(150, None)], increase(None, 0, None), id="a reading that is no number says nothing"),
            pytest.param(
                [point(99, 5, since=10), point(150, 7, since=10), point(199, 7, since=10)], increase(2, 2, 2), id="readings at both ends bound it"
            ),
            pytest.param(
                [point(90, 5, since=10), point(150, 7, since=10), point(210, 9, since=10)], increase(2, 0, 4),
                id="what crosses an end may be inside or outside",
            ),
            pytest.param(
                [point(99, 5, since=10), point(199, 5, since=10)], increase(0, 0, 0), id="no increase is 0, and known"
            ),
            pytest.param([point(150, 7)], increase(None, 0, None), id="a first reading is no increase"),
            pytest.param(
                [point(150, 7, since=50)], increase(None, 0, None), id="nor that of a process that began before"
            ),
            pytest.param(
                [point(150, 7, since=120)], increase(7, 7, None),
                id="the first reading of a process that began within counts whole",
            ),
            pytest.param(
                [point(99, 5, since=10), point(150, 9, since=10), point(199, 10, since=10)], increase(5, 5, 5), id="several steps add up",
            ),
            pytest.param(
                [point(99, 5, since=10), point(120, None, since=10), point(199, 9, since=10)], increase(4, 4, 4),
                id="a gap is bridged by what comes after it",
            ),
            pytest.param(
                [point(99, 5), point(199, 7)], increase(2, 2, None),
                id="where nothing tells since when it counts, a restart may hide",
            ),
            pytest.param(
                [point(99, 9), point(150, 3), point(199, 4)], increase(4, 4, None, resets=1),
                id="a drop is a restart, and the value after it counts",
            ),
            pytest.param(
                [point(99, 9, since=10), point(150, 3, since=120), point(199, 4, since=120)],
                increase(4, 4, None, resets=1), id="a restart that both creation and drop tell is one",
            ),
            pytest.param(
                [point(99, 9, since=10), point(150, 30, since=120), point(199, 40, since=120)],
                increase(40, 40, None, resets=1), id="a restart without a drop",
            ),
            pytest.param(
                [point(99, 9, since=10), point(150, 3, since=10), point(199, 4, since=10)],
                increase(4, 4, None, resets=1), id="a drop within one process",
            ),
            pytest.param(
                [point(99, 100, 10), point(110, 5, 20), point(130, 103, 10), point(150, 6, 20), point(199, 104, 10)],
                increase(5, 5, None), id="two processes behind one port are no restarts",
            ),
            pytest.param(
                [point(99, 100), point(110, 5), point(130, 103), point(150, 6), point(199, 104)],
                increase(5, 5, None), id="nor where nothing tells them apart but their values",
            ),
            pytest.param(
                [point(99, 2**60 + 1, since=10), point(199, 2**60 + 2, since=10)], increase(1, 1, 1), id="whole numbers stay exact"
            ),
            pytest.param([point(99, 0.5, since=10), point(199, 0.75, since=10)], increase(0.25, 0.25, 0.25), id="fractions are fractions"),
        ],
    )  # fmt: skip
    def test_is(self, points, expected):
        found = one(points)
        assert found == expected
        assert found.counted is None or type(found.counted) is type(expected.counted)

    def test_what_was_counted_before_the_first_edge_is_not_taken_for_an_increase_in_any_interval(self):
        found = increases([point(150, 1_000_000, since=50), point(250, 1_000_003, since=50)], [100, 200, 300])
        assert [each.counted for each in found] == [None, 3]

    def test_the_tail_of_a_process_that_ended_is_not_known(self):
        found = increases(
            [point(100, 5, since=1), point(200, 6, since=150), point(300, 7, since=150)], [101, 151, 201, 301]
        )
        assert [each.at_most for each in found] == [None, 6, 1]

    def test_two_intervals_do_not_add_up(self):
        with pytest.raises(ValueError, match="two intervals"):
            one([], 0, 10) + one([], 0, 11)


@st.composite
def histories(draw):
    """What one address answers: processes one after the other, each with its events, readings and, perhaps, its start.

    Returns the readings and the instants of all events.
    """
    tells = draw(st.booleans())
    now, points, events = 0, [], []
    for _ in range(draw(st.integers(1, 3))):
        began, value = now + draw(st.integers(1, 5)), 0
        now = began
        for _ in range(draw(st.integers(1, 6))):
            now += draw(st.integers(1, 9))
            if draw(st.booleans()):
                count = draw(st.integers(0, 3))
                events += [now] * count
                value += count
            else:
                points.append(point(now, value, began if tells else None))
        now += 1
    return points, events


EDGES = st.lists(st.integers(0, 160), min_size=2, max_size=6, unique=True).map(sorted)


@given(history=histories(), edges=EDGES, shuffled=st.randoms(use_true_random=False))
def test_the_order_of_readings_is_of_no_account(history, edges, shuffled):
    points, _ = history
    mixed = [*points, *points]
    shuffled.shuffle(mixed)
    assert increases(mixed, edges) == increases(points, edges)


@given(history=histories(), edges=EDGES)
def test_increases_add_up_over_parts_of_an_interval(history, edges):
    points, _ = history
    parts, whole = increases(points, edges), increases(points, [edges[0], edges[-1]])[0]
    counted = [part.counted for part in parts if part.counted is not None]
    assert whole.counted == (sum(counted) if counted else None)
    assert whole.at_least >= sum(part.at_least for part in parts)
    assert whole.resets == sum(part.resets for part in parts)
    most = [part.at_most for part in parts]
    if None not in most:
        assert whole.at_most is not None
        assert whole.at_most <= sum(most)


@given(history=histories(), edges=EDGES)
def test_what_happened_lies_between_the_bounds(history, edges):
    points, events = history
    for each, (start, end) in zip(increases(points, edges), pairwise(edges), strict=True):
        happened = sum(start <= event < end for event in events)
        assert each.at_least <= happened
        assert each.at_most is None or happened <= each.at_most


@given(histories_=st.lists(histories(), min_size=2, max_size=3), edges=EDGES)
def test_increases_of_engines_add_up(histories_, edges):
    alone = [increases(points, edges) for points, _ in histories_]
    for each in zip(*alone, strict=True):
        together = each[0]
        for other in each[1:]:
            together = together + other
        known = [one.counted for one in each if one.counted is not None]
        assert together.counted == (sum(known) if known else None)
        assert (together.at_most is None) == any(one.at_most is None for one in each)
