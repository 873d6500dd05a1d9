"""The rules of evidence at their edges, without a store; and laws of what is told."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sla.incidents.evidence import KINDS, evidence_of
from sla.incidents.evidence.shapes import agreement
from sla.incidents.observations import EngineHappening, Fill, Phases, Stretch, Throttled
from tests.incidents.observing import MINUTE_US, START_US, a_life, everything, observed


def kinds(seen) -> set[str]:
    return {each.kind for each in evidence_of(seen)}


def test_everything_can_be_told():
    assert {kind for seen in everything() for kind in kinds(seen)} == set(KINDS)


def test_evidence_has_its_numbers_and_its_sources_and_no_verdict():
    for seen in everything():
        for each in evidence_of(seen):
            assert each.numbers
            assert each.sources
            assert not {"cause", "verdict", "because"} & set(each.numbers)


@pytest.mark.parametrize(
    ("change", "kind", "told"),
    [
        pytest.param({"over": Phases(requests=2, known=2, elapsed_us=100, queue_us=50)}, "queue", True, id="half"),
        pytest.param({"over": Phases(requests=2, known=2, elapsed_us=100, queue_us=49)}, "queue", False, id="below half"),
        pytest.param({"over": Phases(requests=2)}, "queue", False, id="phases of nobody are known"),
        pytest.param({"during": Stretch(minutes=12, busiest=30, requests=30)}, "burst", True, id="three times the rate"),
        pytest.param({"during": Stretch(minutes=12, busiest=19, requests=30)}, "burst", False, id="not twice the rate"),
        pytest.param(
            {"during": Stretch(minutes=12, busiest=17, requests=17), "before": Stretch(minutes=10, requests=20)},
            "burst", True, id="fifteen more than two",
        ),
        pytest.param(
            {"during": Stretch(minutes=12, busiest=16, requests=17), "before": Stretch(minutes=10, requests=20)},
            "burst", False, id="fourteen more than two",
        ),
        pytest.param({"before": Stretch(minutes=10, is_read=False), "during": Stretch(minutes=12, busiest=90)}, "burst", False, id="nobody read the time before"),
        pytest.param({"fills": (Fill(engine="e", peak=0.9, scrapes=1, full_scrapes=1),)}, "kv_cache", True, id="nine tenths full"),
        pytest.param({"fills": (Fill(engine="e", peak=0.899, scrapes=1, full_scrapes=0),)}, "kv_cache", False, id="not nine tenths full"),
        pytest.param({"preemptions": 0}, "preemptions", False, id="no preemption"),
        pytest.param({"preemptions": None}, "preemptions", False, id="preemptions that nobody counted"),
        pytest.param({"preemptions": 24, "preemptions_before": 10}, "preemptions", True, id="twice the preemptions"),
        pytest.param({"preemptions": 23, "preemptions_before": 10}, "preemptions", False, id="not twice the preemptions"),
        pytest.param({"throttled": (Throttled(gpu="g", seconds=5, measured=100),)}, "gpu_throttle", True, id="a twentieth of the time"),
        pytest.param({"throttled": (Throttled(gpu="g", seconds=4, measured=100),)}, "gpu_throttle", False, id="less than a twentieth"),
        pytest.param({"throttled": (Throttled(gpu="g", seconds=50, measured=100, seconds_before=30, measured_before=100),)}, "gpu_throttle", False, id="not twice as held down"),
        pytest.param({"engine_happenings": (EngineHappening(kind="unreachable", engine="e", at_us=START_US),)}, "cold_start", False, id="unreachable is no start"),
        pytest.param({"lives": (a_life(100, 100, 100, 200, 200),)}, "climbing", False, id="too short a life"),
        pytest.param({"lives": (a_life(100, 110, 120, 130, 140, 149),)}, "climbing", False, id="not one and a half times as slow"),
        pytest.param({"lives": (a_life(100, 110, 120, 130, 150, 170, 190),)}, "climbing", True, id="climbing"),
        pytest.param({"minutes": (a_life(*([500] + [100] * 9) * 4, step_us=MINUTE_US),)}, "spikes", True, id="four spikes"),
        pytest.param({"minutes": (a_life(*([500] + [100] * 9) * 3, step_us=MINUTE_US),)}, "spikes", False, id="three spikes"),
        pytest.param({"minutes": (a_life(*([500, 100] * 20), step_us=MINUTE_US),)}, "spikes", False, id="every other minute"),
        pytest.param({"minutes": (a_life(*[100] * 40, step_us=MINUTE_US),)}, "spikes", False, id="no spike"),
    ],
)  # fmt: skip
def test_a_rule_at_its_edge(change, kind, told):
    assert (kind in kinds(observed(**change))) is told


def test_nothing_seen_tells_nothing():
    nothing = Stretch(minutes=0, is_read=False)
    assert (
        evidence_of(observed(during=nothing, before=nothing, over=Phases(), usual=Phases(), outcomes={}))
        == []
    )


@given(st.lists(st.integers(0, 50), max_size=12))
def test_agreement_lies_between_minus_one_and_one_and_turns_round(values):
    assert -1 <= agreement(values) <= 1
    assert agreement(values[::-1]) == -agreement(values)
    assert agreement(sorted(set(values))) == (1 if len(set(values)) > 1 else 0)


@given(st.integers(0, 10**9), st.integers(0, 10**9), st.integers(1, 10**9))
def test_of_waiting_inference_and_neither_at_least_one_is_told_where_phases_are_known(queue, inference, rest):
    over = Phases(
        requests=1, known=1, elapsed_us=queue + inference + rest, queue_us=queue, inference_us=inference
    )
    told = kinds(observed(over=over)) & {"queue", "inference", "outside"}
    shares = [Fraction(each, over.elapsed_us) for each in (queue, inference, rest)]
    assert len(told) == sum(share >= Fraction(1, 2) for share in shares)


@given(st.permutations(range(4)))
def test_the_order_of_what_was_read_changes_nothing(order):
    (seen, *_) = everything()
    fills = [Fill(engine=f"e{n}", peak=0.95, scrapes=3, full_scrapes=2) for n in range(4)]
    happenings = [EngineHappening(kind="started", engine=f"e{n}", at_us=START_US) for n in range(4)]
    gpus = [Throttled(gpu=f"g{n}", seconds=50, measured=100) for n in range(4)]
    lives = [a_life(*range(100, 1100, 100), engine=f"e{n}") for n in range(4)]

    def told(places):
        return evidence_of(
            replace(
                seen,
                fills=tuple(fills[n] for n in places),
                engine_happenings=tuple(happenings[n] for n in places),
                throttled=tuple(gpus[n] for n in places),
                lives=tuple(lives[n] for n in places),
            )
        )

    assert told(order) == told(range(4))
