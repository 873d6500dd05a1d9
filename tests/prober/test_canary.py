"""Two versions side by side, in simulated time: on, back or once more, and never on without a measurement."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise

import pytest

from exporters.webhooks.event import Severity, State
from fairclock.errors import ConfigurationError
from fairclock.model.probes import ProbeOutcome
from inference_probe.prober.canary.comparing import BASELINE, CANARY, Comparison, compare
from inference_probe.prober.canary.deciding import Recommendation, Side, decide, side
from inference_probe.prober.canary.policy import CanaryPolicy, load_policy
from inference_probe.prober.canary.telling import decision_event
from inference_probe.prober.endpoints import endpoint
from inference_probe.prober.loading import Loading
from inference_probe.prober.plans import Asking
from tests.prober.factories import an_observation
from tests.prober.loops import run_timeless

POLICY = CanaryPolicy(least_probes=20)
GOOD = Side(probes=1000, mean_seconds=1.0, error_ratio=0.01, memory_bytes=100.0)


def a_side(**changes):

    return replace(GOOD, **changes)


def test_the_share_begins_at_five_per_cent_and_doubles_every_thirty_minutes():
    assert CanaryPolicy().shares() == [5, 10, 20, 40, 80, 100]
    assert CanaryPolicy().steps.every_seconds == 1800


@pytest.mark.parametrize(
    ("canary", "share", "recommendation", "following"),
    [
        pytest.param(GOOD, 5, "advance", 10, id="as good"),
        pytest.param(GOOD, 80, "advance", 100, id="the last step but one"),
        pytest.param(GOOD, 100, "finish", 100, id="all of it"),
        pytest.param(a_side(mean_seconds=1.1), 5, "advance", 10, id="the mean at its threshold"),
        pytest.param(a_side(mean_seconds=1.101), 5, "rollback", 0, id="the mean above it"),
        pytest.param(a_side(error_ratio=0.02), 20, "advance", 40, id="failures at their threshold"),
        pytest.param(a_side(error_ratio=0.0201), 20, "rollback", 0, id="failures above it"),
        pytest.param(a_side(memory_bytes=121.0), 100, "rollback", 0, id="memory above its threshold, at the last step too"),
        pytest.param(a_side(memory_bytes=None), 5, "hold", 5, id="memory that nobody measured"),
        pytest.param(a_side(probes=19), 40, "hold", 40, id="too few probes"),
        pytest.param(a_side(probes=19, mean_seconds=9.0), 40, "hold", 40, id="too few probes, however slow"),
        pytest.param(a_side(mean_seconds=None, error_ratio=1.0), 5, "rollback", 0, id="nothing but failures"),
        pytest.param(a_side(memory_bytes=None, error_ratio=0.5), 5, "rollback", 0, id="worse comes before missing"),
    ],
)  # fmt: skip
def test_a_step_is_decided(canary, share, recommendation, following):
    found = decide(POLICY, share, GOOD, canary)
    assert (found.recommendation.value, found.next_percent) == (recommendation, following)
    assert found.reasons


@dataclass
class Version:
    """A version that answers after `base` seconds, after `later` from the instant `from_seconds` on."""

    base: float
    later: float
    from_seconds: float = 1e9

    async def ask(self, question, *, started, intended):
        loop = asyncio.get_running_loop()
        at = loop.time() - started
        await asyncio.sleep(self.later if at >= self.from_seconds else self.base)
        return an_observation(
            question.number, intended=intended - started, sent=at, done=loop.time() - started, stage=question.stage,
            version=question.version,
        )  # fmt: skip


def compared(canary, **changes):
    told = []

    async def run():
        async def tell(step, decision):
            told.append((asyncio.get_running_loop().time(), step, decision))

        place = endpoint("http://127.0.0.1:9")
        return await compare(
            Comparison(
                loading=Loading(
                    endpoint=place,
                    asking=Asking(run="r", model="m", tenant="fairclock-probe"),
                    bound_seconds=0.05,
                    wall=lambda: 1.7e9,
                ),
                canary=place,
                policy=CanaryPolicy(
                    least_probes=20,
                    thresholds={"memory_ratio": None},
                    steps={"every_seconds": 180},
                    **changes,
                ),
                rate=0.5,
                read_metrics={},
                tell=tell,
                asks={BASELINE: Version(1.0, 1.0), CANARY: canary},
            )
        )

    return *run_timeless(run()), told


def test_a_version_that_grows_slow_in_its_fourth_step_is_told_to_go_back_then():
    result, decisions, told = compared(Version(1.0, 1.3, from_seconds=545))
    assert [each.recommendation.value for each in decisions] == ["advance"] * 3 + ["rollback"]
    assert [each.share_percent for each in decisions] == [5, 10, 20, 40]
    between = [later - earlier for (earlier, *_), (later, *_) in pairwise(told)]
    assert all(
        170 < each < 190 for each in between
    )  # the last of a step's answers may come a little before or after
    assert {each.version for each in result.seen} == {BASELINE, CANARY}
    pairs = {(each.stage, each.number): each.intended for each in result.seen if each.version == BASELINE}
    assert all(pairs[each.stage, each.number] == each.intended for each in result.seen)


def test_a_good_version_gets_all_of_the_traffic_in_six_steps():
    _, decisions, _ = compared(Version(1.0, 1.0))
    assert [each.next_percent for each in decisions] == [10, 20, 40, 80, 100, 100]
    assert decisions[-1].recommendation is Recommendation.FINISH


def test_what_is_never_measured_is_given_up_and_never_let_on():
    class Mute(Version):
        async def ask(self, question, *, started, intended):
            return an_observation(
                question.number, outcome=ProbeOutcome.QUOTA_REJECTED, version=question.version
            )

    _, decisions, _ = compared(Mute(1.0, 1.0), most_holds=2)
    assert [each.recommendation.value for each in decisions] == ["hold"] * 3
    assert {each.next_percent for each in decisions} == {5}


def test_a_step_that_was_void_is_done_again_with_other_numbers():
    asked = []

    class Late(Version):
        async def ask(self, question, *, started, intended):
            asked.append(question.request_id)
            seen = await super().ask(question, started=started, intended=intended)
            return replace(seen, sent=seen.sent + 1.0)

    result, decisions, _ = compared(Late(1.0, 1.0), most_holds=1)
    assert [each.recommendation.value for each in decisions] == ["hold"] * 2
    assert all("probes were sent late" in each.reasons[0] for each in decisions)
    assert result.seen == []
    assert len(asked) == len(set(asked)) > 100


@pytest.mark.parametrize(
    ("canary", "severity", "state"),
    [
        pytest.param(GOOD, Severity.INFO, State.FIRING, id="on"),
        pytest.param(a_side(error_ratio=0.5), Severity.CRITICAL, State.FIRING, id="back"),
        pytest.param(a_side(probes=1), Severity.WARNING, State.FIRING, id="once more"),
    ],
)
def test_a_decision_is_one_change_of_the_runs_own_alert(canary, severity, state):
    now = datetime(2026, 11, 30, tzinfo=UTC)
    event = decision_event(decide(POLICY, 5, GOOD, canary), run="r1", step=2, now=now)
    assert (event.alert_id, event.sequence, event.severity, event.state) == ("canary/r1", 3, severity, state)
    assert event.value in event.summary_en
    assert not re.search(r"[a-z]{3,} [a-z]{3,}", event.summary_zh), event.summary_zh


def test_a_version_that_refuses_what_the_other_answers_is_worse_and_a_wrong_key_is_no_ones_fault():
    answered = [an_observation(n) for n in range(200)]
    refused = [
        an_observation(n, outcome=ProbeOutcome.CLIENT_ERROR, status=404, done=None) for n in range(200)
    ]
    old, new = (side(seen, clock="end_to_end", memory_bytes=1.0) for seen in (answered, refused))
    assert decide(POLICY, 5, old, new).recommendation is Recommendation.ROLLBACK
    assert decide(POLICY, 5, new, new).recommendation is Recommendation.HOLD


def test_a_policy_file_is_read_and_what_is_wrong_in_it_is_named(tmp_path):
    file = tmp_path / "policy.yaml"
    file.write_text("thresholds: {mean_ratio: 1.5, memory_ratio: }\nsteps: {first_percent: 50}\n")
    found = load_policy(file)
    assert (found.thresholds.mean_ratio, found.thresholds.memory_ratio, found.shares()) == (
        1.5,
        None,
        [50, 100],
    )
    file.write_text("steps: {factor: 1}\nclock: queue\n")
    with pytest.raises(ConfigurationError, match="2 problems"):
        load_policy(file)
