"""The simulated engine: who runs when, and how a long prompt crowds out a short one."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from math import inf, isnan, nan

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairclock.demo.engine import WAKE_SECONDS, EngineShape, Load, Marks, Replica

SHAPE = EngineShape(
    max_num_seqs=2,
    step_tokens=100,
    step_seconds=0.010,
    sequence_seconds=0.001,
    prefill_tokens_per_second=10_000.0,
    kv_tokens=4_000,
    max_queued=3,
    max_model_tokens=4_000,
)


@dataclass(frozen=True)
class Ask:
    queued: float
    prompt: int = 50
    completion: int = 3
    deadline: float = inf
    stream: bool = False


def engine(asks, shape=SHAPE):
    def unknown():
        return array("d", [nan]) * len(asks)

    load = Load(
        prompt_tokens=[ask.prompt for ask in asks],
        completion_tokens=[ask.completion for ask in asks],
        stream=[ask.stream for ask in asks],
    )
    marks = Marks(scheduled=unknown(), first_token=unknown(), last_token=unknown(), given_up=unknown())
    return Replica(name="e", shape=shape, load=load, marks=marks), marks


def served(asks, shape=SHAPE):
    """Submit each ask when its time comes, as a gateway does, and let the engine finish."""
    replica, marks = engine(asks, shape)
    for number, ask in enumerate(asks):
        replica.advance(ask.queued)
        replica.submit(number, queued_at=ask.queued, deadline=ask.deadline)
    replica.advance(inf)
    return marks


def test_a_lone_request_takes_one_step_for_its_prompt_and_one_for_each_further_token():
    marks = served([Ask(queued=1.0, prompt=50, completion=3)])
    assert marks.scheduled[0] == pytest.approx(1.0 + WAKE_SECONDS)
    assert marks.first_token[0] - marks.scheduled[0] == pytest.approx(0.010 + 50 / 10_000)
    assert marks.last_token[0] - marks.first_token[0] == pytest.approx(2 * (0.010 + 0.001))


def test_a_request_of_one_token_ends_with_its_first():
    marks = served([Ask(queued=1.0, completion=1)])
    assert marks.last_token[0] == marks.first_token[0]


def test_a_prompt_longer_than_a_step_is_prefilled_in_chunks():
    marks = served([Ask(queued=1.0, prompt=250, completion=1)])
    assert marks.first_token[0] - marks.scheduled[0] == pytest.approx(3 * 0.010 + 250 / 10_000)


def test_a_long_prompt_keeps_a_short_one_waiting_although_a_seat_is_free():
    marks = served([Ask(queued=1.0, prompt=1000, completion=1), Ask(queued=1.005, prompt=10, completion=1)])
    assert marks.scheduled[1] - 1.005 > 0.1
    alone = served([Ask(queued=1.005, prompt=10, completion=1)])
    assert alone.scheduled[0] - 1.005 < 0.001


def test_a_long_prompt_slows_the_tokens_of_those_that_run():
    crowded = served([Ask(queued=1.0, completion=20), Ask(queued=1.03, prompt=2000, completion=1)])
    alone = served([Ask(queued=1.0, completion=20)])
    assert crowded.last_token[0] - crowded.scheduled[0] > 1.5 * (alone.last_token[0] - alone.scheduled[0])


def test_the_third_of_two_seats_waits_until_one_is_free():
    marks = served([Ask(queued=1.0, completion=10), Ask(queued=1.0, completion=50), Ask(queued=1.0)])
    assert marks.scheduled[2] == pytest.approx(marks.last_token[0])


def test_who_does_not_fit_into_the_cache_waits_until_it_does():
    marks = served(
        [Ask(queued=1.0, prompt=2000, completion=100), Ask(queued=1.0, prompt=2000, completion=100)]
    )
    assert marks.scheduled[1] == pytest.approx(marks.last_token[0])


def test_a_shape_in_which_a_request_could_wait_for_ever_is_refused():
    with pytest.raises(ValueError, match="could never schedule"):
        EngineShape(kv_tokens=10, max_model_tokens=11)


def test_the_queue_is_full_at_its_limit_and_has_room_again_once_one_is_scheduled():
    asks = [Ask(queued=1.0, completion=100)] * 5
    replica, _ = engine(asks)
    for number in range(3):
        assert not replica.queue_full
        replica.submit(number, queued_at=1.0, deadline=inf)
    assert replica.queue_full
    replica.advance(1.01)
    assert not replica.queue_full
    assert replica.connections == 3


@pytest.mark.parametrize(
    ("asks", "number"),
    [
        pytest.param([Ask(queued=1.0, completion=90)] * 2 + [Ask(queued=1.0, deadline=1.5)], 2, id="waiting"),
        pytest.param([Ask(queued=1.0, prompt=3900, deadline=1.1)], 0, id="in its prefill"),
        pytest.param(
            [Ask(queued=1.0, completion=90, deadline=1.1)], 0, id="before the end of a whole answer"
        ),
        pytest.param([Ask(queued=1.0, deadline=1.004)], 0, id="in the middle of the first step"),
    ],
)
def test_who_is_given_up_leaves_at_the_deadline_and_makes_room(asks, number):
    asks = [*asks, Ask(queued=9.0, prompt=3900, completion=100)]
    marks = served(asks)
    assert marks.given_up[number] == asks[number].deadline
    assert isnan(marks.last_token[number])
    assert marks.scheduled[-1] == pytest.approx(9.0 + WAKE_SECONDS), "seats and cache are free again"


def test_a_stream_that_has_begun_is_not_given_up():
    marks = served([Ask(queued=1.0, completion=90, deadline=1.1, stream=True)])
    assert marks.last_token[0] > 1.1
    assert isnan(marks.given_up[0])


def test_a_hanging_engine_takes_no_step_and_gives_up_who_waits_too_long():
    asks = [Ask(queued=1.0, completion=50), Ask(queued=2.0, deadline=3.0)]
    replica, marks = engine(asks)
    replica.submit(0, queued_at=1.0, deadline=inf)
    replica.advance(1.2)
    replica.hang(10.0)
    replica.submit(1, queued_at=2.0, deadline=3.0)
    replica.advance(5.0)
    assert marks.given_up[1] == 3.0
    assert replica.connections == 1
    replica.advance(inf)
    assert 10.0 < marks.last_token[0] < 11.0


def test_a_crash_loses_everything_and_says_whose_answer_had_begun():
    asks = [Ask(queued=1.0, completion=50, stream=True), Ask(queued=1.0, completion=50), Ask(queued=1.0)]
    replica, marks = engine(asks)
    for number in range(3):
        replica.submit(number, queued_at=1.0, deadline=inf)
    replica.advance(1.3)
    at, lost = replica.crash(1.3, up_from=5.0)
    assert 1.3 <= at < 1.33, "the step under way ends first"
    assert lost == [(0, True), (1, False), (2, False)]
    assert replica.connections == 0
    replica.submit(2, queued_at=5.5, deadline=inf)
    replica.advance(inf)
    assert marks.scheduled[2] == pytest.approx(5.5 + WAKE_SECONDS)


def test_a_cold_engine_is_slow_until_it_is_warm():
    asks = [Ask(queued=1.0, completion=11), Ask(queued=9.0, completion=11)]
    replica, marks = engine(asks)
    replica.warm_up(8.0, factor=5.0)
    for number, ask in enumerate(asks):
        replica.advance(ask.queued)
        replica.submit(number, queued_at=ask.queued, deadline=inf)
    replica.advance(inf)
    cold, warm = (marks.last_token[number] - marks.scheduled[number] for number in (0, 1))
    assert cold == pytest.approx(5 * warm)


ASKS = st.lists(
    st.builds(
        Ask,
        queued=st.floats(0.0, 3.0),
        prompt=st.integers(1, 900),
        completion=st.integers(1, 60),
        stream=st.booleans(),
    ),
    min_size=1,
    max_size=40,
).map(lambda asks: sorted(asks, key=lambda ask: ask.queued))


@settings(max_examples=150, deadline=None)
@given(asks=ASKS, seats=st.integers(1, 5))
def test_every_request_is_served_once_in_the_order_of_the_queue_and_never_more_than_there_are_seats(
    asks, seats
):
    shape = EngineShape(max_num_seqs=seats, step_tokens=64, kv_tokens=2_000, max_model_tokens=1_000)
    marks = served(asks, shape)
    for number, ask in enumerate(asks):
        assert ask.queued <= marks.scheduled[number] < marks.first_token[number] <= marks.last_token[number]
        assert (marks.first_token[number] == marks.last_token[number]) == (ask.completion == 1)
    assert list(marks.scheduled) == sorted(marks.scheduled)
    edges = [(marks.scheduled[n], 1) for n in range(len(asks))] + [
        (marks.last_token[n], -1) for n in range(len(asks))
    ]
    running = 0
    for _, change in sorted(edges):
        running += change
        assert running <= seats


@settings(max_examples=100, deadline=None)
@given(asks=ASKS, cuts=st.lists(st.floats(0.0, 8.0), max_size=30).map(sorted))
def test_looking_at_an_engine_between_its_steps_changes_nothing(asks, cuts):
    undisturbed = served(asks)
    replica, marks = engine(asks)
    events = sorted(
        [(ask.queued, 0, number) for number, ask in enumerate(asks)] + [(cut, 1, 0) for cut in cuts]
    )
    for at, kind, number in events:
        replica.advance(at)
        if kind == 0:
            replica.submit(number, queued_at=at, deadline=inf)
    replica.advance(inf)
    assert list(marks.last_token) == pytest.approx(list(undisturbed.last_token), abs=1e-6)


@settings(max_examples=100, deadline=None)
@given(asks=ASKS, patience=st.lists(st.floats(0.01, 4.0), min_size=40, max_size=40))
def test_a_request_either_ends_or_is_given_up_at_its_deadline(asks, patience):
    asks = [
        Ask(
            queued=ask.queued,
            prompt=ask.prompt,
            completion=ask.completion,
            deadline=ask.queued + wait,
            stream=ask.stream,
        )
        for ask, wait in zip(asks, patience, strict=False)
    ]
    marks = served(asks)
    for number, ask in enumerate(asks):
        answered = not isnan(marks.last_token[number])
        assert answered == isnan(marks.given_up[number])
        if not answered:
            assert marks.given_up[number] == ask.deadline
        elif ask.stream:
            assert marks.first_token[number] <= ask.deadline
        else:
            assert marks.last_token[number] <= ask.deadline
