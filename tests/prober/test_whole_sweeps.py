"""A whole sweep of a service whose limit is known, in simulated time: where it breaks, where it is saturated, what is void."""

from __future__ import annotations

import asyncio
import socket
from dataclasses import replace

import pytest

from fairclock.errors import NotEvaluable
from fairclock.model.probes import ProbeOutcome
from inference_probe.prober.asking import Asker
from inference_probe.prober.connections import Connections
from inference_probe.prober.endpoints import endpoint
from inference_probe.prober.engine_readings import KV_CACHE, Watching
from inference_probe.prober.loading import Loading
from inference_probe.prober.plans import Asking
from inference_probe.prober.running import run_closed
from inference_probe.prober.schedules import Arrival
from inference_probe.prober.sweeping.findings import findings
from inference_probe.prober.sweeping.showing import sweep_chart, sweep_lines
from inference_probe.prober.sweeping.stages import Sweep, sweep
from tests.prober.factories import a_question, an_observation
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
    plan = Sweep(
        **{"kind": "rate", "loads": [1, 2, 4, 8, 16], "stage_seconds": 20, "is_poisson": False, **changes}
    )
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
    assert found.unmeasured_at == {"end_to_end p95 1": [4, 8, 16]}
    lines = list(sweep_lines(found))
    assert "end_to_end p95 1: kept where it was measured; not measured at rate 4, 8, 16" in lines


@pytest.mark.parametrize(
    ("loads", "saturation"),
    [
        pytest.param([4], "saturation: not known, it takes two stages with answers", id="a single stage"),
        pytest.param([1, 2], "saturation: not reached", id="work that keeps up"),
        pytest.param([8, 16], "saturation: from rate 8 on more load brings hardly more work", id="the first stage already"),
    ],
)  # fmt: skip
def test_what_is_said_of_saturation(loads, saturation):
    assert list(sweep_lines(findings(swept(Server(0.25), loads=loads))))[-1] == saturation


class Failing(Server):
    async def ask(self, question, **when):
        seen = await super().ask(question, **when)
        if question.version == "calibration":
            return seen
        return replace(
            seen, outcome=ProbeOutcome.SERVER_ERROR, status=500, first_token=None, completion_tokens=None
        )


def test_a_service_that_fails_every_probe_breaks_at_the_first_load_and_is_not_called_unsaturated(tmp_path):
    result = swept(Failing(0.25), objectives=["time_to_first_token p95 1", "connect p95 1"])
    found = findings(result)
    assert found.breaks_at == {"time_to_first_token p95 1": 1, "connect p95 1": None}
    lines = list(sweep_lines(found))
    assert "time_to_first_token p95 1: breaks at rate 1" in lines
    assert "connect p95 1: not measured at any load" in lines
    assert lines[-1] == "saturation: not known, it takes two stages with answers"
    assert sweep_chart(found, font_family="sans-serif").startswith("<svg")


def test_a_closed_loop_does_not_ask_a_service_that_is_away_as_fast_as_it_can():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))

        async def run():
            place = endpoint(f"http://127.0.0.1:{free.getsockname()[1]}")
            loop, stop = asyncio.get_running_loop(), asyncio.Event()

            class Counting(Asker):
                count = 0

                async def ask(self, question, **when):
                    self.count += 1
                    if self.count == 12:
                        stop.set()
                    return await super().ask(question, **when)

            asker = Counting(Connections(place, reuses=True))
            asking = Asking(run="r", model="m", tenant="fairclock-probe")
            questions = asking.questions(place, (Arrival(at_seconds=0.0) for _ in range(100_000)))
            return await run_closed(
                asker, questions, concurrency=2, started=loop.time(), begin=0.0, end=600.0, stop=stop
            )

        ran = asyncio.run(run())
    failed = sorted(each.intended for each in ran.seen if each.outcome is ProbeOutcome.UNREACHABLE)
    assert len(failed) >= 10
    # of three that follow each other two are of the same one of two places, and that one has paused between them
    assert all(third - first >= 0.05 - 1e-5 for first, third in zip(failed, failed[2:], strict=False))


def test_a_closed_loop_that_stood_still_for_its_whole_time_asks_once_in_each_place():
    async def run():
        started = asyncio.get_running_loop().time() - 9.0
        questions = (a_question(number) for number in range(100_000))
        return await run_closed(Server(0.25), questions, concurrency=3, started=started, begin=0.0, end=0.4)

    assert [each.number for each in run_timeless(run()).seen] == [0, 1, 2]


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
