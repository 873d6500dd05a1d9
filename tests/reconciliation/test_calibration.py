"""The simulated engine, set to a real one's speed: what it was calibrated on it gives back, and the same load queues alike."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairclock.demo.calibration import EngineRun, calibrated, compared, simulated, under_load
from fairclock.demo.engine import EngineShape

SHAPE = EngineShape(
    max_num_seqs=2,
    step_tokens=2048,
    step_seconds=0.004,
    sequence_seconds=0.001,
    prefill_tokens_per_second=8_000.0,
    kv_tokens=1 << 24,
    max_queued=1 << 30,
)


def asked(*requests):
    """What is asked of an engine: (queued at, prompt, completion)."""
    return [
        EngineRun(
            queued=at,
            scheduled=at,
            first_token=at,
            last_token=at,
            prompt_tokens=prompt,
            completion_tokens=tokens,
        )
        for at, prompt, tokens in requests
    ]


ALONE = asked(*((number * 1.0, 20 + 10 * number, 12) for number in range(12)))
PAIRS = asked(*((number // 2 * 1.0, 40, 20) for number in range(24)))


def test_a_simulated_engine_is_found_again_by_what_it_does():
    shape = calibrated(simulated(SHAPE, ALONE), simulated(SHAPE, PAIRS), max_num_seqs=2, step_tokens=2048)
    assert shape.step_seconds == pytest.approx(SHAPE.step_seconds, rel=0.02)
    assert shape.sequence_seconds == pytest.approx(SHAPE.sequence_seconds, rel=0.05)
    assert shape.prefill_tokens_per_second == pytest.approx(SHAPE.prefill_tokens_per_second, rel=0.05)


@given(st.lists(st.tuples(st.floats(0, 3), st.integers(1, 200), st.integers(1, 40)), min_size=1, max_size=40))
def test_the_same_load_on_the_same_shape_is_the_same_in_every_percentile(requests):
    real = simulated(SHAPE, asked(*requests))
    again = simulated(SHAPE, real)
    for each in compared(real, again):
        assert each.simulated == pytest.approx(each.real, abs=1e-9)
    assert all(each.queue >= 0 and each.inference > 0 for each in real)
    # two at a time, never more
    marks = sorted([(each.scheduled, 1) for each in real] + [(each.last_token, -1) for each in real])
    running = 0
    for _, change in marks:
        running += change
        assert running <= 2


def test_a_load_says_by_what_the_engine_is_slower_under_it():
    slow = replace(
        SHAPE,
        step_seconds=0.010,
        sequence_seconds=0.0025,
        prefill_tokens_per_second=SHAPE.prefill_tokens_per_second / 2.5,
    )
    load = simulated(slow, asked(*((number * 0.05, 20 + number, 20) for number in range(30))))
    found, slower = under_load(SHAPE, load)
    assert slower == pytest.approx(2.5, rel=0.05)
    assert found.step_seconds == pytest.approx(SHAPE.step_seconds * slower)
    for each in compared(load, simulated(found, load)):
        assert each.apart_ratio is None or abs(each.apart_ratio) < 0.1


def test_an_engine_that_is_twice_as_slow_is_twice_as_far_apart():
    slow = EngineShape(
        max_num_seqs=2, step_tokens=2048, step_seconds=0.008, sequence_seconds=0.002,
        prefill_tokens_per_second=4_000.0, kv_tokens=1 << 24, max_queued=1 << 30,
    )  # fmt: skip
    (inference,) = (
        each
        for each in compared(simulated(SHAPE, ALONE), simulated(slow, ALONE))
        if (each.clock, each.percentile) == ("inference", 50)
    )
    assert inference.apart_ratio == pytest.approx(1.0, rel=0.01)


def test_where_nothing_waits_no_share_is_told():
    (queue,) = (each for each in compared(ALONE, ALONE) if (each.clock, each.percentile) == ("queue", 50))
    assert queue.apart_ratio is None
