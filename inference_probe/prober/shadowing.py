"""Own the shadow: a small share of the gateway's real arrivals asked again, a while later, with synthetic prompts of their lengths.

Nothing of a customer's request is known here but when it came and how many tokens it had.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from fairclock.errors import NotEvaluable
from fairclock.model import Interval
from inference_probe.prober.asking import Asker
from inference_probe.prober.calibrating import calibrated
from inference_probe.prober.connections import Connections
from inference_probe.prober.latencies import figures
from inference_probe.prober.lateness import STOPPED
from inference_probe.prober.loading import START_AHEAD_SECONDS, header, own_measure
from inference_probe.prober.result_files import Result
from inference_probe.prober.running import run_open
from inference_probe.prober.schedules import Arrival

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence
    from datetime import datetime, timedelta

    from fairclock.store.sampled_arrivals import SampledArrival
    from inference_probe.prober.loading import Loading
    from inference_probe.prober.running import Ran

_AHEAD_SECONDS = 0.5
"""How long before a period its questions are made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shadow:
    """What is repeated. read: the arrivals of an interval, in time order; share: of all arrivals, for the record.

    begin: from which instant on arrivals are repeated; it lies so far back that everything of a period is stored by then.
    """

    read: Callable[[Interval], Sequence[SampledArrival]]
    share: float
    begin: datetime
    period: timedelta
    periods: int


async def shadow(
    loading: Loading, plan: Shadow, *, stop: asyncio.Event | None = None
) -> AsyncIterator[Result | NotEvaluable]:
    """Yield the result of each period, or why it says nothing. The next period is read while one is asked; `stop` ends it all."""
    connections = Connections(loading.endpoint, reuses=not loading.fresh_connections)
    asker = loading.asks or Asker(connections)
    loop = asyncio.get_running_loop()
    try:
        asking = await calibrated(
            asker, loading.endpoint, loading.asking, answered_before=loading.answered_before
        )
        upcoming = loop.run_in_executor(None, plan.read, _window(plan, 0))
        asked: list[tuple[asyncio.Task[Ran], dict[str, Any]]] = []
        first, found = 0, await upcoming
        started, begun = loop.time() + START_AHEAD_SECONDS, loading.wall() + START_AHEAD_SECONDS
        for number in range(plan.periods):
            window = _window(plan, number)
            arrivals = repeated(found, window)
            passed_seconds = (number * plan.period).total_seconds()
            moved = [replace(each, at_seconds=passed_seconds + each.at_seconds) for each in arrivals]
            questions = list(asking.questions(loading.endpoint, arrivals, first=first))
            first += len(arrivals)
            ran = loop.create_task(run_open(asker, moved, questions, started=started, stop=stop))
            asked.append((ran, _schedule(plan, window, found, arrivals)))
            is_last = number + 1 == plan.periods
            if not is_last:
                found = await loop.run_in_executor(None, plan.read, _window(plan, number + 1))
                # an answer that is late keeps no later period waiting
                due = started + (number + 1) * plan.period.total_seconds() - _AHEAD_SECONDS
                is_last = await _stopped(stop, due - loop.time())
            while asked and (asked[0][0].done() or is_last):
                task, schedule = asked.pop(0)
                yield _told(loading, await task, schedule, begun)
            if is_last:
                return
    finally:
        connections.close()


async def _stopped(stop: asyncio.Event | None, seconds: float) -> bool:
    """Wait so long, or until `stop` is set, and say whether it was."""
    if stop is None:
        await asyncio.sleep(seconds)
        return False
    try:
        async with asyncio.timeout(max(0.0, seconds)):
            return await stop.wait()
    except TimeoutError:
        return False


def all_periods(told: Sequence[Result], *, void: int, was_stopped: bool) -> Result:
    """Return all periods as one run; its measure of itself is the worst of theirs. Raises NotEvaluable where nothing was asked."""
    schedules = [each.header["schedule"] for each in told]
    came, without = (sum(each[name] for each in schedules) for name in ("arrivals", "without_a_length"))
    seen = [probe for each in told for probe in each.seen]
    if not any(each.sent is not None for each in seen):
        raise NotEvaluable(
            "probe run",
            "nothing was repeated",
            found=f"{came} arrivals of the share, {without} without a length, {void} periods void",
            remedy="raise --share, let the gateway log prompt_tokens or collect the engine's spans, or raise --most-late-ms",
        )
    asked = [each for each in told if each.header["prober"] is not None]
    worst = max(asked, key=lambda each: each.header["prober"]["lateness"]["p99"] or 0.0)
    schedule = {
        **schedules[0],
        "to": schedules[-1]["to"],
        "arrivals": came,
        "without_a_length": without,
        "void_periods": void,
    }
    said = {"schedule": schedule, "was_stopped": was_stopped, "figures": figures(seen)}
    return Result(header={**worst.header, **said}, seen=seen)


def _told(loading: Loading, ran: Ran, schedule: dict[str, Any], begun: float) -> Result | NotEvaluable:
    try:
        # a period without arrivals says that there were none, and one that was ended before its first nothing
        was_begun = any(each.error != STOPPED for each in ran.seen)
        itself = own_measure(ran, loading.bound_seconds) if was_begun else None
    except NotEvaluable as void:
        return void
    said = header(loading, mode="shadow", begun=begun, schedule=schedule, itself=itself)
    return Result(header=said | {"figures": figures(ran.seen)}, seen=ran.seen)


def _schedule(
    plan: Shadow, window: Interval, found: Sequence[SampledArrival], arrivals: Sequence[Arrival]
) -> dict[str, Any]:
    return {
        "kind": "shadow",
        "share": plan.share,
        "from": window.start.isoformat(),
        "to": window.end.isoformat(),
        "arrivals": len(found),
        "without_a_length": len(found) - len(arrivals),
    }


def repeated(found: Sequence[SampledArrival], window: Interval) -> list[Arrival]:
    """Return the arrivals that have a length, as far from the period's start as they came; a guess would be no repetition."""
    return [
        Arrival(
            at_seconds=(each.received_at - window.start).total_seconds(),
            prompt_tokens=each.prompt_tokens,
            completion_tokens=each.completion_tokens or None,
        )
        for each in found
        if each.prompt_tokens
    ]


def _window(plan: Shadow, number: int) -> Interval:
    start = plan.begin + number * plan.period
    return Interval(start=start, end=start + plan.period)
