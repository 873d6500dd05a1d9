"""Differences, clocks and missing rows, from what sources said: no clock is ever taken off another."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairclock.model.probes import ProbeOutcome
from fairclock.model.sightings import Source, told_by_probe
from sla.measurement import clock_bounds, differences, measured, source_counts
from sla.measurement.bounding import RESOLUTION_US
from sla.measurement.problems import Limits, problems
from tests.reconciliation.factories import FIRST, FOUR_MINUTES_US, a_probe, reconciled, sightings

PAIRS = {(Source.GATEWAY, Source.CLIENT), (Source.SPAN, Source.GATEWAY), (Source.PLUGIN, Source.GATEWAY)}


def kinds(found):
    return {(each.kind, each.about.split(" ")[0]) for each in problems(measured([], found), Limits())}


def test_sources_that_agree_have_no_problem():
    found = [reconciled(number) for number in range(5)]
    measurement = measured((each.probe for each in found), found)
    assert problems(measurement, Limits()) == []
    assert (measurement.sent, measurement.answered, measurement.reconciled) == (5, 5, 5)
    assert all(each.missing == 0 for each in measurement.sources)
    assert {each.beyond for each in measurement.differences} == {0, None}


@pytest.mark.parametrize("source", [Source.GATEWAY, Source.SPAN, Source.PLUGIN, Source.CLIENT], ids=str)
def test_a_clock_four_minutes_ahead_changes_no_duration_and_is_reported(source):
    straight = [reconciled(number) for number in range(5)]
    skewed = [reconciled(number, ahead_us={source: FOUR_MINUTES_US}) for number in range(5)]
    assert differences(skewed) == differences(straight)
    told = {
        (each.source, each.against): each
        for each in clock_bounds(skewed)
        if source in {each.source, each.against}
    }
    assert told
    for (inner, _), each in told.items():
        ahead = FOUR_MINUTES_US if inner is source else -FOUR_MINUTES_US
        assert each.low_us <= ahead <= each.high_us
        assert each.drift_us == 0
    assert {kind for kind, _ in kinds(skewed)} == {"clocks"}


@pytest.mark.parametrize(("late", "moved"), [(2, False), (3, True)], ids=["one in twenty", "more than that"])
def test_stamps_that_come_late_now_and_then_are_no_clock_that_moves(late, moved):
    found = []
    for number in range(40):
        each = reconciled(number)
        told = tuple(
            replace(seen, end_to_end_us=seen.end_to_end_us - 100_000)
            if seen.source is Source.GATEWAY and number % 13 == 0 and number // 13 < late
            else seen
            for seen in each.sightings
        )
        found.append(replace(each, sightings=told))
    (span,) = (
        each for each in clock_bounds(found) if (each.source, each.against) == (Source.SPAN, Source.GATEWAY)
    )
    assert (span.drift_us > 0) is moved


def test_a_clock_that_is_set_in_between_is_told_as_moved():
    found = [
        reconciled(number, ahead_us={Source.SPAN: 0 if number < 5 else FOUR_MINUTES_US})
        for number in range(10)
    ]
    (moved,) = (
        each for each in clock_bounds(found) if (each.source, each.against) == (Source.SPAN, Source.GATEWAY)
    )
    assert moved.drift_us > FOUR_MINUTES_US - 20_000
    assert moved.first_us[1] < moved.last_us[0]
    assert ("clocks", "span") in kinds(found)


@given(
    offsets=st.dictionaries(st.sampled_from(Source), st.integers(-(10**12), 10**12)),
    late=st.lists(st.integers(0, 200_000), min_size=1, max_size=6),
)
def test_the_true_offset_always_lies_between_the_bounds(offsets, late):
    """Whatever the clocks show, and however long each way takes: nesting never excludes what is true."""
    found = []
    for number, delay in enumerate(late):
        each = reconciled(number, ahead_us=offsets)
        moved = tuple(
            replace(seen, end_to_end_us=seen.end_to_end_us + delay)
            if seen.source in {Source.CLIENT, Source.GATEWAY}
            else seen
            for seen in each.sightings
        )
        found.append(replace(each, sightings=moved))
    for each in clock_bounds(found):
        truth = offsets.get(each.source, 0) - offsets.get(each.against, 0)
        assert each.low_us <= truth <= each.high_us
        assert each.drift_us == 0
        assert each.apart_us <= abs(truth)


@given(st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=40))
def test_a_difference_is_counted_once_and_its_size_is_no_less_than_itself(apart):
    found = []
    for number, extra in enumerate(apart):
        each = reconciled(number)
        told = tuple(
            replace(seen, queue_us=10**7 + extra)
            if seen.source is Source.PLUGIN
            else replace(seen, queue_us=10**7)
            if seen.source is Source.TRUTH
            else seen
            for seen in each.sightings
        )
        found.append(replace(each, sightings=told))
    (queue,) = (
        each
        for each in differences(found)
        if (each.comparison.clock, each.comparison.source) == ("queue", Source.PLUGIN)
    )
    assert (queue.count, queue.least_us, queue.greatest_us) == (len(apart), min(apart), max(apart))
    assert queue.beyond == sum(abs(each) > 1_000 for each in apart)
    assert queue.size_p50_us <= queue.size_p95_us <= queue.size_p99_us <= max(map(abs, apart))
    assert queue.median_us in apart


def test_an_engine_that_says_another_queue_than_its_truth_is_a_problem():
    each = reconciled()
    told = tuple(
        replace(seen, queue_us=seen.queue_us + 1_001) if seen.source is Source.PLUGIN else seen
        for seen in each.sightings
    )
    assert ("difference", "queue") in kinds([replace(each, sightings=told)])


@pytest.mark.parametrize(
    ("beyond", "is_wrong"), [(2, False), (3, True)], ids=["half of them", "more than half of them"]
)
def test_a_gateway_may_be_five_milliseconds_off_at_the_median(beyond, is_wrong):
    found = []
    for number in range(4):
        each = reconciled(number)
        told = tuple(
            replace(seen, end_to_end_us=seen.end_to_end_us + 6_000)
            if seen.source is Source.CLIENT and number < beyond
            else seen
            for seen in each.sightings
        )
        found.append(replace(each, sightings=told))
    assert (("difference", "end_to_end") in kinds(found)) is is_wrong


@pytest.mark.parametrize(
    ("source", "probe", "expected"),
    [
        (Source.PLUGIN, {}, 1),
        (Source.GATEWAY, {"outcome": ProbeOutcome.TIMEOUT, "status": 200}, 1),
        (Source.GATEWAY, {"outcome": ProbeOutcome.UNREACHABLE, "status": 0}, 0),
        (Source.SPAN, {"outcome": ProbeOutcome.SERVER_ERROR, "status": 500}, 0),
        (Source.CLIENT, {}, 1),
        (Source.CLIENT, {"outcome": ProbeOutcome.TIMEOUT, "status": 0, "done_us": None}, 0),
    ],
    ids=[
        "an engine should have seen what was answered",
        "a gateway should have seen what got a status",
        "a gateway that nobody reached should have seen nothing",
        "no engine tells of what it did not finish",
        "a client should have seen what was answered",
        "a client is no silent source where its service is",
    ],
)
def test_who_should_have_seen_a_probe(source, probe, expected):
    found = [reconciled(0, probe=probe, without=(source,))]
    (count,) = (each for each in source_counts(found) if each.source is source)
    assert (count.expected, count.missing) == (expected, expected)


def test_a_source_that_falls_silent_is_told_since_when():
    found = [
        reconciled(number, without=(Source.SPAN,) if number in {1, 4, 5, 6} else ()) for number in range(7)
    ]
    (span,) = (each for each in source_counts(found) if each.source is Source.SPAN)
    assert (span.expected, span.seen, span.unseen_last) == (7, 3, 3)
    assert span.unseen_since == a_probe(4).intended_at
    assert kinds(found) == {("missing", "span")}


def test_a_source_that_is_not_connected_is_no_problem_and_is_told():
    found = [reconciled(number, without=(Source.PLUGIN,)) for number in range(3)]
    assert kinds(found) == set()
    (plugin,) = (each for each in source_counts(found) if each.source is Source.PLUGIN)
    assert (plugin.expected, plugin.seen) == (3, 0)


def test_bounds_know_what_milliseconds_hide():
    (bounds,) = (
        each
        for each in clock_bounds([reconciled()])
        if (each.source, each.against) == (Source.GATEWAY, Source.CLIENT)
    )
    assert bounds.high_us - bounds.low_us == 1_200 + 2 * RESOLUTION_US


def test_a_probers_time_runs_from_the_end_of_its_handshakes():
    client, truth = told_by_probe(a_probe(connected_us=10_000, secured_us=30_000))
    assert client.source is Source.CLIENT
    assert (client.end_to_end_us, client.first_token_us) == (1_060_700 - 30_000, FIRST + 1_000 - 30_000)
    assert (client.began_at - a_probe().sent_at).microseconds == 30_000
    assert truth.queue_us == 400_000


def test_a_service_that_tells_no_truth_has_none():
    told = told_by_probe(a_probe(engine_prefill_us=None))
    assert [each.source for each in told] == [Source.CLIENT]


def test_a_probe_that_was_never_sent_was_seen_by_nobody():
    assert told_by_probe(a_probe(sent_at=None, done_us=None, engine_prefill_us=None)) == []
    assert len(sightings()) == len(Source)
