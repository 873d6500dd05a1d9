"""The simulated gateway: one end for each request, tries, limits, incidents."""

from __future__ import annotations

from math import isnan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairclock.demo.course import End
from fairclock.demo.engine import EngineShape
from fairclock.demo.incidents import Incident, Mishap
from tests.demo.factories import MODEL, run, tenant, traffic


def ends(result):
    return [End(each) for each in result.course.end]


def test_a_request_is_answered_by_the_engine_with_the_fewest_in_hand():
    result = run(traffic([1.0, 1.0, 1.0, 1.0]), replicas=2)
    assert ends(result) == [End.ANSWERED] * 4
    assert list(result.course.replica) == [0, 1, 0, 1]


def test_limit_req_lets_a_burst_through_and_refuses_the_rest_without_an_upstream():
    some = traffic([1.0] * 8 + [60.0], tenants=(tenant(requests_per_second=1.0, request_burst=3),))
    result = run(some, replicas=2)
    assert ends(result) == [End.ANSWERED] * 4 + [End.LIMITED] * 4 + [End.ANSWERED]
    assert result.course.replica[4] == -1


def test_an_engine_with_a_full_queue_refuses_by_itself():
    result = run(traffic([1.0] * 9, completion_tokens=200))
    assert ends(result)[4:] == [End.ENGINE_FULL] * 5
    assert result.course.replica[8] == 0


@pytest.mark.parametrize(
    ("columns", "end"),
    [
        pytest.param({"malformed": True}, End.MALFORMED, id="a malformed request is answered with 400"),
        pytest.param({"prompt_tokens": 40_000}, End.MALFORMED, id="so is one that is longer than the model"),
        pytest.param({"patience_seconds": 0.05}, End.LEFT_EARLY, id="a client may leave before the answer"),
        pytest.param(
            {"stream": True, "leaves_after_tokens": 4}, End.LEFT_MIDSTREAM, id="or in the middle of a stream"
        ),
        pytest.param(
            {"stream": True, "leaves_after_tokens": 10},
            End.ANSWERED,
            id="who leaves after the last token stays",
        ),
        pytest.param({"leaves_after_tokens": 4}, End.ANSWERED, id="a whole answer has no middle to leave in"),
    ],
)
def test_how_a_single_request_ends(columns, end):
    assert ends(run(traffic([1.0], **columns))) == [end]


def test_a_client_that_leaves_early_is_gone_when_its_patience_ends():
    result = run(traffic([1.0], patience_seconds=0.05))
    assert result.course.responded[0] == pytest.approx(1.05)


def test_a_silent_engine_is_a_time_out_unless_the_client_leaves_first():
    hang = Incident(at=0.5, mishap=Mishap.HANG, replica=0, hang_seconds=100.0)
    some = traffic([1.0, 2.0], patience_seconds=[np.inf, 3.0])
    result = run(some, incidents=[hang], read_timeout_seconds=10.0)
    assert ends(result) == [End.TIMED_OUT, End.LEFT_EARLY]
    assert result.course.responded[0] == pytest.approx(11.0, abs=0.01)


def test_a_crash_moves_those_that_wait_to_another_engine_and_cuts_streams_that_had_begun():
    crash = Incident(at=1.3, mishap=Mishap.CRASH, replica=0, down_seconds=60.0)
    some = traffic([1.0, 1.0, 1.1], completion_tokens=300, stream=[True, False, False])
    result = run(some, replicas=2, incidents=[crash])
    assert ends(result) == [End.CUT, End.ANSWERED, End.ANSWERED]
    (failed,) = result.course.failed_tries[2]
    assert failed.replica == 0
    assert failed.end - failed.start == pytest.approx(0.2, abs=0.05)
    assert result.course.replica[2] == 1
    assert result.course.marks.scheduled[2] > 1.3


def test_an_engine_that_is_down_is_tried_once_and_left_alone_for_a_while():
    crash = Incident(at=0.5, mishap=Mishap.CRASH, replica=0, down_seconds=60.0)
    result = run(traffic([20.0, 21.0, 31.0]), replicas=2, incidents=[crash])
    assert ends(result) == [End.ANSWERED] * 3
    assert sorted(result.course.failed_tries) == [0, 2], "after ten seconds it is tried again"
    assert set(result.course.replica) == {1}


