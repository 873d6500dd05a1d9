"""The sweep of the engine, held against one that looks at every moment in exact rationals."""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fairclock.store import Query
from fairclock.store.engine_shares import shares
from fairclock.store.engine_timelines import Lane, Sweep
from tests.cost_book.brute_force import QUANTA, Ran, as_query, divide

EDGES = (1000, 1300, 1301, 2000)
LANES = (
    Lane(engine="a", numerator=8, slots=4, to_us=1500),
    Lane(engine="a", numerator=3, slots=2, from_us=1500),
    Lane(engine="b", numerator=1, denominator=7, slots=3, from_us=1100, to_us=1900),
    Lane(engine="c", numerator=5, denominator=3, slots=1),
)
CUT = tuple(sorted({*EDGES, 1100, 1500, 1900}))


def swept(store, timeline, lanes=LANES, edges=CUT, division="equal", **others):
    """Return the sums by (lane, piece) and the shares by (lane, piece, place)."""
    query = shares(as_query(timeline), Sweep(lanes=lanes, edges_us=edges, division=division, **others))
    sums, each = defaultdict(lambda: [0, 0, 0, 0, 0]), defaultdict(int)
    for lane, piece, _, _, place, picoseconds, over, busy_us, free, rest in store.rows(query):
        each[(lane, piece, int(place))] += picoseconds
        for index, value in enumerate((picoseconds, over, busy_us, free, rest)):
            sums[(lane, piece)][index] += value
    return sums, each


def assert_equal_to_brute_force(store, timeline, division, lanes=LANES, edges=CUT):
    sums, each = swept(store, timeline, lanes, edges, division)
    books = divide(timeline, lanes, edges, division)
    expected = {
        (*key, place): math.floor(share)
        for key, book in books.items()
        for place, share in book.rounded.items()
    }
    assert dict(each) == expected
    assert {key: (values[2], Fraction(values[3], QUANTA)) for key, values in sums.items()} == {
        key: (book.busy_us, book.free) for key, book in books.items()
    }
    for key, book in books.items():
        for place, share in book.exact.items():
            lost = share - each[(*key, place)]
            assert 0 <= lost < 1 + Fraction(timeline[place].weight * 2 * len(timeline), QUANTA)
        lane = lanes[key[0] - 1]
        picoseconds, over, busy_us, free, rest = sums[key]
        assert over == 0
        # nothing is lost: what was given, what is free and what rounding left is all that there was
        whole = picoseconds + Fraction(free, QUANTA) + Fraction(rest, QUANTA * lane.denominator)
        assert whole == Fraction(lane.numerator * busy_us * 10**6, lane.denominator)


ran = st.builds(
    lambda engine, owner, begun, length, weight: Ran(
        engine=engine, owner=owner, begun_us=begun, ended_us=begun + length, weight=weight
    ),
    st.sampled_from(["a", "b", "c", "elsewhere"]),
    st.one_of(st.none(), st.integers(1, 5)),
    st.one_of(st.sampled_from([900, 1000, 1100, 1300, 1301, 1500, 2000]), st.integers(800, 2100)),
    st.one_of(st.sampled_from([0, 1, 100, 200, 500]), st.integers(0, 1500)),
    st.one_of(st.just(1), st.integers(1, 2**31)),
)


@pytest.mark.parametrize("division", ["equal", "tokens", "per_slot"])
def test_what_took_no_time_rounds_nothing(shared_store, division):
    lasting = Ran(engine="b", owner=None, begun_us=1301, ended_us=1331, weight=1)
    at_once = [Ran(engine="b", owner=None, begun_us=at, ended_us=at, weight=1) for at in range(1302, 1331)]
    assert_equal_to_brute_force(shared_store, [lasting, *at_once], division)
    assert swept(shared_store, [lasting, *at_once], division=division) == swept(
        shared_store, [lasting], division=division
    )


@pytest.mark.parametrize("division", ["equal", "tokens", "per_slot"])
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(timeline=st.lists(ran, min_size=1, max_size=25))
def test_the_sweep_equals_a_brute_force_one_whatever_ran(shared_store, division, timeline):
    assert_equal_to_brute_force(shared_store, timeline, division)


def together(count, **changes):
    return [
        Ran(engine="a", owner=number + 1, **{"begun_us": 1000, "ended_us": 1200, **changes})
        for number in range(count)
    ]


HOSTILE = {
    "all begin and end at one instant": together(7),
    "one begins the moment another ends": [Ran(engine="a", owner=1, begun_us=1000, ended_us=1100), Ran(engine="a", owner=2, begun_us=1100, ended_us=1200)],
    "many take no time at all, at the same instant as others begin and end": [*together(3), *(Ran(engine="a", owner=9, begun_us=at, ended_us=at) for at in (1000, 1000, 1200, 1250))],
    "nothing runs between two": [Ran(engine="c", owner=1, begun_us=1010, ended_us=1020), Ran(engine="c", owner=1, begun_us=1920, ended_us=1990)],
    "the machine is another from the middle of a request on": [Ran(engine="a", owner=1, begun_us=1400, ended_us=1700), Ran(engine="a", owner=2, begun_us=1499, ended_us=1501)],
    "a request runs longer than all that is looked at": [Ran(engine="a", owner=1, begun_us=-(10**15), ended_us=10**15), *together(2)],
    "it ends exactly at an edge, and another begins there": [Ran(engine="c", owner=1, begun_us=1200, ended_us=1300), Ran(engine="c", owner=2, begun_us=1300, ended_us=1301)],
    "more run than there are slots": [Ran(engine="c", owner=number, begun_us=1000 + number, ended_us=1500) for number in range(1, 12)],
    "engines run at the same time, each on its own": [Ran(engine=engine, owner=1, begun_us=1150, ended_us=1450) for engine in "abc"],
    "one weighs as much as a whole context of millions beside ones of a single token": [*together(5), *together(1, weight=2**40)],
    "it ended before it began, as a set clock says": [Ran(engine="a", owner=1, begun_us=1200, ended_us=1100), *together(2)],
    "the same request runs twice at once": [*together(1), *together(1)],
    "it ran only before and after its engine was there": [Ran(engine="b", owner=1, begun_us=1000, ended_us=1100), Ran(engine="b", owner=2, begun_us=1900, ended_us=1950)],
}  # fmt: skip


