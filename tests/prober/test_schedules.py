"""Schedules are decided before the first answer; prompts are synthetic and as long as wanted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairclock.errors import InputError, UsageError
from inference_probe.prober.prompts import Lengths, measured, synthetic_prompt
from inference_probe.prober.schedules import Arrival, constant, poisson, replay


def test_a_constant_schedule_adds_no_rounding_up():
    found = constant(rate=3, duration_seconds=1000)
    assert len(found) == 3000
    assert found[2999].at_seconds == 2999 / 3


@given(st.integers(0, 10**9), st.floats(0.5, 50), st.floats(1, 40))
def test_a_poisson_schedule_is_the_same_for_its_seed_and_stays_within_its_time(seed, rate, duration):
    found = poisson(rate=rate, duration_seconds=duration, seed=seed)
    assert found == poisson(rate=rate, duration_seconds=duration, seed=seed)
    instants = [each.at_seconds for each in found]
    assert instants == sorted(instants)
    assert all(0 < each < duration for each in instants)


def test_a_poisson_schedule_has_its_rate_and_the_spread_of_independent_arrivals():
    found = poisson(rate=100, duration_seconds=200, seed=7)
    a_second = [sum(int(each.at_seconds) == second for each in found) for second in range(200)]
    mean = sum(a_second) / 200
    variance = sum((each - mean) ** 2 for each in a_second) / 199
    assert mean == pytest.approx(100, rel=0.03)
    assert variance == pytest.approx(mean, rel=0.3)


def test_a_trace_is_replayed_as_far_apart_as_it_came_with_its_lengths(tmp_path):
    trace = tmp_path / "t.jsonl"
    trace.write_text('{"at": 12.5, "prompt_tokens": 7}\n\n{"at": 10, "completion_tokens": 3}\n{"at": 40}\n')
    assert replay(trace, speed=2, duration_seconds=10) == [
        Arrival(at_seconds=0.0, completion_tokens=3),
        Arrival(at_seconds=1.25, prompt_tokens=7),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("", "has no arrivals", id="empty"),
        pytest.param('{"at": -1}', "cannot be", id="before its beginning"),
        pytest.param('{"at": NaN}', "cannot be", id="at no time"),
        pytest.param('{"at": 1, "prompt_tokens": 0}', "cannot be", id="a prompt of nothing"),
        pytest.param('{"time": 1}', "not an arrival", id="another key"),
        pytest.param("[1]", "not an arrival", id="a list"),
        pytest.param('{"at": 0, "prompt_tokens": 1e999}', "not an arrival", id="a prompt without end"),
        pytest.param(
            '{"at": 0, "prompt_tokens": 1000000000}', "cannot be", id="a prompt that no memory holds"
        ),
        pytest.param(
            '{"at": 0}\n' + "[" * 100_000, "t.jsonl:2: not an arrival", id="a line that is too deep"
        ),
        pytest.param(
            '{"at": 0}\n{"at": 1e300}', "too long to be replayed", id="an arrival at the end of time"
        ),
    ],
)
def test_a_trace_that_cannot_be_names_its_line(text, message, tmp_path):
    trace = tmp_path / "t.jsonl"
    trace.write_text(text)
    with pytest.raises(InputError, match=message):
        replay(trace)


@pytest.mark.parametrize(
    ("rate", "seconds"), [(0, 1), (1, 0), (1e9, 1e9)], ids=["no rate", "no time", "too many"]
)
def test_a_run_of_nothing_or_of_too_much_is_refused(rate, seconds):
    with pytest.raises(UsageError):
        constant(rate=rate, duration_seconds=seconds)


@given(st.integers(20, 4000), st.integers(0, 40), st.integers(5, 40))
def test_prompts_are_as_long_as_the_endpoint_counts(tokens, fixed, slope_tenths):
    slope = slope_tenths / 10
    counted = [(words, round(fixed + slope * words)) for words in (8, 72)]
    lengths = measured(*counted)
    words = len(synthetic_prompt(lengths.words(tokens), seed=1, number=2).split())
    if words > 1:
        assert fixed + slope * words == pytest.approx(tokens, abs=slope + tokens * 0.05 + 2)


def test_an_endpoint_that_counts_nonsense_gets_typical_lengths():
    assert measured((8, 10), (72, 10)) == Lengths()


def test_no_two_prompts_of_a_run_begin_alike():
    prompts = {synthetic_prompt(64, seed=3, number=number)[:60] for number in range(300)}
    assert len(prompts) == 300
    assert synthetic_prompt(64, seed=3, number=1) == synthetic_prompt(64, seed=3, number=1)