def test_where_no_engine_is_up_the_answer_is_502_whatever_is_tried():
    crash = [Incident(at=0.5, mishap=Mishap.CRASH, replica=each, down_seconds=60.0) for each in (0, 1)]
    result = run(traffic([20.0, 21.0]), replicas=2, incidents=crash)
    assert ends(result) == [End.UNREACHABLE] * 2
    assert [each.replica for each in result.course.failed_tries[0]] == [0, 1]
    assert [each.replica for each in result.course.failed_tries[1]] == [-1], "both are left alone by now"


def test_a_lone_engine_is_tried_every_time():
    crash = Incident(at=0.5, mishap=Mishap.CRASH, replica=0, down_seconds=60.0)
    result = run(traffic([20.0, 21.0]), incidents=[crash])
    assert [[each.replica for each in result.course.failed_tries[number]] for number in (0, 1)] == [[0], [0]]


def _some_traffic(draw):
    size = draw(st.integers(1, 60))
    times = sorted(draw(st.lists(st.floats(0.0, 40.0), min_size=size, max_size=size)))

    def column(values):
        return draw(st.lists(values, min_size=size, max_size=size))

    return traffic(
        times,
        tenants=(tenant(requests_per_second=3.0, request_burst=10), tenant(name="b")),
        tenant=column(st.integers(0, 1)),
        prompt_tokens=column(st.integers(1, 3_000)),
        completion_tokens=column(st.integers(1, 80)),
        stream=column(st.booleans()),
        malformed=column(st.sampled_from([False] * 9 + [True])),
        patience_seconds=column(st.sampled_from([0.3, 2.0, np.inf])),
        leaves_after_tokens=column(st.sampled_from([0, 0, 0, 5])),
    )


INCIDENTS = st.lists(
    st.builds(
        Incident,
        at=st.floats(0.0, 45.0),
        mishap=st.sampled_from(Mishap),
        replica=st.integers(0, 1),
        hang_seconds=st.floats(0.1, 20.0),
        down_seconds=st.floats(0.1, 20.0),
        cold_seconds=st.floats(0.1, 20.0),
    ),
    max_size=4,
)


@settings(max_examples=150)
@given(some=st.composite(_some_traffic)(), incidents=INCIDENTS)
def test_whatever_happens_each_request_ends_once_and_its_phases_fit_into_its_end_to_end(some, incidents):
    shape = EngineShape(max_num_seqs=3, max_queued=6)
    result = run(some, replicas=2, shape=shape, incidents=incidents, read_timeout_seconds=15.0)
    course, marks = result.course, result.course.marks
    assert not any(isnan(each) for each in course.responded), "each request has its end"
    edges = []
    for number, end in enumerate(ends(result)):
        received = some.received_seconds[number]
        assert course.responded[number] > received
        if end is not End.ANSWERED:
            continue
        phases = (
            course.arrived[number],
            course.queued[number],
            marks.scheduled[number],
            marks.first_token[number],
            marks.last_token[number],
            course.responded[number],
        )
        assert list(phases) == sorted(phases)
        assert phases[0] > received
        edges += [(phases[2], 1, course.replica[number]), (phases[4], -1, course.replica[number])]
    running = [0, 0]
    for _, change, replica in sorted(edges):
        running[replica] += change
        assert running[replica] <= shape.max_num_seqs
    assert all(model == MODEL for model in result.models)


@settings(max_examples=60)
@given(some=st.composite(_some_traffic)())
def test_who_is_queued_first_is_scheduled_first(some):
    result = run(some, replicas=2)
    for replica in (0, 1):
        mine = [
            (result.course.queued[number], result.course.marks.scheduled[number])
            for number in range(some.size)
            if result.course.replica[number] == replica and not isnan(result.course.marks.scheduled[number])
        ]
        scheduled = [each[1] for each in sorted(mine)]
        assert scheduled == sorted(scheduled)


def test_an_engine_may_break_under_its_load_and_not_before():
    crash = Incident(at=0.5, mishap=Mishap.CRASH, replica=0, in_hand=3, down_seconds=60.0)
    some = traffic([1.0, 1.01, 5.0, 5.01, 5.02, 5.03], completion_tokens=50)
    result = run(some, incidents=[crash])
    assert ends(result)[:2] == [End.ANSWERED] * 2
    assert ends(result)[2:] == [End.UNREACHABLE] * 4
    assert [(each.at, each.mishap) for each in result.incidents] == [(5.03, Mishap.CRASH)]