@pytest.mark.parametrize("division", ["equal", "tokens", "per_slot"])
@pytest.mark.parametrize("timeline", HOSTILE.values(), ids=HOSTILE.keys())
def test_the_sweep_equals_a_brute_force_one_where(shared_store, division, timeline):
    assert_equal_to_brute_force(shared_store, timeline, division)


def test_hours_of_microseconds_on_many_gpus_do_not_overflow(shared_store):
    hour = 3_600_000_000
    start = 1_790_812_800_000_000
    timeline = [Ran(engine="a", owner=number, begun_us=start - 5, ended_us=start + 2 * hour, weight=2**31) for number in range(1, 4)]  # fmt: skip
    lanes = (Lane(engine="a", numerator=72, slots=1024),)
    for division in ("equal", "tokens", "per_slot"):
        assert_equal_to_brute_force(
            shared_store, timeline, division, lanes, (start, start + hour, start + 2 * hour)
        )


def test_the_order_of_rows_changes_nothing(shared_store):
    timeline = HOSTILE["more run than there are slots"] + together(3)
    forth, back = (sorted(swept(shared_store, rows)[0].items()) for rows in (timeline, timeline[::-1]))
    assert forth == back


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(timeline=st.lists(ran, min_size=1, max_size=15), ceiling=st.integers(0, 3 * 10**9))
def test_no_request_gets_more_than_the_ceiling_and_what_is_beyond_it_is_not_lost(
    shared_store, timeline, ceiling
):
    query = shares(as_query(timeline), Sweep(lanes=LANES, edges_us=CUT, ceiling_picoseconds=ceiling))
    had, free_of_it = defaultdict(int), defaultdict(int)
    plain = swept(shared_store, timeline)[0]
    capped = defaultdict(int)
    for lane, piece, owner, _, _, picoseconds, over, *_ in shared_store.rows(query):
        capped[(lane, piece)] += picoseconds + over
        (had if owner else free_of_it)[owner] += picoseconds
        assert picoseconds >= 0
        assert over >= 0
    assert all(each <= ceiling for each in had.values())
    assert dict(capped) == {key: values[0] for key, values in plain.items()}


def test_earlier_pieces_use_the_ceiling_up_first(shared_store):
    timeline = [Ran(engine="a", owner=1, begun_us=1000, ended_us=1400)]
    lanes = (Lane(engine="a", numerator=1),)
    query = shares(as_query(timeline), Sweep(lanes=lanes, edges_us=EDGES, ceiling_picoseconds=350 * 10**6))
    found = {row[1]: row[5:7] for row in shared_store.rows(query)}
    assert found == {1000: (300 * 10**6, 0), 1300: (10**6, 0), 1301: (49 * 10**6, 50 * 10**6)}


def test_lanes_of_one_engine_have_to_follow_each_other():
    lanes = (Lane(engine="a", numerator=1), Lane(engine="b", numerator=1), Lane(engine="a", numerator=1))
    with pytest.raises(ValueError, match="follow each other"):
        Sweep(lanes=lanes, edges_us=EDGES).parameters()


def test_an_engine_without_a_lane_is_in_no_sum(shared_store):
    assert swept(shared_store, [Ran(engine="elsewhere", owner=1, begun_us=1000, ended_us=2000)])[0] == {}
    assert shared_store.rows(Query(sql="SELECT 1")) == [(1,)]


@pytest.mark.parametrize("division", ["equal", "tokens", "per_slot"])
def test_nothing_is_lost_where_very_many_begin_and_end_at_the_same_instants(shared_store, division):
    # sorted by several threads, events of one instant come in any order
    ran = Query(
        sql="SELECT substring('abc', 1 + number % 3, 1) AS instance, toUInt128(number + 1) AS row_id, toLowCardinality('t') AS tenant, toInt64(1 + number % 9) AS weight,"
        " weight AS kv_tokens, 1000 + toInt64(cityHash64(number) % 100) * 10 AS begun_us, begun_us + toInt64(cityHash64(number, 1) % 30) * 10 AS ended_us"
        " FROM numbers(200000)"
    )  # fmt: skip
    query = shares(ran, Sweep(lanes=LANES, edges_us=CUT, division=division))
    sums = shared_store.rows(
        Query(
            sql="SELECT lane, sum(toInt128(picoseconds)), sum(toInt128(busy_us)), sum(free), sum(rest), min(picoseconds), count()"
            f" FROM ({query.sql}) GROUP BY lane ORDER BY lane",
            parameters=query.parameters,
        )
    )
    assert len(sums) == len(LANES)
    for lane, picoseconds, busy_us, free, rest, least, count in sums:
        gpus = Fraction(LANES[lane - 1].numerator, LANES[lane - 1].denominator)
        whole = picoseconds + Fraction(free, QUANTA) + Fraction(rest, QUANTA * gpus.denominator)
        assert whole == gpus * busy_us * 10**6
        assert least >= 0
        assert count > 1000
