"""Own the run of a sweep: a stage a load, one after the other, each void by itself where the prober was too late."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, Any, Literal

from fairclock.errors import NotEvaluable
from inference_probe.prober.asking import Asker
from inference_probe.prober.calibrating import calibrated
from inference_probe.prober.connections import Connections
from inference_probe.prober.engine_readings import KV_CACHE, Watching
from inference_probe.prober.lateness import measured
from inference_probe.prober.loading import START_AHEAD_SECONDS, header
from inference_probe.prober.result_files import Result
from inference_probe.prober.running import run_closed, run_open
from inference_probe.prober.schedules import Arrival, check_plan, constant, poisson

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from inference_probe.prober.asking import Asks
    from inference_probe.prober.loading import Loading
    from inference_probe.prober.observations import Observation
    from inference_probe.prober.plans import Asking
    from inference_probe.prober.running import Ran

Kind = Literal["rate", "concurrency"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """What is swept: rates (an open loop, a second) or concurrencies (a closed one), each for `stage_seconds`.

    read_metrics: how the engine's /metrics are read; None where nobody said where they are.
    """

    kind: Kind
    loads: Sequence[float]
    stage_seconds: float
    objectives: Sequence[str] = ()
    is_poisson: bool = True
    read_metrics: Callable[[], str | None] | None = None


async def sweep(loading: Loading, plan: Sweep, *, stop: asyncio.Event | None = None) -> Result:
    """Run every stage; a stage begins when nothing of the last one is under way.

    `stop` ends it: the stage that was under way is said to be cut short, and its probes are kept. Raises UsageError where a load
    makes no stage, before anything is asked, and NotEvaluable where all stages are void.
    """
    for load in plan.loads:
        if plan.kind == "rate":
            check_plan(load, plan.stage_seconds)
    connections = Connections(loading.endpoint, reuses=not loading.fresh_connections)
    asker = loading.asks or Asker(connections)
    seen: list[Observation] = []
    stages: list[dict[str, Any]] = []
    number = 0
    try:
        asking = await calibrated(asker, loading.endpoint, loading.asking)
        started = asyncio.get_running_loop().time()
        begun = loading.wall()
        for stage, load in enumerate(plan.loads):
            async with Watching(plan.read_metrics, KV_CACHE) as watching:
                ran = await _stage(
                    asker, loading, asking, plan, load, stage=stage, first=number, started=started, stop=stop
                )
            number += len(ran.seen)
            itself = measured(ran.seen, ran.lags, bound_seconds=loading.bound_seconds)
            void = itself.void_reason()
            stages.append(
                {
                    "number": stage,
                    "load": load,
                    "seconds": plan.stage_seconds,
                    "kv_cache_ratio": None if watching.peak is None else round(watching.peak, 6),
                    "prober": itself.tree(),
                    "unmeasured": "cut short"
                    if ran.was_stopped
                    else None
                    if ran.seen
                    else "no probe was due",
                }
            )
            if not void:
                seen += ran.seen
            if ran.was_stopped:
                break
    finally:
        connections.close()
    if not any(each.sent is not None for each in seen):
        raise NotEvaluable(
            "probe run",
            "every stage is void, nothing is kept",
            found=next(
                (str(each["prober"]["void"] or each["unmeasured"]) for each in stages), "no stage was begun"
            ),
            remedy="give the prober a core of its own, raise --most-late-ms, or let stages be longer",
        )
    schedule = {
        "kind": plan.kind,
        "loads": list(plan.loads),
        "stage_seconds": plan.stage_seconds,
        "arrivals": "closed" if plan.kind == "concurrency" else "poisson" if plan.is_poisson else "constant",
    }
    said: dict[str, Any] = header(loading, mode="sweep", begun=begun, schedule=schedule, itself=None)
    said |= {"was_stopped": stop is not None and stop.is_set()}
    return Result(header=said | {"stages": stages, "objectives": list(plan.objectives)}, seen=seen)


async def _stage(
    asker: Asks,
    loading: Loading,
    asking: Asking,
    plan: Sweep,
    load: float,
    *,
    stage: int,
    first: int,
    started: float,
    stop: asyncio.Event | None,
) -> Ran:
    begin = asyncio.get_running_loop().time() - started + START_AHEAD_SECONDS
    if plan.kind == "concurrency":
        endless = (Arrival(at_seconds=0.0) for _ in count())
        questions = asking.questions(loading.endpoint, endless, first=first, stage=stage)
        return await run_closed(
            asker,
            questions,
            concurrency=int(load),
            started=started,
            begin=begin,
            end=begin + plan.stage_seconds,
            stop=stop,
        )
    arrivals = (
        poisson(rate=load, duration_seconds=plan.stage_seconds, seed=asking.seed + stage)
        if plan.is_poisson
        else constant(rate=load, duration_seconds=plan.stage_seconds)
    )
    questions = asking.questions(loading.endpoint, arrivals, first=first, stage=stage)
    ready = list(questions)
    begin = asyncio.get_running_loop().time() - started + START_AHEAD_SECONDS
    moved = [replace(each, at_seconds=begin + each.at_seconds) for each in arrivals]
    return await run_open(asker, moved, ready, started=started, stop=stop)
