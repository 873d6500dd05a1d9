"""Own the run of a canary: both versions asked the same at the same instants, a decision after each step."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from fairclock.errors import NotEvaluable
from inference_probe.prober.asking import Asker
from inference_probe.prober.calibrating import calibrated
from inference_probe.prober.canary.deciding import Decision, Recommendation, decide, side
from inference_probe.prober.connections import Connections
from inference_probe.prober.engine_readings import Watching
from inference_probe.prober.lateness import measured
from inference_probe.prober.loading import START_AHEAD_SECONDS, header
from inference_probe.prober.result_files import Result
from inference_probe.prober.running import run_open
from inference_probe.prober.schedules import poisson

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from inference_probe.prober.asking import Asks, Question
    from inference_probe.prober.canary.policy import CanaryPolicy
    from inference_probe.prober.endpoints import Endpoint
    from inference_probe.prober.loading import Loading
    from inference_probe.prober.observations import Observation
    from inference_probe.prober.running import Ran

BASELINE, CANARY = "baseline", "canary"


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two versions. `loading` says where the old one is; rate: probes a second of each.

    read_metrics: how each version's /metrics are read, by version; tell: gets each decision, as soon as it is made.
    asks: what asks each version instead of sockets.
    """

    loading: Loading
    canary: Endpoint
    policy: CanaryPolicy
    rate: float
    read_metrics: Mapping[str, Callable[[], str | None]]
    tell: Callable[[int, Decision], Awaitable[None]]
    asks: Mapping[str, Asks] | None = None


class _ByVersion:
    """Ask each question of the version that it is for."""

    def __init__(self, askers: Mapping[str, Asks]) -> None:
        self._askers = askers

    async def ask(self, question: Question, *, started: float, intended: float) -> Observation:
        return await self._askers[question.version].ask(question, started=started, intended=intended)


async def compare(
    comparison: Comparison, *, stop: asyncio.Event | None = None
) -> tuple[Result, Sequence[Decision]]:
    """Go from step to step until the new version has all traffic, is to be rolled back, or cannot be measured.

    A step in which the prober was too late says nothing: it holds. `stop` ends it: the step that was under way is not
    decided, its probes are kept. Raises NotEvaluable where nothing was sent by then.
    """
    loading, policy = comparison.loading, comparison.policy
    places = {BASELINE: loading.endpoint, CANARY: comparison.canary}
    pools = {
        version: Connections(place, reuses=not loading.fresh_connections) for version, place in places.items()
    }
    askers = _ByVersion(comparison.asks or {version: Asker(pool) for version, pool in pools.items()})
    decisions: list[Decision] = []
    seen: list[Observation] = []
    stages = []
    try:
        if comparison.asks is None:
            asking = await calibrated(Asker(pools[BASELINE]), loading.endpoint, loading.asking)
            loading = replace(loading, asking=asking)
        started, begun = asyncio.get_running_loop().time(), loading.wall()
        share, holds, asked = policy.shares()[0], 0, 0
        while True:
            step = len(decisions)
            ran, decision, stage = await _step(
                comparison,
                loading,
                askers,
                places,
                step=step,
                first=asked,
                share=share,
                started=started,
                stop=stop,
            )
            # a number is used once, also in a step that was void: it is in ids and in prompts
            asked += len(ran.seen)
            seen += [] if stage["prober"]["void"] else ran.seen
            if ran.was_stopped:
                break
            decisions.append(decision)
            stages.append(stage)
            await comparison.tell(step, decision)
            holds = holds + 1 if decision.recommendation is Recommendation.HOLD else 0
            if (
                decision.recommendation in {Recommendation.ROLLBACK, Recommendation.FINISH}
                or holds > policy.most_holds
            ):
                break
            share = decision.next_percent
    finally:
        for pool in pools.values():
            pool.close()
    if not any(each.sent is not None for each in seen) and stop is not None and stop.is_set():
        raise NotEvaluable(
            "probe run", "it was ended before anything was measured", remedy="let it run longer"
        )
    schedule = {"kind": "canary", "rate": comparison.rate, "policy": policy.model_dump(mode="json")}
    said = header(loading, mode="canary", begun=begun, schedule=schedule, itself=None)
    urls = {version: place.url for version, place in places.items()}
    said |= {"was_stopped": stop is not None and stop.is_set()}
    return Result(header=said | {"endpoints": urls, "stages": stages}, seen=seen), decisions


async def _step(
    comparison: Comparison,
    loading: Loading,
    askers: Asks,
    places: Mapping[str, Endpoint],
    *,
    step: int,
    first: int,
    share: float,
    started: float,
    stop: asyncio.Event | None,
) -> tuple[Ran, Decision, dict[str, Any]]:
    policy, asking = comparison.policy, loading.asking
    arrivals = poisson(
        rate=comparison.rate, duration_seconds=policy.steps.every_seconds, seed=asking.seed + step
    )
    pairs = zip(
        *(
            asking.questions(place, arrivals, first=first, stage=step, version=version)
            for version, place in places.items()
        ),
        strict=True,
    )
    # who is asked first takes turns: the second one finds warmer caches
    questions = [each for at, pair in enumerate(pairs) for each in (pair if at % 2 else pair[::-1])]
    begin = asyncio.get_running_loop().time() - started + START_AHEAD_SECONDS
    moved = [replace(each, at_seconds=begin + each.at_seconds) for each in arrivals for _ in places]
    async with (
        Watching(comparison.read_metrics.get(BASELINE), policy.memory_metric) as old,
        Watching(comparison.read_metrics.get(CANARY), policy.memory_metric) as new,
    ):
        ran = await run_open(askers, moved, questions, started=started, stop=stop)
    itself = measured(ran.seen, ran.lags, bound_seconds=loading.bound_seconds)
    void = itself.void_reason()
    usable = [] if void else list(ran.seen)
    decision = decide(
        policy,
        share,
        *(
            side([each for each in usable if each.version == version], clock=policy.clock, memory_bytes=peak)
            for version, peak in ((BASELINE, old.peak), (CANARY, new.peak))
        ),
    )
    if void:
        decision = replace(
            decision,
            reasons=(void, *decision.reasons),
            reasons_zh=("探测程序自身延迟过大，本步作废", *decision.reasons_zh),
        )
    return ran, decision, {"number": step, **decision.tree(), "prober": itself.tree()}
