"""Which minutes are bad, and which bad minutes are one incident: examples, and laws that hold for any minutes."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sla.incidents.grouping import (
    GOOD_MINUTES,
    LEAST_BAD,
    MINUTE_US,
    REACH_MINUTES,
    SILENT_MINUTES,
    UNMEASURED_MINUTES,
    Minute,
    groups_of,
    incidents_among,
)

SHARE = Fraction(1, 100)
FOREVER = 10_000


def minute(number: int, *, bad: int = 10, of: int = 10) -> Minute:
    return Minute(number * MINUTE_US, of, bad, SHARE)


def spans(groups) -> list[tuple[int, int]]:
    return [(each.start_us // MINUTE_US, each.end_us // MINUTE_US) for each in groups]


def grouped(minutes, *, read=(), known_to=FOREVER):
    read_us = sorted(number * MINUTE_US for number in read)
    return groups_of(minutes, read_us=read_us, known_to_us=known_to * MINUTE_US)


@pytest.mark.parametrize(
    ("bad", "of", "is_bad"),
    [
        pytest.param(1, 100, False, id="as much as is allowed"),
        pytest.param(2, 199, True, id="a hair more than is allowed"),
        pytest.param(0, 1, False, id="none"),
        pytest.param(1, 1, True, id="the only one"),
    ],
)
def test_a_minute_is_bad_above_the_allowed_share_and_not_at_it(bad, of, is_bad):
    assert minute(0, bad=bad, of=of).is_bad is is_bad


GOOD = [minute(number, bad=0) for number in range(1, 10)]


@pytest.mark.parametrize(
    ("between", "read", "second", "expected"),
    [
        pytest.param(GOOD[: GOOD_MINUTES - 1], range(20), 5, [(0, 6)], id="four good minutes do not end one"),
        pytest.param(GOOD[:GOOD_MINUTES], range(20), 6, [(0, 1), (6, 7)], id="five good minutes end one"),
        pytest.param([], range(100), SILENT_MINUTES + 1, [(0, 62)], id="an hour without requests does not"),
        pytest.param(
            [], range(100), SILENT_MINUTES + 2, [(0, 1), (62, 63)], id="more than an hour without requests does"
        ),
        pytest.param([], [], UNMEASURED_MINUTES + 1, [(0, 362)], id="six hours nobody read do not"),
        pytest.param([], [], UNMEASURED_MINUTES + 2, [(0, 1), (362, 363)], id="more than six hours nobody read do"),
        pytest.param(GOOD[:4], range(1, 8), 68, [(0, 69)], id="good, silent and unmeasured ones are counted apart"),
    ],
)  # fmt: skip
def test_what_lies_between_two_bad_minutes_decides(between, read, second, expected):
    assert spans(grouped([minute(0), *between, minute(second)], read=read)) == expected


def test_it_is_open_while_a_bad_minute_would_still_belong_to_it():
    bad = [minute(0), minute(1)]
    good = [minute(number, bad=0) for number in range(2, 8)]
    assert [each.is_open for each in grouped([*bad, *good[:4]], read=range(6), known_to=6)] == [True]
    assert [each.is_open for each in grouped([*bad, *good[:5]], read=range(7), known_to=7)] == [False]
    assert [each.is_open for each in grouped(bad, read=range(2), known_to=UNMEASURED_MINUTES)] == [True]
    assert [each.is_open for each in grouped(bad, read=range(2), known_to=FOREVER)] == [False]


def test_fewer_bad_requests_than_five_are_no_incident():
    few = [minute(0, bad=LEAST_BAD - 1, of=20)]
    assert incidents_among(grouped(few)) == []
    assert spans(incidents_among(grouped([*few, minute(2, bad=1, of=3)]))) == [(0, 3)]


def test_it_tells_what_counted_from_its_first_to_its_last_bad_minute():
    (group,) = grouped(
        [minute(0, bad=3, of=9), minute(1, bad=0, of=7), minute(2, bad=4, of=8), minute(3, bad=0)]
    )
    assert (group.counted, group.bad, len(group.bad_minutes)) == (24, 7, 2)
    assert group.worst == minute(2, bad=4, of=8)


NUMBERS = st.integers(0, 900)
MINUTES = st.dictionaries(NUMBERS, st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=60).map(
    lambda found: [minute(number, bad=bad, of=bad + good) for number, (bad, good) in found.items()]
)
READ = st.sets(st.integers(0, 90).map(lambda tens: tens * 10), max_size=91).map(
    lambda tens: {number for ten in tens for number in range(ten, ten + 10)}
)


@given(MINUTES, READ, st.randoms())
def test_the_order_of_minutes_changes_nothing(minutes, read, random):
    shuffled = list(minutes)
    random.shuffle(shuffled)
    assert grouped(shuffled, read=read) == grouped(minutes, read=read)


@given(MINUTES, READ)
def test_every_bad_minute_is_in_exactly_one_group_and_groups_begin_and_end_with_one(minutes, read):
    groups = grouped(minutes, read=read)
    found = [each for group in groups for each in group.bad_minutes]
    assert sorted(found) == sorted(each for each in minutes if each.is_bad)
    assert all(group.minutes[0].is_bad and group.minutes[-1].is_bad for group in groups)
    assert all(one.end_us <= other.start_us for one, other in pairwise(groups))


@given(MINUTES, READ)
def test_cutting_a_range_between_two_groups_changes_none(minutes, read):
    whole = grouped(minutes, read=read)
    for one, other in pairwise(whole):
        cut = (one.end_us + other.start_us) // 2
        early = grouped([each for each in minutes if each.start_us < cut], read=read)
        late = grouped([each for each in minutes if each.start_us >= cut], read=read)
        assert spans([*early, *late]) == spans(whole)


@given(MINUTES, READ, NUMBERS)
def test_more_bad_minutes_never_part_what_was_together(minutes, read, number):
    rest = [each for each in minutes if each.start_us != number * MINUTE_US]
    then = grouped([*rest, minute(number)], read=read)
    for group in grouped(rest, read=read):
        assert any(each.start_us <= group.start_us and group.end_us <= each.end_us for each in then)


@given(MINUTES, READ)
def test_groups_further_apart_than_the_reach_are_never_one(minutes, read):
    for group in grouped(minutes, read=read):
        starts = [each.start_us // MINUTE_US for each in group.bad_minutes]
        assert all(later - earlier <= REACH_MINUTES for earlier, later in pairwise(starts))


@given(MINUTES, READ, st.integers(1, 400))
def test_what_comes_after_leaves_ended_groups_as_they_are(minutes, read, known_to):
    then = [each for each in minutes if each.start_us < known_to * MINUTE_US]
    ended = [each for each in grouped(then, read=read, known_to=known_to) if not each.is_open]
    assert set(spans(ended)) <= set(spans(grouped(minutes, read=read)))
