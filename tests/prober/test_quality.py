"""What an answer to a fixed question is worth, by counting."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairclock.model.probes import ProbeOutcome
from inference_probe.prober.quality.asking_fixed import by_mode
from inference_probe.prober.quality.judging import is_invalid, judged, numbers_copied_ratio, repetition_ratio
from inference_probe.prober.quality.questions import fixed_questions
from tests.prober.factories import an_observation

JSON = next(each for each in fixed_questions() if each.kind == "json")
PROSE = next(each for each in fixed_questions() if each.kind == "prose")
COPY = next(each for each in fixed_questions() if each.kind == "copy")


@pytest.mark.parametrize(
    ("text", "ratio"),
    [
        pytest.param("a b c d e f g h", 0.0, id="nothing twice"),
        pytest.param("a b c d a b c d", pytest.approx(1 / 5), id="four words twice"),
        pytest.param("go " * 104, pytest.approx(100 / 101), id="a loop"),
        pytest.param("a b c", None, id="too short to tell"),
    ],
)
def test_repetition(text, ratio):
    assert repetition_ratio(text) == ratio


@pytest.mark.parametrize(
    ("text", "ratio"),
    [
        pytest.param("11, 22, 33, 44", 1.0, id="all"),
        pytest.param("the numbers: 11 22 33 44!", 1.0, id="with words around"),
        pytest.param("22, 11, 33, 44", 0.75, id="two in the wrong order"),
        pytest.param("112233 44", 0.25, id="run together is not copied"),
        pytest.param("11, 2 2, 33", 0.5, id="one broken, one missing"),
        pytest.param("", 0.0, id="nothing"),
    ],
)
def test_numbers_copied(text, ratio):
    assert numbers_copied_ratio(text, ("11", "22", "33", "44")) == ratio


@settings(max_examples=40)
@given(st.lists(st.integers(0, 99), min_size=1, max_size=8), st.text(max_size=40))
def test_the_copy_itself_is_always_whole_and_nothing_exceeds_it(numbers, noise):
    wanted = tuple(map(str, numbers))
    assert numbers_copied_ratio(", ".join(wanted), wanted) == 1
    assert 0 <= numbers_copied_ratio(noise, wanted) <= 1


GOOD = {"name": "probe-0", "count": 3, "tags": ["red"]}


@pytest.mark.parametrize(
    ("text", "question", "invalid"),
    [
        pytest.param(json.dumps(GOOD), JSON, False, id="the JSON that was asked for"),
        pytest.param(f"```json\n{json.dumps(GOOD)}\n```", JSON, False, id="in a fence"),
        pytest.param(json.dumps(GOOD)[:-1], JSON, True, id="JSON without its end"),
        pytest.param(json.dumps(GOOD | {"count": "3"}), JSON, True, id="a count that is a text"),
        pytest.param(json.dumps(GOOD | {"count": True}), JSON, True, id="a count that is no number"),
        pytest.param("[]", JSON, True, id="no object"),
        pytest.param("A queue grows.\n", PROSE, False, id="prose"),
        pytest.param(" \n", PROSE, True, id="an empty answer"),
        pytest.param("a \ufffd b", PROSE, True, id="half a character"),
        pytest.param("a \x00 b", PROSE, True, id="a NUL"),
        pytest.param("排队变长。", PROSE, False, id="another language"),
    ],
)
def test_invalid_output(text, question, invalid):
    assert is_invalid(text, question) is invalid


def test_questions_are_the_same_in_every_run():
    assert fixed_questions() == fixed_questions()
    assert judged(COPY.prompt, COPY)["numbers_copied_ratio"] == 1


def test_a_degraded_mode_is_seen_beside_the_good_one_and_failures_are_no_answers():
    good = [
        an_observation(k, inference_mode="fp16", repetition_ratio=0.0, invalid_output=False) for k in range(3)
    ]
    poor = [
        an_observation(k, inference_mode="int4", repetition_ratio=0.5, invalid_output=k == 4) for k in (3, 4)
    ]
    lost = an_observation(5, inference_mode="int4", outcome=ProbeOutcome.TIMEOUT)
    assert by_mode([*good, *poor, lost]) == {
        "fp16": {"answers": 3, "failed": 0, "repetition_ratio": 0.0, "numbers_copied_ratio": None, "invalid_ratio": 0.0},
        "int4": {"answers": 2, "failed": 1, "repetition_ratio": 0.5, "numbers_copied_ratio": None, "invalid_ratio": 0.5},
    }  # fmt: skip
