"""One truth of several prompts and sequences, and the timings that are kept."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference_probe.service.observation import Exchange
from inference_probe.service.timings import Timings
from inference_probe.service.truth import truth
from tests.probe_service.scene import output, state


def exchange(*requests):
    """An exchange of which each of `requests` is (settings, outputs)."""
    made = Exchange("a", arrived=100.0, wall_arrived=1_796_000_000.0)
    for number, (settings, outputs) in enumerate(requests):
        noted = made.begin(f"cmpl-a-{number}", **{"sequences": 1, "is_delta": True, **settings})
        for each in outputs:
            noted.note(each)
    return made


def test_of_several_prompts_the_last_to_end_gives_the_marks_and_tokens_add_up():
    early = output(metrics=state(last_token_ts=105.0, num_generation_tokens=2), finished=True, reason="stop")
    late = output(metrics=state(last_token_ts=109.0, num_generation_tokens=7), finished=True, reason="length")
    found = truth(exchange(({}, [late]), ({}, [early])), responded=110.0)
    assert (found["engine_request_id"], found["last_token"], found["finish_reason"]) == (
        "cmpl-a-0",
        109.0,
        "length",
    )
    assert (found["prompt_tokens"], found["completion_tokens"], found["preemptions"]) == (6, 9, 2)


@pytest.mark.parametrize(
    ("settings", "outputs", "completion"),
    [
        pytest.param(
            {"is_delta": True}, [output(tokens=(1, 2)), output(tokens=(3,))], 5, id="as the engine counts"
        ),
        pytest.param(
            {"sequences": 2, "is_delta": True},
            [output(tokens=(1, 2)), output(tokens=(3,), index=1), output(tokens=(4,))],
            4,
            id="new tokens of two sequences in turn",
        ),
        pytest.param(
            {"sequences": 2, "is_delta": False},
            [output(tokens=(1, 2)), output(tokens=(1, 2, 3)), output(tokens=(9,), index=1)],
            4,
            id="all tokens so far of two sequences",
        ),
        pytest.param({}, [output(tokens=(1, 2), metrics=None)], 2, id="an engine that keeps no state"),
    ],
)
def test_completion_tokens_are_counted(settings, outputs, completion):
    assert truth(exchange((settings, outputs)), responded=1.0)["completion_tokens"] == completion


@pytest.mark.parametrize(
    ("key", "outputs"),
    [
        pytest.param(
            "preemptions", [output(metrics=None)], id="an engine that does not say how often it preempted"
        ),
        pytest.param(
            "cached_tokens",
            [output(cached=None)],
            id="an engine that does not say what it found in its cache",
        ),
        pytest.param("prompt_tokens", [output(prompt=None)], id="an output without its prompt"),
    ],
)
def test_what_the_engine_does_not_say_is_unknown_and_no_zero(key, outputs):
    assert truth(exchange(({}, outputs)), responded=1.0)[key] is None


def test_a_prompt_told_of_once_is_known_to_the_end():
    found = truth(exchange(({}, [output(), output(prompt=None, cached=None)])), responded=1.0)
    assert (found["prompt_tokens"], found["cached_tokens"]) == (3, 2)


@given(st.integers(1, 5), st.lists(st.sampled_from("abcdefgh")))
def test_timings_keep_the_last_of_each_id_and_never_more_than_they_may(capacity, asked):
    timings = Timings(capacity)
    for number, request_id in enumerate(asked):
        timings.keep(request_id, b"%d" % number)
    last = {request_id: number for number, request_id in enumerate(asked)}
    kept = sorted(last, key=last.__getitem__)[-capacity:]
    assert {each: timings.find(each) for each in last} == {
        each: b"%d" % last[each] if each in kept else None for each in last
    }
    assert len(timings) == len(kept)
    assert timings.forgotten == len(asked) - len(kept)
