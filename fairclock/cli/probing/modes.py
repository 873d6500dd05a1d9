"""Own the modes of ``fairclock probe run``: each makes its plan, runs it, and hands the result on."""

from __future__ import annotations

import asyncio
import os
import secrets
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from fairclock.cli.probing.keeping import keep, show_result
from fairclock.cli.probing.request import RunRequest, api_key, loading, probe_tenant, settings, speaks_for
from fairclock.cli.probing.stopping import stopped_by_signals
from fairclock.errors import NotEvaluable, UsageError
from fairclock.store import open_store
from inference_probe.prober.limits import allow_many_files
from inference_probe.prober.result_files import Result, write_result

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairclock.model import Interval
    from fairclock.store import Store
    from fairclock.store.sampled_arrivals import SampledArrival
    from inference_probe.prober.canary.deciding import Decision
    from inference_probe.prober.loading import Loading
    from inference_probe.prober.schedules import Arrival
    from inference_probe.prober.sweeping.stages import Kind

_LEAST_PERIODS_BACK = 2
_VIOLATED = 1


def run_mode(request: RunRequest) -> int:
    """Run one mode, keep and print its result, and return the exit code."""
    found = settings(request)
    tenant = probe_tenant(found, request["tenant"])
    prepared = loading(request, tenant)
    allow_many_files()
    opened = nullcontext(None) if request.dsn is None else open_store(request.dsn)
    with opened as store:
        if request.mode == "canary":
            return _canary(request, prepared, store, tenant)
        if request.mode == "shadow":
            result = asyncio.run(
                _shadow(request, prepared, store, tenant, found.billing.gpu_time.probe_tenants)
            )
        else:
            result = asyncio.run(_MODES[request.mode](request, prepared))
            if store is not None:
                keep(store, result, tenant=speaks_for(request, tenant))
    _written(request, result)
    show_result(result, as_json=request["as_json"], chart=request["chart"])
    return 0


def _written(request: RunRequest, result: Result) -> None:
    if request["output"] is not None:
        write_result(request["output"], result)
        if not request.quiet:
            click.echo(f"written: {request['output']}", err=True)


async def _run(request: RunRequest, prepared: Loading) -> Result:
    from inference_probe.prober.loading import load  # noqa: PLC0415

    arrivals, schedule = _arrivals(request)
    with stopped_by_signals() as stop:
        return await load(prepared, arrivals, schedule, stop=stop)


def _arrivals(request: RunRequest) -> tuple[Sequence[Arrival], dict[str, Any]]:
    from inference_probe.prober.schedules import constant, poisson, replay  # noqa: PLC0415

    duration = request["duration_seconds"]
    if request["trace"] is not None:
        trace = {"kind": "replay", "trace": request["trace"].name, "speed": request["speed"]}
        return replay(request["trace"], speed=request["speed"], duration_seconds=duration), trace
    schedule = {"kind": request["arrivals"], "rate": request["rate"], "duration_seconds": duration or 60.0}
    if request["arrivals"] == "constant":
        return constant(rate=request["rate"], duration_seconds=schedule["duration_seconds"]), schedule
    return poisson(
        rate=request["rate"], duration_seconds=schedule["duration_seconds"], seed=request["seed"]
    ), schedule


async def _sweep(request: RunRequest, prepared: Loading) -> Result:
    from inference_probe.prober.engine_readings import read_metrics  # noqa: PLC0415
    from inference_probe.prober.sweeping.objectives import parse_objective  # noqa: PLC0415
    from inference_probe.prober.sweeping.stages import Sweep, sweep  # noqa: PLC0415

    if bool(request["rates"]) == bool(request["concurrency"]):
        raise UsageError("--rates", "a sweep needs rates or concurrencies", remedy="write --rates 1,2,4,8")
    kind: Kind = "rate" if request["rates"] else "concurrency"
    metrics = request["metrics_url"]
    plan = Sweep(
        kind=kind,
        loads=_numbers(request["rates"] or request["concurrency"], whole=kind == "concurrency"),
        stage_seconds=request["duration_seconds"] or 30.0,
        objectives=[parse_objective(each).text for each in request["objectives"]],
        is_poisson=request["arrivals"] == "poisson",
        read_metrics=partial(read_metrics, metrics) if metrics else None,
    )
    return await sweep(prepared, plan)


def _numbers(text: str, *, whole: bool) -> list[float]:
    try:
        found = [float(int(each)) if whole else float(each) for each in text.split(",")]
    except ValueError:
        found = []
    if not found or not all(0 < each < float("inf") for each in found) or found != sorted(set(found)):
        raise UsageError(
            "--concurrency" if whole else "--rates",
            "not numbers in rising order",
            found=text,
            remedy="write 1,2,4,8",
        )
    return found


async def _quality(request: RunRequest, prepared: Loading) -> Result:
    from inference_probe.prober.quality.running import ask_fixed  # noqa: PLC0415

    return await ask_fixed(prepared, rounds=request["rounds"], rate=request["rate"])


