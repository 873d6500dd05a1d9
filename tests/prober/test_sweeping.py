"""Saturation is where the slope of work over load stays low; objectives are decided by counting, failures against the service."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairclock.model.probes import ProbeOutcome
from inference_probe.prober.engine_readings import KV_CACHE, greatest
from inference_probe.prober.latencies import figures, latencies
from inference_probe.prober.sweeping.objectives import parse_objective
from inference_probe.prober.sweeping.saturation import saturated_from
from tests.prober.factories import an_observation


@pytest.mark.parametrize(
    ("points", "index"),
    [
        pytest.param([(1, 1), (2, 2), (4, 4), (8, 8)], None, id="work keeps up with load"),
        pytest.param([(1, 1), (2, 2), (4, 3.9), (8, 4.1), (16, 4.0)], 2, id="flat from the third on"),
        pytest.param([(1, 1), (2, 1.1), (4, 3.1)], None, id="a dip that recovers is noise"),
        pytest.param([(1, 10), (2, 20), (4, 21)], 1, id="the slope is held against the first point's own"),
        pytest.param([(1, 1), (2, 0.5)], 0, id="work that falls"),
        pytest.param([(1, 1)], None, id="one point has no slope"),
        pytest.param([(1, 0), (2, 0)], None, id="no work at all says nothing of saturation"),
    ],
)
def test_where_more_load_brings_no_more_work(points, index):
    assert saturated_from(points) == index


@given(st.integers(2, 40), st.integers(2, 30), st.floats(0.1, 100))
def test_a_service_with_a_limit_is_saturated_at_the_last_load_below_or_at_it(limit, steps, unit):
    points = [(load, unit * min(load, limit)) for load in range(1, limit + steps)]
    assert saturated_from(points) == (limit - 1 if steps > 1 else None)


def test_an_objective_is_kept_up_to_the_last_value_that_may_lie_above():
    objective = parse_objective("end_to_end p95 1")
    seen = [an_observation(k, done=k + 1.0) for k in range(19)]
    assert objective.is_met([*seen, an_observation(19, done=30.0)])
    assert not objective.is_met([*seen[1:], an_observation(19, done=30.0), an_observation(20, done=30.0)])


def test_a_failure_lies_above_every_limit_and_a_quota_says_nothing():
    objective = parse_objective("end_to_end p50 1000")
    failed = an_observation(1, outcome=ProbeOutcome.TIMEOUT, done=None)
    refused = an_observation(2, outcome=ProbeOutcome.QUOTA_REJECTED, done=2.1)
    assert objective.is_met([failed]) is False
    assert objective.is_met([refused]) is None
    assert objective.is_met([an_observation(0), failed, refused]) is True


@pytest.mark.parametrize(
    "clock", ["time_to_first_byte", "time_to_first_token", "end_to_end", "time_per_output_token"]
)
def test_a_stage_in_which_all_failed_keeps_no_promise(clock):
    objective = parse_objective(f"{clock} p50 1000")
    failed = [an_observation(n, outcome=ProbeOutcome.SERVER_ERROR, first_token=None) for n in range(3)]
    assert objective.is_met(failed) is False
    answered = an_observation(4, first_byte=4.1, tokens=(4.5, 4.6))
    # two in three failed: no median is a promise that was kept
    assert objective.is_met([answered, *failed]) is False
    assert objective.is_met([answered, answered, *failed[:1]]) is True


def test_a_clock_that_no_answer_has_is_not_measured_however_many_failed():
    seen = [
        an_observation(1, first_token=None),
        an_observation(2, outcome=ProbeOutcome.TIMEOUT, first_token=None),
    ]
    assert latencies(seen, "time_to_first_token").n == 0
    assert latencies(seen[1:], "time_to_first_reasoning_token").n == 0


def test_a_service_that_answers_for_a_second_and_fails_for_nine_does_not_do_a_seconds_work_each_second():
    seen = [
        an_observation(n, intended=n / 10, sent=n / 10, done=n / 10 + 0.05) if n < 10
        else an_observation(n, intended=n / 10, sent=n / 10, done=None, outcome=ProbeOutcome.TIMEOUT)
        for n in range(100)
    ]  # fmt: skip
    assert figures(seen)["requests_per_second"] == pytest.approx(10 / 9.9, abs=0.01)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param('vllm:kv_cache_usage_perc{engine="0"} 0.25\nvllm:kv_cache_usage_perc{engine="1"} 0.5\n', 0.5, id="the fullest engine"),
        pytest.param("# HELP vllm:kv_cache_usage_perc x\nvllm:kv_cache_usage_perc 0\n", 0.0, id="empty is zero"),
        pytest.param('vllm:kv_cache_usage_perc{engine="0"} NaN\n', None, id="not a number is missing"),
        pytest.param("vllm:kv_cache_usage_perc_total 7\n", None, id="another metric"),
        pytest.param("", None, id="nothing is missing"),
    ],
)  # fmt: skip
def test_what_an_engine_says_of_its_cache(text, found):
    assert greatest(text, KV_CACHE) == found
