"""A run that is stopped says what it saw, and a lag of the loop's own voids a run as lateness does."""

from __future__ import annotations

import asyncio
import resource
import time

import pytest

from fairclock.model.probes import ProbeOutcome
from inference_probe.prober.asking import Asker
from inference_probe.prober.connections import Connections
from inference_probe.prober.endpoints import endpoint
from inference_probe.prober.lateness import STOPPED, LagMeter, measured
from inference_probe.prober.limits import allow_many_files
from inference_probe.prober.plans import Asking
from inference_probe.prober.running import run_open
from inference_probe.prober.schedules import Arrival
from inference_probe.prober.timers import FineTimer
from tests.prober.factories import an_observation
from tests.prober.loops import run_timeless
from tests.prober.servers import answer, serving


def test_a_run_that_is_stopped_says_of_each_probe_how_far_it_came():
    async def answers(headers, body):
        if headers["x-request-id"].endswith("-1"):
            await asyncio.sleep(3600)
        yield answer()

    async def run(url):
        stop = asyncio.Event()
        place = endpoint(url)
        asking = Asking(run="r", model="m", tenant="fairclock-probe")
        arrivals = [Arrival(at_seconds=each) for each in (0.0, 0.01, 3600.0)]
        connections = Connections(place, reuses=True)

        answered = asyncio.Event()

        class Telling(Asker):
            async def ask(self, question, **when):
                seen = await super().ask(question, **when)
                answered.set()
                return seen

        async def once_both_are_there():
            await answered.wait()
            while len(service.requests) < 2:  # noqa: ASYNC110 - they come in another thread
                await asyncio.sleep(0.01)
            stop.set()

        stopping = asyncio.create_task(once_both_are_there())
        ran = await run_open(
            Telling(connections), arrivals, list(asking.questions(place, arrivals)),
            started=asyncio.get_running_loop().time(), stop=stop,
        )  # fmt: skip
        await stopping
        connections.close()
        return ran

    with serving(answers) as service:
        ran = asyncio.run(run(service.url))
    first, second, third = ran.seen
    assert ran.was_stopped
    assert first.outcome is ProbeOutcome.OK
    assert (second.outcome, second.error) == (ProbeOutcome.ABORTED, "stopped:first byte")
    assert (third.outcome, third.error, third.sent) == (ProbeOutcome.NOT_SENT, STOPPED, None)
    # what a person stopped was not late
    assert measured(ran.seen, [], bound_seconds=60).void_reason() == ""


async def waited_for(instants):
    loop = asyncio.get_running_loop()
    started = loop.time()
    found = []
    with FineTimer() as timer:
        for each in instants:
            await timer.until(started + each)
            found.append(loop.time() - started)
    return found


@pytest.mark.parametrize(
    "runner", [asyncio.run, run_timeless], ids=["by the system's clock", "by a clock that is told"]
)
def test_a_timer_never_wakes_before_its_instant_and_waits_for_none_that_has_passed(runner):
    instants = [0.0005, 0.001, 0.02, 0.0201, 0.01, 0.05]
    found = runner(waited_for(instants))
    assert all(at >= meant - 1e-8 for at, meant in zip(found, instants, strict=True))
    assert found == sorted(found)


def test_a_timer_is_the_systems_where_there_is_one():
    async def file():
        with FineTimer() as timer:
            return timer._file

    assert asyncio.run(file()) >= 0
    assert run_timeless(file()) == -1


def test_as_many_connections_as_the_system_lets_this_process_have_may_wait():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(256, hard), hard))
    try:
        assert allow_many_files() == hard == resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_loop_that_stands_still_is_measured():
    async def stand_still():
        async with LagMeter() as meter:
            await asyncio.sleep(0.05)
            time.sleep(0.3)  # noqa: ASYNC251 - what is measured
            await asyncio.sleep(0.05)
            return meter.lags

    assert max(asyncio.run(stand_still())) >= 0.3 - 0.02 - 0.001


@pytest.mark.parametrize(
    ("seen", "lags", "reason"),
    [
        pytest.param([an_observation(sent=0.04)], [0.04], "", id="at the bound"),
        pytest.param([an_observation(sent=0.041)], [], "probes were sent late", id="late"),
        pytest.param([an_observation()], [0.041], "the loop lagged", id="lagging"),
        pytest.param([an_observation(sent=None, error="prober: EMFILE", outcome=ProbeOutcome.NOT_SENT)], [], "some never", id="never sent"),
        pytest.param([an_observation(k) for k in range(99)] + [an_observation(0, sent=9.0)], [], "", id="one of a hundred"),
        pytest.param([an_observation(k) for k in range(98)] + [an_observation(0, sent=9.0)] * 2, [], "probes were sent late", id="two of a hundred"),
    ],
)  # fmt: skip
def test_when_a_run_is_void(seen, lags, reason):
    found = measured(seen, lags, bound_seconds=0.04).void_reason()
    assert reason in found
    assert bool(reason) == bool(found)
