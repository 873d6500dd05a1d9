"""Own the open loop: each probe is sent at its instant, whatever became of those before it."""

from __future__ import annotations

import asyncio
import gc
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairclock.model.probes import ProbeOutcome
from inference_probe.prober.lateness import STOPPED, LagMeter
from inference_probe.prober.observations import Observation, on_the_runs_clock
from inference_probe.prober.timers import FineTimer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from inference_probe.prober.asking import Asks, Question
    from inference_probe.prober.schedules import Arrival


_LEAST_FAILED_SECONDS = 0.05
"""How long after a probe of a closed loop that failed the next one is sent at the earliest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What a loop saw, in the order of its schedule, and its own lags in seconds. was_stopped: before its end."""

    seen: Sequence[Observation]
    lags: Sequence[float]
    was_stopped: bool = False


async def run_open(
    asker: Asks,
    arrivals: Sequence[Arrival],
    questions: Sequence[Question],
    *,
    started: float,
    stop: asyncio.Event | None = None,
) -> Ran:
    """Ask each question at `started` plus its arrival's instant; `stop` ends the run, what is under way is left.

    started: on the loop's clock. A probe whose time has passed is sent at once, and its lateness kept.
    """
    loop = asyncio.get_running_loop()
    tasks: list[asyncio.Task[Observation]] = []
    async with LagMeter() as meter:
        with _little_collected():
            sending = loop.create_task(_send(asker, arrivals, questions, started, tasks))
            stopping = None if stop is None else loop.create_task(stop.wait())
            await asyncio.wait(
                [sending] if stopping is None else [sending, stopping], return_when=asyncio.FIRST_COMPLETED
            )
            if sending.done():
                sending.result()
            sending.cancel()
            seen = await _ended(tasks, stopping)
    rest = zip(arrivals[len(tasks) :], questions[len(tasks) :], strict=True)
    unsent = [_unsent(arrival, question) for arrival, question in rest]
    return Ran(seen=[*seen, *unsent], lags=meter.lags, was_stopped=stop is not None and stop.is_set())


async def run_closed(
    asker: Asks,
    questions: Iterator[Question],
    *,
    concurrency: int,
    started: float,
    begin: float,
    end: float,
    stop: asyncio.Event | None = None,
) -> Ran:
    """Keep `concurrency` questions under way from `begin` to `end`, both after `started` on the loop's clock.

    A closed loop waits for answers, so it leaves out what others would have waited: its latencies say how the service does
    at this concurrency, and nothing of a schedule. Each probe is intended when the one before it was done; after one that failed
    at once a moment later, so that a service that is away is not asked as fast as the loop turns. A loop that stood still until
    after `end` asks once in each place: its lag is there to void it, and it does not look as though nothing had been due. `stop`
    ends it all.
    """
    loop = asyncio.get_running_loop()
    seen: list[Observation] = []

    def is_stopped() -> bool:
        return stop is not None and stop.is_set()

    async def keep_asking() -> None:
        is_first = True
        while not is_stopped() and ((now := loop.time()) < started + end or is_first):
            is_first = False
            question = next(questions, None)
            if question is None:
                return
            seen.append(await asker.ask(question, started=started, intended=now))
            if seen[-1].outcome is not ProbeOutcome.OK:
                await asyncio.sleep(max(0.0, now + _LEAST_FAILED_SECONDS - loop.time()))

    async with LagMeter() as meter:
        await asyncio.sleep(max(0.0, started + begin - loop.time()))
        asking = [loop.create_task(keep_asking()) for _ in range(concurrency)]
        stopping = None if stop is None else loop.create_task(stop.wait())
        await _all_or_stopped(asking, stopping)
        for found in await asyncio.gather(*asking, return_exceptions=True):
            if isinstance(found, Exception):
                raise found
    return Ran(seen=sorted(seen, key=lambda each: each.number), lags=meter.lags, was_stopped=is_stopped())


async def _send(
    asker: Asks,
    arrivals: Sequence[Arrival],
    questions: Sequence[Question],
    started: float,
    tasks: list[asyncio.Task[Observation]],
) -> None:
    loop = asyncio.get_running_loop()
    with FineTimer() as timer:
        for arrival, question in zip(arrivals, questions, strict=True):
            intended = started + arrival.at_seconds
            await timer.until(intended)
            tasks.append(loop.create_task(asker.ask(question, started=started, intended=intended)))


async def _ended(
    tasks: Sequence[asyncio.Task[Observation]], stopping: asyncio.Task[bool] | None
) -> Sequence[Observation]:
    await _all_or_stopped(tasks, stopping)
    return await asyncio.gather(*tasks)


async def _all_or_stopped(tasks: Sequence[asyncio.Task[Any]], stopping: asyncio.Task[bool] | None) -> None:
    """Wait until all tasks are done, or leave them: each that is under way says what it saw so far."""
    if stopping is None:
        return
    everything = asyncio.ensure_future(asyncio.gather(*tasks, return_exceptions=True))
    waited: list[asyncio.Future[Any]] = [everything, stopping]
    await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    for task in tasks:
        task.cancel()


def _unsent(arrival: Arrival, question: Question) -> Observation:
    return Observation(
        number=question.number,
        request_id=question.request_id,
        trace_id=question.trace_id,
        intended=on_the_runs_clock(arrival.at_seconds, 0.0),
        sent=None,
        outcome=ProbeOutcome.NOT_SENT,
        error=STOPPED,
        stage=question.stage,
        version=question.version,
        inference_mode=question.inference_mode,
    )


@contextmanager
def _little_collected() -> Iterator[None]:
    """Keep what is there by now from the garbage collector: going through it stops the loop for longer than a token takes."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
