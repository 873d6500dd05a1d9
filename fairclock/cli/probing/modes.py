"""Own the modes of ``fairclock probe run``: each makes its plan, runs it, and hands the result on."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from fairclock.cli.probing.canarying import run_canary
from fairclock.cli.probing.keeping import cut_short, handed_on, keep
from fairclock.cli.probing.request import RunRequest, loading, probe_tenant, settings, speaks_for
from fairclock.cli.probing.stopping import stopped_by_signals
from fairclock.errors import FairclockError, NotEvaluable, UsageError
from fairclock.store import open_store
from fairclock.store.probes import was_answered
from inference_probe.prober.limits import allow_many_files
from inference_probe.prober.result_files import check_writable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairclock.model import Interval
    from fairclock.store import Store
    from fairclock.store.sampled_arrivals import SampledArrival
    from inference_probe.prober.loading import Loading
    from inference_probe.prober.result_files import Result
    from inference_probe.prober.schedules import Arrival
    from inference_probe.prober.sweeping.stages import Kind

_LEAST_PERIODS_BACK = 2
_OUTAGES = frozenset({"run", "shadow"})
_WHOLE = frozenset({"sweep", "quality"})
"""Modes whose results are read as a whole: one that was cut short is none, however much of it was measured."""


def run_mode(request: RunRequest) -> int:
    """Run one mode, keep and print its result, and return the exit code."""
    found = settings(request)
    tenant = probe_tenant(found, request["tenant"])
    prepared = loading(request, tenant)
    for path in (request["output"], request["chart"]):
        if path is not None:
            check_writable(path)
    allow_many_files()
    opened = nullcontext(None) if request.dsn is None else open_store(request.dsn)
    with opened as store:
        if request.mode == "canary":
            return run_canary(request, prepared, store, tenant)
        # a service that is down is a result of a run; an address at which nobody ever answered is a mistake
        is_known = store is None or was_answered(store, prepared.endpoint.url)
        prepared = replace(prepared, answered_before=is_known and request.mode in _OUTAGES)
        if request.mode == "shadow":
            result, unkept = asyncio.run(
                _shadow(request, prepared, store, tenant, found.billing.gpu_time.probe_tenants)
            )
            handed_on(request, result, None, tenant, *unkept)
        else:
            result = asyncio.run(_MODES[request.mode](request, prepared))
            handed_on(request, result, store, tenant)
    if result.header.get("was_stopped") and request.mode in _WHOLE:
        raise cut_short(request)
    return 0


async def _run(request: RunRequest, prepared: Loading) -> Result:
    from inference_probe.prober.loading import load  # noqa: PLC0415

    arrivals, schedule = _arrivals(request, seed=prepared.asking.seed)
    with stopped_by_signals() as stop:
        return await load(prepared, arrivals, schedule, stop=stop)


def _arrivals(request: RunRequest, *, seed: int) -> tuple[Sequence[Arrival], dict[str, Any]]:
    from inference_probe.prober.schedules import constant, poisson, replay  # noqa: PLC0415

    duration = request["duration_seconds"]
    if request["trace"] is not None:
        trace = {"kind": "replay", "trace": request["trace"].name, "speed": request["speed"]}
        return replay(request["trace"], speed=request["speed"], duration_seconds=duration), trace
    schedule = {"kind": request["arrivals"], "rate": request["rate"], "duration_seconds": duration or 60.0}
    if request["arrivals"] == "constant":
        return constant(rate=request["rate"], duration_seconds=schedule["duration_seconds"]), schedule
    return poisson(rate=request["rate"], duration_seconds=schedule["duration_seconds"], seed=seed), schedule


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
    with stopped_by_signals() as stop:
        return await sweep(prepared, plan, stop=stop)


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

    with stopped_by_signals() as stop:
        return await ask_fixed(prepared, rounds=request["rounds"], rate=request["rate"], stop=stop)


async def _shadow(
    request: RunRequest, prepared: Loading, store: Store | None, tenant: str, without: Sequence[str]
) -> tuple[Result, Sequence[FairclockError]]:
    """Return what all periods came to, and what went wrong meanwhile: what was measured is not lost by it."""
    from fairclock.store.sampled_arrivals import sampled_arrivals  # noqa: PLC0415
    from inference_probe.prober.shadowing import Shadow, all_periods, shadow  # noqa: PLC0415

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
    failed: list[FairclockError] = []
    void = 0
    with stopped_by_signals() as stop:
        try:
            async for each in shadow(prepared, plan, stop=stop):
                if isinstance(each, NotEvaluable):
                    click.echo(str(each), err=True)
                    void += 1
                    continue
                told.append(each)
                try:  # the loop goes on asking meanwhile
                    await asyncio.to_thread(keep, store, each, tenant=speaks_for(request, tenant))
                except FairclockError as error:
                    failed.append(error)
        except FairclockError as error:  # such as a store that cannot be read
            if not told:
                raise
            failed.append(error)
    return all_periods(told, void=void, was_stopped=stop.is_set()), failed


_MODES = {"run": _run, "sweep": _sweep, "quality": _quality}
