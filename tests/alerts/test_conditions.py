"""When alerts hold, when they do not, and when the data does not tell."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairclock.model import Interval
from sla.alerts import (
    BurnRule,
    Holds,
    Measured,
    RefusedRule,
    Window,
    above_limit,
    burning,
    default_rules,
    failed_probes,
    fast_burn,
    queue_share,
    silent_source,
    unexplained_gap,
)
from sla.alerts.burning import burn_rule
from sla.tallies import Tally

NOW = datetime(2026, 10, 14, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
OCTOBER = Interval(start=datetime(2026, 10, 1, tzinfo=UTC), end=datetime(2026, 11, 1, tzinfo=UTC))
NOVEMBER = Interval(start=datetime(2026, 11, 1, tzinfo=UTC), end=datetime(2026, 12, 1, tzinfo=UTC))
SHARE = Fraction(1, 100)
MEASURED = Measured(now=NOW, began_at=OCTOBER.start, newest_at=NOW, unknown_is_bad=True)
RULE = BurnRule(
    name="burn-1h", severity="critical", long_us=3_600_000_000, short_us=300_000_000,
    threshold=Fraction(1488, 100), min_requests=20, min_bad=5,
)  # fmt: skip


def a_window(
    length: timedelta = HOUR, *, good=0, bad=0, unknown=0, excluded=0, covered=Fraction(1), **others
):
    interval = Interval(start=NOW - length, end=NOW)
    tally = Tally(good=good, bad=bad, unknown=unknown, excluded=excluded)
    return Window(
        interval=interval, tally=tally, covered_us=int(interval.length_us * covered),
        requests=others.pop("requests", tally.total), **others,
    )  # fmt: skip


def both(**counts):
    """The long window and the short one, which has the same requests in it."""
    return (a_window(HOUR, **counts), a_window(HOUR / 12, **counts))


def judged(windows, rule=RULE, measured=MEASURED):
    return burning(rule, windows, measured, share=SHARE, objective="availability")


@pytest.mark.parametrize(
    ("period", "thresholds"),
    [
        (OCTOBER, [Fraction(1488, 100), Fraction(62, 10), Fraction(124, 100)]),
        (NOVEMBER, [Fraction(144, 10), Fraction(6), Fraction(12, 10)]),
    ],
    ids=["31 days", "30 days"],
)
def test_thresholds_scale_with_the_period(period, thresholds):
    rules, _ = default_rules(Fraction(1, 1000), period)
    assert [rule.threshold for rule in rules] == thresholds
    assert all(rule.short_us * 12 == rule.long_us for rule in rules)


@given(st.fractions(Fraction(1, 10**5), Fraction(99, 100)), st.sampled_from([OCTOBER, NOVEMBER]))
def test_a_rule_that_is_made_can_fire_and_one_that_is_refused_says_why(share, period):
    rules, refused = default_rules(share, period)
    assert len(rules) + len(refused) == 3
    for rule in rules:
        assert rule.threshold > 1
        assert rule.threshold * share <= 1
    assert all(each.reason for each in refused)


def test_a_threshold_that_no_ratio_reaches_is_refused():
    made = burn_rule(
        name="x", severity="critical", window=HOUR, part=Fraction(2, 100), share=Fraction(1, 10),
        period=OCTOBER, min_requests=1, min_bad=1,
    )  # fmt: skip
    assert isinstance(made, RefusedRule)
    assert "149% of requests bad" in made.reason


@pytest.mark.parametrize(
    ("windows", "holds"),
    [
        (both(good=80, bad=20), Holds.YES),
        (both(good=800, bad=5), Holds.NO),
        ((a_window(HOUR, good=80, bad=20), a_window(HOUR / 12, good=50)), Holds.NO),
        ((a_window(HOUR, good=5000, bad=20), a_window(HOUR / 12, bad=20)), Holds.NO),
        (both(bad=1), Holds.NO),
        (both(good=15, bad=4), Holds.NO),
        (both(good=16, bad=4), Holds.NO),
        (both(), Holds.NO),
        (both(good=80, unknown=20), Holds.YES),
        (both(good=80, excluded=20), Holds.NO),
        (both(good=80, bad=20, covered=Fraction(1, 2)), Holds.YES),
        (both(good=80, covered=Fraction(1, 2)), Holds.UNKNOWN),
        (both(covered=Fraction(0)), Holds.UNKNOWN),
    ],
    ids=[
        "both windows burn", "a few bad ones", "the short window has recovered", "the long window hardly burns",
        "one error at night", "too little traffic", "too few bad requests", "a quiet hour that was read through",
        "unknown counts as bad where the contract says so", "what is excluded burns nothing",
        "what was seen suffices, however little was measured", "a gap cannot say that all is well",
        "nothing was read through",
    ],
)  # fmt: skip
def test_a_burning_budget(windows, holds):
    assert judged(windows).holds is holds


def test_a_window_that_reaches_back_before_the_service_began_does_not_fire():
    young = replace(MEASURED, began_at=NOW - HOUR / 2)
    assert judged(both(bad=100), measured=young).holds is Holds.NO


def test_an_alert_says_all_there_is_to_say():
    windows = both(good=80, bad=20, queue_us=3, queue_of_us=4)
    found = burning(
        RULE, windows, MEASURED, share=SHARE, objective="p99", budget_left_ratio=Fraction(-1, 2)
    ).finding
    assert (found.objective, found.bad, found.counted) == ("p99", 20, 100)
    assert (found.value, found.threshold, found.budget_left_ratio) == (20, RULE.threshold, Fraction(-1, 2))
    assert (found.queue_share, found.coverage, found.data_age_seconds) == (Fraction(3, 4), 1, 0)
    assert found.window == windows[0].interval


@given(st.integers(0, 300), st.integers(0, 300), st.integers(0, 300))
def test_more_bad_requests_never_end_an_alert(good, bad, more):
    before = judged(both(good=good, bad=bad)).holds
    after = judged(both(good=good, bad=bad + more)).holds
    assert not (before is Holds.YES and after is not Holds.YES)


@pytest.mark.parametrize(
    ("window", "holds"),
    [
        (a_window(good=30, queue_us=51, queue_of_us=100), Holds.YES),
        (a_window(good=30, queue_us=50, queue_of_us=100), Holds.NO),
        (a_window(good=3, queue_us=51, queue_of_us=100), Holds.NO),
        (a_window(good=30), Holds.UNKNOWN),
        (a_window(), Holds.NO),
        (a_window(covered=Fraction(1, 2)), Holds.UNKNOWN),
    ],
    ids=[
        "more than half",
        "exactly half",
        "too few requests",
        "no waiting was measured",
        "no traffic",
        "a gap",
    ],
)
def test_the_share_of_waiting(window, holds):
    assert queue_share(window, MEASURED).holds is holds


@pytest.mark.parametrize(
    ("window", "holds"),
    [
        (a_window(good=97, bad=3), Holds.YES),
        (a_window(good=98, bad=2), Holds.NO),
        (a_window(bad=3), Holds.NO),
    ],
    ids=["three times the pace", "exactly twice", "too few requests"],
)
def test_two_hundred_per_cent_of_the_pace(window, holds):
    assert fast_burn(window, MEASURED, share=SHARE, objective="a").holds is holds


def test_a_value_above_its_limit_holds_and_one_at_it_does_not():
    limit = Fraction(8, 10)
    held = [
        above_limit(value, a_window(good=1), MEASURED, rule="kv-cache", limit=limit).holds
        for value in (Fraction(81, 100), limit, None)
    ]
    assert held == [Holds.YES, Holds.NO, Holds.UNKNOWN]


def _at(minutes: float) -> datetime:
    return NOW - HOUR + timedelta(minutes=minutes)


@pytest.mark.parametrize(
    ("covered", "explained", "holds"),
    [
        ([(0, 60)], [], Holds.NO),
        ([(0, 20), (40, 60)], [], Holds.YES),
        ([(0, 20), (40, 60)], [(15, 45)], Holds.NO),
        ([(0, 20), (25, 60)], [], Holds.NO),
        ([(0, 20), (25.5, 60)], [], Holds.YES),
        ([(0, 20), (24, 40), (44, 60)], [], Holds.NO),
        ([], [], Holds.YES),
        ([(0, 54)], [], Holds.YES),
    ],
    ids=[
        "read through", "twenty minutes missing", "the missing time is explained", "as long as allowed",
        "longer than allowed", "two short gaps are not one long one", "nothing at all", "the end is missing",
    ],
)  # fmt: skip
def test_a_gap_that_nothing_explains_pages_as_a_gap(covered, explained, holds):
    found = unexplained_gap(
        Interval(start=NOW - HOUR, end=NOW),
        covered=[Interval(start=_at(one), end=_at(other)) for one, other in covered],
        explained=[Interval(start=_at(one), end=_at(other)) for one, other in explained],
        longest_us=300_000_000,
        now=NOW,
    )
    assert found.holds is holds
    assert found.finding.coverage == Fraction(int(sum(b - a for a, b in covered) * 2), 120)


@pytest.mark.parametrize(
    ("newest", "suspect", "holds"),
    [
        (NOW, False, Holds.NO),
        (NOW - HOUR, False, Holds.YES),
        (None, False, Holds.YES),
        (NOW, True, Holds.YES),
    ],
    ids=["it speaks", "it fell silent", "it never spoke", "it contradicts itself"],
)
def test_a_source_gone_silent_or_suspect(newest, suspect, holds):
    assert silent_source(newest, now=NOW, limit_us=60_000_000, is_suspect=suspect).holds is holds


@pytest.mark.parametrize(
    ("sent", "failed", "requests", "holds"),
    [(6, 6, 0, Holds.YES), (6, 6, 9, Holds.NO), (6, 1, 0, Holds.NO), (6, 0, 0, Holds.NO), (0, 0, 0, Holds.UNKNOWN)],
    ids=[
        "an outage that silences the gateway", "requests were logged", "one probe may fail",
        "a quiet time", "nobody probed",
    ],
)  # fmt: skip
def test_probes_that_fail_where_no_request_was_logged_are_an_outage(sent, failed, requests, holds):
    window = Interval(start=NOW - HOUR, end=NOW)
    assert failed_probes(window, sent=sent, failed=failed, requests=requests).holds is holds


@given(
    st.lists(
        st.tuples(st.integers(0, 50), st.integers(0, 50), st.integers(0, 60_000_000)), min_size=1, max_size=6
    )
)
def test_windows_that_touch_add_up(parts):
    start, windows = OCTOBER.start, []
    for good, bad, covered in parts:
        end = start + timedelta(minutes=1)
        windows.append(
            Window(
                interval=Interval(start=start, end=end), tally=Tally(good=good, bad=bad), covered_us=covered
            )
        )
        start = end
    whole = windows[0]
    for each in windows[1:]:
        whole += each
    assert whole.covered_us == sum(each.covered_us for each in windows)
    assert whole.tally == Tally(good=sum(p[0] for p in parts), bad=sum(p[1] for p in parts))
