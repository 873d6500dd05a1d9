"""The comparison must see every way in which Fairclock, the clients and vLLM could disagree."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from fairclock.demo.live.calls import BURST_CALLS, Behaviour, Call, plan_calls
from fairclock.demo.live.clients import Observation
from fairclock.demo.live.comparison import Row, compare
from fairclock.demo.live.engine import QueueCounter
from fairclock.model import Outcome

AT = datetime(2026, 11, 29, 12, tzinfo=UTC)


def good_call(number, **changes):
    given = {
        "number": number,
        "chat": True,
        "stream": True,
        "api_key": "sk-live-acme",
        "behaviour": Behaviour.STAYS,
        "completion_tokens": 100 + number,
    }
    return Call(**given | changes)


def good_pair(number, **changes):
    seen = Observation(
        call=good_call(number), status=200, trace_id=f"{number:032x}", left=False, elapsed_us=900_000
    )
    row = Row(
        received_at=AT,
        trace_id=f"{number:032x}",
        request_id="order-7",
        outcome="ok",
        engine="joined",
        end_to_end_us=899_000,
        queue_us=500_000,
        completion_tokens=100 + number,
    )
    return seen, replace(row, **changes)


def compared(*pairs, seconds=None, finished=None):
    rows = [row for _, row in pairs]
    joined = [row for row in rows if row.engine == "joined"]
    counter = QueueCounter(
        seconds=sum(row.queue_us for row in joined) / 1e6 if seconds is None else seconds,
        finished=len(joined) if finished is None else finished,
    )
    return compare([seen for seen, _ in pairs], rows, counter)


def test_three_that_tell_the_same_story_agree():
    found = compared(*(good_pair(number) for number in range(5)))
    assert found.disagreements == ()
    assert (found.sent, found.logged, found.joined, found.queue_us) == (5, 5, 5, 2_500_000)
    assert found.outcomes == {Outcome.OK: 5}
    assert (found.median_difference_us, found.queue_difference_ratio) == (1_000, 0.0)
    assert (found.p99_end_to_end_us, found.p99_excluding_queue_us) == (899_000, 399_000)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"outcome": "client_aborted"}, "status 200) is stored as client_aborted"),
        ({"completion_tokens": 7}, "asked for 100 tokens; its row has 7"),
        ({"end_to_end_us": 800_000}, "100000 µs from the clients'"),
        ({"engine": "none", "queue_us": None}, "1 ok requests have no engine row"),
        ({"engine": "quarantined", "queue_us": None}, "1 ok requests have no engine row"),
        ({"trace_id": "f" * 32}, "call 0 (stays to the end) has 0 rows"),
    ],
    ids=[
        "another outcome",
        "another call's tokens",
        "a tenth of a second more or less",
        "an ok request without engine row",
        "an ok request whose engine row was set aside",
        "a call that was not logged",
    ],
)
def test_a_disagreement_is(changes, said):
    assert any(said in sentence for sentence in compared(good_pair(0, **changes)).disagreements)


@pytest.mark.parametrize(
    ("lag_us", "unexplained_us"),
    [(0, 99_000), (79_000, 20_000), (78_999, 20_001), (200_000, 0)],
    ids=["nobody's lag", "all but 20 ms", "all but a little more", "more lag than difference"],
)
def test_a_difference_that_client_and_gateway_took_to_hear_each_other_is_none(lag_us, unexplained_us):
    pairs = [good_pair(number, end_to_end_us=801_000) for number in range(3)]
    found = compared(*((replace(seen, lag_us=lag_us), row) for seen, row in pairs))
    assert (found.median_difference_us, found.median_unexplained_us) == (99_000, unexplained_us)
    assert bool(found.disagreements) == (unexplained_us > 20_000)


def test_a_queue_that_differs_from_vllms_counter_by_more_than_a_hundredth_is_a_disagreement():
    pairs = [good_pair(number) for number in range(4)]
    assert compared(*pairs, seconds=2.0 / 0.991).disagreements == ()
    assert "vLLM's counter" in compared(*pairs, seconds=2.0 / 0.98).disagreements[0]
    assert "vLLM's counter" in compared(*pairs, seconds=0.0).disagreements[0]


def test_a_span_that_is_missing_is_a_disagreement():
    assert "vLLM finished 2" in compared(good_pair(0), finished=2).disagreements[0]


def test_a_request_that_nobody_sent_is_a_disagreement():
    (seen, row), (_, other) = good_pair(0), good_pair(1)
    found = compare([seen], [row, other], QueueCounter(seconds=1.0, finished=2))
    assert found.disagreements == ("1 calls were made and 2 requests logged",)


def test_one_line_logged_twice_is_a_disagreement():
    seen, row = good_pair(0)
    found = compare([seen], [row, row], QueueCounter(seconds=1.0, finished=2))
    assert "call 0 (stays to the end) has 2 rows" in found.disagreements


@pytest.mark.parametrize(
    ("status", "left", "outcome"),
    [
        (200, False, Outcome.OK),
        (200, True, Outcome.CLIENT_ABORTED),
        (0, True, Outcome.CLIENT_ABORTED),
        (400, False, Outcome.CLIENT_ERROR),
        (503, False, Outcome.QUOTA_REJECTED),
        (502, False, None),
    ],
)
def test_what_a_client_saw_means(status, left, outcome):
    seen = Observation(call=good_call(0), status=status, trace_id="", left=left, elapsed_us=1)
    assert seen.outcome == outcome


def test_a_call_without_any_answer_is_found_by_its_own_id():
    seen, row = good_pair(0, outcome="client_aborted", engine="none", queue_us=None, request_id="left-0")
    seen = replace(seen, trace_id="", status=0, left=True, call=good_call(0, request_id="left-0"))
    assert compared((seen, row)).disagreements == ()


def test_the_plan_has_every_behaviour_and_repeats_ids():
    calls = plan_calls(60)
    assert [call.number for call in calls] == list(range(60))
    assert {call.behaviour for call in calls} == set(Behaviour)
    assert sum(call.behaviour is Behaviour.BURSTS for call in calls) == BURST_CALLS
    ids = [call.request_id for call in calls if call.request_id]
    assert len(set(ids)) < len(ids)
    left = [call.request_id for call in calls if call.behaviour is Behaviour.LEAVES_BEFORE_ANSWER]
    assert all(left)
    assert len(set(left)) == len(left)
    stays = [call.completion_tokens for call in calls if call.behaviour is Behaviour.STAYS]
    assert len(set(stays)) == len(stays)
    assert plan_calls(60) == calls
