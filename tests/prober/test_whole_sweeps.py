"""A whole sweep of a service whose limit is known, in simulated time: where it breaks, where it is saturated, what is void."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from fairclock.errors import NotEvaluable
from inference_probe.prober.endpoints import endpoint
from inference_probe.prober.engine_readings import KV_CACHE, Watching
from inference_probe.prober.loading import Loading
from inference_probe.prober.plans import Asking
from inference_probe.prober.sweeping.findings import findings
from inference_probe.prober.sweeping.stages import Sweep, sweep
from tests.prober.factories import an_observation
from tests.prober.loops import run_timeless


class Server:
    """It does one request after the other, each in `seconds`: 1 / seconds of them a second, and no more."""

    def __init__(self, seconds, *, late_from=None):
        self._seconds = seconds
        self._free = 0.0
        self._late_from = late_from

    async def ask(self, question, *, started, intended):
        loop = asyncio.get_running_loop()
        sent = loop.time()
        self._free = max(self._free, sent) + self._seconds
        await asyncio.sleep(self._free - sent)
        late = 1.0 if self._late_from is not None and question.stage >= self._late_from else 0.0
        return an_observation(
            question.number, stage=question.stage, intended=intended - started, sent=sent - started + late,
            first_token=loop.time() - started, done=loop.time() - started, completion_tokens=3,
        )  # fmt: skip


def swept(service, **changes):
    plan = Sweep(kind="rate", loads=[1, 2, 4, 8, 16], stage_seconds=20, is_poisson=False, **changes)
    loading = Loading(
        endpoint=endpoint("http://127.0.0.1:9"),
        asking=Asking(run="r", model="m", tenant="fairclock-probe"),
        bound_seconds=0.05,
        wall=lambda: 1.7e9,
        asks=service,
    )
    return run_timeless(sweep(loading, plan))


def test_a_service_that_does_four_a_second_is_saturated_from_four_on_and_breaks_at_eight():
    found = findings(swept(Server(0.25), objectives=["end_to_end p95 1", "end_to_end p95 100"]))
    assert found.saturated_from == 4
    assert found.breaks_at == {"end_to_end p95 1": 8, "end_to_end p95 100": None}
    throughput = [each.figures["requests_per_second"] for each in found.stages]
    assert throughput == pytest.approx([1, 2, 4, 4, 4], rel=0.06)
    # at 8 a second the queue grows by 4 a second: the last of 160 waits for 20 s and its own turn
    assert found.stages[3].figures["clocks"]["end_to_end"]["max"] == pytest.approx(20.125, abs=0.01)


def test_a_stage_in_which_the_prober_was_late_is_void_and_the_others_are_not():
    found = findings(swept(Server(0.25, late_from=2), objectives=["end_to_end p95 1"]))
    assert [bool(each.void) for each in found.stages] == [False, False, True, True, True]
    assert [each.figures is None for each in found.stages] == [False, False, True, True, True]
    assert found.breaks_at == {"end_to_end p95 1": None}


def test_a_sweep_of_void_stages_alone_is_void():
    with pytest.raises(NotEvaluable, match="every stage is void"):
        swept(Server(0.25, late_from=0))


def test_the_fullest_cache_of_a_stage_is_kept_and_a_reading_that_fails_is_missing():
    read = iter([None, f"{KV_CACHE} 0.25\n", f"{KV_CACHE} 0.75\n", f"{KV_CACHE} 0.5\n"])

    async def watch(reading):
        async with Watching(reading, KV_CACHE) as found:
            await asyncio.sleep(60)
        return found.peak

    assert run_timeless(watch(lambda: next(read, None))) == 0.75
    assert run_timeless(watch(lambda: None)) is None
    assert run_timeless(watch(None)) is None


def test_without_tokens_of_its_own_a_stage_says_nothing_of_them():
    result = swept(Server(0.25))
    bare = replace(result, seen=[replace(each, first_token=None) for each in result.seen])
    assert "time_to_first_token" not in findings(bare).stages[0].figures["clocks"]
