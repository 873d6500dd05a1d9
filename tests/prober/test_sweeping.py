"""Saturation is where the slope of work over load stays low; objectives are decided by counting, failures against the service."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairclock.model.probes import ProbeOutcome
from inference_probe.prober.engine_readings import KV_CACHE, greatest
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