async def _shadow(
    request: RunRequest, prepared: Loading, store: Store | None, tenant: str, without: Sequence[str]
) -> Result:
    from fairclock.store.sampled_arrivals import sampled_arrivals  # noqa: PLC0415
    from inference_probe.prober.shadowing import Shadow, shadow  # noqa: PLC0415

    if store is None:
        raise UsageError("--no-store", "a shadow follows what is in the store", remedy="leave --no-store out")
    period = timedelta(seconds=min(60.0, request["delay_seconds"] / (_LEAST_PERIODS_BACK + 1)))

    def read(window: Interval) -> Sequence[SampledArrival]:
        return sampled_arrivals(
            store, window, as_of=store.watermark(), share=request["share"], without=without
        )

    plan = Shadow(
        read=read,
        share=request["share"],
        begin=datetime.now(UTC) - timedelta(seconds=request["delay_seconds"]),
        period=period,
        periods=max(1, round((request["duration_seconds"] or 3600.0) / period.total_seconds())),
    )
    told: list[Result] = []
    with stopped_by_signals() as stop:
        async for each in shadow(prepared, plan, stop=stop):
            if isinstance(each, NotEvaluable):
                click.echo(str(each), err=True)
                continue
            # the loop goes on asking meanwhile
            await asyncio.to_thread(keep, store, each, tenant=speaks_for(request, tenant))
            told.append(each)
    if not told:
        raise NotEvaluable("probe run", "no period says anything", remedy="see the lines above")
    worst = max(told, key=lambda each: float(each.header["prober"]["lateness"]["p99"]))
    header = dict(worst.header)  # its measure of itself is the worst of all periods'
    header["schedule"] = {
        **header["schedule"],
        "from": told[0].header["schedule"]["from"],
        "to": told[-1].header["schedule"]["to"],
        **{
            name: sum(each.header["schedule"][name] for each in told)
            for name in ("arrivals", "without_a_length")
        },
    }
    return Result(header=header, seen=[probe for each in told for probe in each.seen])


def _canary(request: RunRequest, prepared: Loading, store: Store | None, tenant: str) -> int:
    from inference_probe.prober.canary.comparing import BASELINE, CANARY, Comparison, compare  # noqa: PLC0415
    from inference_probe.prober.canary.deciding import Recommendation  # noqa: PLC0415
    from inference_probe.prober.canary.policy import load_policy  # noqa: PLC0415
    from inference_probe.prober.canary.telling import decision_line  # noqa: PLC0415
    from inference_probe.prober.endpoints import endpoint  # noqa: PLC0415
    from inference_probe.prober.engine_readings import read_metrics  # noqa: PLC0415

    if request["canary"] is None:
        raise UsageError("--canary", "the new version has no address", remedy="name it by --canary URL")
    urls = {BASELINE: request["metrics_url"], CANARY: request["canary_metrics_url"]}

    async def tell(step: int, decision: Decision) -> None:
        click.echo(decision_line(decision), err=True)
        if store is not None:
            await asyncio.to_thread(_send, request, store, prepared.asking.run, step, decision)

    comparison = Comparison(
        loading=prepared,
        canary=endpoint(request["canary"], api_key=api_key(request["key_env"]), ca=request["ca"]),
        policy=load_policy(request["policy"]),
        rate=request["rate"],
        read_metrics={version: partial(read_metrics, url) for version, url in urls.items() if url},
        tell=tell,
    )
    result, decisions = asyncio.run(compare(comparison))
    if store is not None:
        keep(store, result, tenant=speaks_for(request, tenant))
    _written(request, result)
    show_result(result, as_json=request["as_json"])
    last = decisions[-1].recommendation
    if last is Recommendation.HOLD:
        raise NotEvaluable(
            "probe run",
            "the versions could not be compared",
            found="; ".join(decisions[-1].reasons),
            remedy="send more probes (--rate), or say where /metrics are",
        )
    return _VIOLATED if last is Recommendation.ROLLBACK else 0


def _send(request: RunRequest, store: Store, run: str, step: int, decision: Decision) -> None:
    from exporters.webhooks.destination import destinations  # noqa: PLC0415
    from exporters.webhooks.store_outbox import StoreOutbox  # noqa: PLC0415
    from inference_probe.prober.canary.telling import decision_event, send_decision  # noqa: PLC0415

    def now() -> datetime:
        return datetime.now(UTC)

    places = destinations(settings(request).webhooks, environment=os.environ, now=now)
    event = decision_event(decision, run=run, step=step, now=now())
    for problem in send_decision(
        event, places, StoreOutbox(store), now=now, new_id=lambda: secrets.token_hex(16)
    ):
        click.echo(f"not told: {problem}", err=True)


_MODES = {"run": _run, "sweep": _sweep, "quality": _quality}
