"""Intervals and windows as arithmetic: tables of what each clause makes of a few of them, and their laws."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sla.grids import Grid, intersection
from sla.interval_formulas import (
    Rules,
    Seen,
    State,
    down_intervals,
    downtime,
    mean_interval_error,
    states_of,
)
from sla.windows import Window, WindowCount, fast_enough, short_enough

MINUTE = 60_000_000


def cells(text: str) -> list[Seen]:
    """Read intervals: ``bad/counted``, with ``u`` where unread, ``p`` where probes failed, ``x`` not looked at."""
    found = []
    for word in text.split():
        figures = word.rstrip("upx")
        bad, counted = map(int, figures.split("/"))
        found.append(
            Seen(
                looked_at_us=0 if "x" in word else MINUTE,
                counted=counted,
                bad=bad,
                is_read="u" not in word,
                probes_failed="p" in word,
            )
        )
    return found


def rules(**changes) -> Rules:
    clause = {
        "bad_above": Fraction(5, 100),
        "consecutive": 1,
        "min_requests": 0,
        "below_min": None,
        "empty": "good",
        "unread": "bad",
    }
    return Rules(**(clause | changes))


LETTER = {State.GOOD: "g", State.BAD: "b", State.VOID: "-"}
MERGING = {"min_requests": 20, "below_min": "merge_next"}


@pytest.mark.parametrize(
    ("text", "changes", "expected"),
    [
        pytest.param("1/20 2/20", {}, "gb", id="equality is not above the limit"),
        pytest.param("0/1 1/1", {"bad_above": None}, "gb", id="without a limit any error is bad"),
        pytest.param("0/0 0/5", {"empty": "good"}, "gg", id="empty is good"),
        pytest.param("0/0 0/5", {"empty": "bad"}, "bg", id="empty is bad"),
        pytest.param("0/0 0/5", {"empty": "void"}, "-g", id="empty is void"),
        pytest.param("0/0p 0/5p 5/5p", {}, "bgb", id="no request and probes that failed: no quiet time"),
        pytest.param("0/5u 5/5u", {"unread": "bad"}, "bb", id="unread is bad, whatever was seen"),
        pytest.param("0/5u 5/5u 0/0u", {"unread": "void"}, "-b-", id="unread is void unless seen to be bad"),
        pytest.param(
            "0/0up 0/5up", {"unread": "void"}, "bb", id="unread and probes failed: bad by any clause"
        ),
        pytest.param("5/5u", {"unread": "void"} | MERGING, "-", id="too few seen to be seen bad"),
        pytest.param("5/5x 0/5", {}, "-g", id="not looked at is nothing"),
        pytest.param("3/3 0/100", MERGING, "gg", id="merged with the next"),
        pytest.param("3/3 0/3 0/14", MERGING, "bbb", id="merged until there are enough"),
        pytest.param("0/19 2/2", MERGING, "bb", id="a good one is drawn in, too"),
        pytest.param(
            "0/19 0/19 9/10", MERGING, "ggb", id="each merged interval begins anew; the rest by itself"
        ),
        pytest.param("3/3 0/0 0/100", MERGING, "bgg", id="merging ends at an empty interval"),
        pytest.param("3/3 0/0u 0/100", MERGING | {"unread": "void"}, "b-g", id="and at an unread one"),
        pytest.param("3/3 0/0x 0/100", MERGING, "b-g", id="and where nothing is looked at"),
        pytest.param("3/3 0/100", {"min_requests": 20, "below_min": "good"}, "gg", id="few are good"),
        pytest.param("0/3 0/100", {"min_requests": 20, "below_min": "bad"}, "bg", id="few are bad"),
        pytest.param("3/3 0/100", {"min_requests": 20, "below_min": "void"}, "-g", id="few are void"),
        pytest.param(
            "2/20", {"min_requests": 20, "below_min": "good"}, "b", id="the minimum itself is enough"
        ),
    ],
)
def test_what_an_interval_is(text, changes, expected):
    assert "".join(LETTER[state] for state in states_of(cells(text), rules(**changes))) == expected


@pytest.mark.parametrize(
    ("states", "consecutive", "down"),
    [
        ("bb", 3, []),
        ("bbb", 3, [0, 1, 2]),
        ("bbgb", 3, []),
        ("bb-b", 3, [0, 1, 3]),
        ("bbgbbb", 3, [3, 4, 5]),
        ("bgb", 1, [0, 2]),
        ("--", 1, []),
        ("", 1, []),
    ],
    ids=[
        "too few in a row",
        "enough, at the end",
        "a good one ends the row",
        "one that counts as nothing does not, nor is it down",
        "the second row is long enough",
        "one is enough",
        "nothing is not down",
        "no intervals",
    ],
)
def test_so_many_in_a_row_are_down(states, consecutive, down):
    known = {letter: state for state, letter in LETTER.items()}
    assert down_intervals([known[each] for each in states], consecutive) == down


def test_an_unread_bad_interval_in_too_short_a_row_does_not_stand_among_the_time_that_was_up():
    clauses = rules(consecutive=2, min_requests=2, unread="void")
    assert downtime(cells("5/5 5/5 0/5 0/5u"), clauses).available == Fraction(1, 3)
    assert downtime(cells("5/5 5/5 0/5 5/5u"), clauses).available == Fraction(1, 3)
    assert downtime(cells("5/5 5/5 5/5 5/5u"), clauses).available == 0


@settings(max_examples=1000)
@given(st.data())
def test_a_good_request_turned_bad_never_raises_a_result(data):
    minute = 60_000_000
    before = data.draw(
        st.lists(
            st.builds(
                lambda looked_at, counted, bad, is_read, failed: Seen(
                    looked_at * minute,
                    counted if looked_at else 0,
                    min(bad, counted) if looked_at else 0,
                    is_read,
                    failed,
                ),
                st.sampled_from([0, 1, 1, 1]),
                st.integers(0, 4),
                st.integers(0, 4),
                st.sampled_from([True, True, False]),
                st.sampled_from([True, False, False, False]),
            ),
            max_size=12,
        )
    )
    worse = [
        each._replace(bad=data.draw(st.integers(each.bad, each.counted))) if each.counted else each
        for each in before
    ]
    clauses = Rules(
        bad_above=data.draw(st.sampled_from([None, Fraction(1, 20), Fraction(1, 2)])),
        consecutive=data.draw(st.integers(1, 4)),
        min_requests=data.draw(st.integers(0, 5)),
        below_min=data.draw(st.sampled_from([None, "merge_next", "good", "bad", "void"])),
        empty=data.draw(st.sampled_from(["good", "bad", "void"])),
        unread=data.draw(st.sampled_from(["bad", "void"])),
    )
    for old, new in [
        (downtime(before, clauses), downtime(worse, clauses)),
        *(
            (
                mean_interval_error(before, empty=empty, unread=clauses.unread),
                mean_interval_error(worse, empty=empty, unread=clauses.unread),
            )
            for empty in ("zero_error", "bad", "void")
        ),
    ]:
        assert old.available is None or (new.available is not None and new.available <= old.available)


def test_downtime_is_time_and_equality_meets():
    short = Seen(looked_at_us=MINUTE // 2, counted=1, bad=1, is_read=True)
    count = downtime([*cells("0/5 " * 49), Seen(MINUTE // 2, 1, 0, is_read=True), short], rules())
    assert (count.intervals, count.bad, count.whole, count.lost) == (51, 1, 50 * MINUTE, MINUTE // 2)
    assert count.available == Fraction(99, 100)
    assert count.keeps(Fraction("0.99"))
    assert not count.keeps(Fraction("0.990001"))


def test_nothing_counted_has_no_availability():
    assert downtime(cells("0/0"), rules(empty="void")).available is None


@pytest.mark.parametrize(
    ("text", "clauses", "expected"),
    [
        ("1/2 0/4 1/4", {}, (3, 2, Fraction(3, 4))),
        ("1/2 0/0", {"empty": "zero_error"}, (2, 1, Fraction(1, 2))),
        ("1/2 0/0", {"empty": "bad"}, (2, 2, Fraction(3, 2))),
        ("1/2 0/0", {"empty": "void"}, (1, 1, Fraction(1, 2))),
        ("1/2u 0/0u", {"unread": "bad"}, (2, 2, Fraction(2))),
        ("1/2u 0/0u", {"unread": "void"}, (1, 1, Fraction(1, 2))),
        ("0/0p 0/2up 0/0x", {"unread": "void"}, (2, 2, Fraction(2))),
    ],
    ids=[
        "each interval weighs the same",
        "an empty one without error",
        "an empty one all error",
        "an empty one void",
        "an unread one all error",
        "an unread one by what was seen",
        "probes failed where nothing else is known",
    ],
)
def test_error_ratios_are_summed(text, clauses, expected):
    count = mean_interval_error(cells(text), **({"empty": "zero_error", "unread": "bad"} | clauses))
    assert (count.intervals, count.bad, count.lost) == expected


spans = st.lists(st.integers(0, 300), max_size=12, unique=True).map(
    lambda edges: list(zip(sorted(edges)[::2], sorted(edges)[1::2], strict=False))
)


@given(spans, st.integers(1, 90), st.integers(0, 200), st.integers(0, 100))
def test_a_grid_loses_no_microsecond(given_spans, step, start, length):
    grid = Grid(start_us=start, end_us=start + length, step_us=step)
    inside = intersection(given_spans, [(start, start + length)])
    assert sum(grid.shares(given_spans)) == sum(high - low for low, high in inside)
    assert sum(grid.shares([(0, 1000)])) == length
    assert all(0 <= share <= step for share in grid.shares(given_spans))


@given(spans, spans)
def test_an_intersection_is_what_lies_in_both(first, second):
    both = {at for low, high in first for at in range(low, high)} & {
        at for low, high in second for at in range(low, high)
    }
    assert [at for low, high in intersection(first, second) for at in range(low, high)] == sorted(both)


windows = st.lists(
    st.builds(Window, counted=st.integers(1, 5), value=st.none() | st.integers(0, 9)), max_size=12
).map(tuple)


@given(windows, windows)
def test_windows_add_up_in_whatever_order(first, second):
    one, other = WindowCount(windows=first, unknown=1), WindowCount(windows=second, unknown=2)
    for judge in (
        lambda count: fast_enough(count, at_least=5, share=Fraction(1, 2), min_requests=2),
        lambda count: short_enough(count, at_most=5, combine="mean"),
        lambda count: short_enough(count, at_most=5, combine="worst"),
    ):
        assert judge(one + other) == judge(other + one)
        assert judge(one).requests + judge(other).requests == judge(one + other).requests
        assert judge(one).over + judge(other).over == judge(one + other).over


@given(windows, st.integers(1, 100))
def test_the_count_of_windows_and_the_value_they_reach_say_the_same(given_windows, percent):
    count = WindowCount(windows=given_windows)
    found = fast_enough(count, at_least=5, share=Fraction(percent, 100), min_requests=1)
    assert found.kept == (found.value is None or found.value >= 5)
    worst = short_enough(count, at_most=5, combine="worst")
    if given_windows:
        assert worst.kept == (worst.value is not None and worst.value <= 5)
