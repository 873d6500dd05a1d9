"""Own the canary of ``fairclock probe run``: what is refused before it begins, who is told of a decision, how it ends."""

from __future__ import annotations

import asyncio
import os
import secrets
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

import click

from fairclock.cli.probing.keeping import cut_short, handed_on
from fairclock.cli.probing.request import RunRequest, api_key, settings
from fairclock.cli.probing.stopping import stopped_by_signals
from fairclock.errors import FairclockError, NotEvaluable, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exporters.webhooks.destination import Destination
    from exporters.webhooks.event import AlertEvent
    from fairclock.store import Store
    from inference_probe.prober.canary.deciding import Decision
    from inference_probe.prober.canary.policy import CanaryPolicy
    from inference_probe.prober.loading import Loading
    from inference_probe.prober.result_files import Result

_VIOLATED = 1


def run_canary(request: RunRequest, prepared: Loading, store: Store | None, tenant: str) -> int:
    """Hold two versions against each other, hand the result on, and return the exit code."""
    from exporters.webhooks.destination import destinations  # noqa: PLC0415
    from inference_probe.prober.canary.comparing import BASELINE, CANARY, Comparison, compare  # noqa: PLC0415
    from inference_probe.prober.canary.deciding import Recommendation  # noqa: PLC0415
    from inference_probe.prober.canary.policy import load_policy  # noqa: PLC0415
    from inference_probe.prober.canary.telling import (  # noqa: PLC0415
        decision_event,
        decision_line,
        ended_event,
    )
    from inference_probe.prober.endpoints import endpoint  # noqa: PLC0415
    from inference_probe.prober.engine_readings import read_metrics  # noqa: PLC0415

    if request["canary"] is None:
        raise UsageError("--canary", "the new version has no address", remedy="name it by --canary URL")
    run = prepared.asking.run
    urls = {BASELINE: request["metrics_url"], CANARY: request["canary_metrics_url"]}
    policy = load_policy(request["policy"])
    _check_decidable(request, policy)
    places = (
        [] if store is None else destinations(settings(request).webhooks, environment=os.environ, now=_now)
    )

    async def tell(step: int, decision: Decision) -> None:
        click.echo(decision_line(decision), err=True)
        if store is not None:
            event = decision_event(decision, run=run, step=step, now=_now())
            await asyncio.to_thread(_send, places, store, event)

    async def compared() -> tuple[Result, Sequence[Decision]]:
        with stopped_by_signals() as stop:
            return await compare(comparison, stop=stop)

    comparison = Comparison(
        loading=prepared,
        canary=endpoint(request["canary"], api_key=api_key(request["key_env"]), ca=request["ca"]),
        policy=policy,
        rate=request["rate"],
        read_metrics={version: partial(read_metrics, url) for version, url in urls.items() if url},
        tell=tell,
    )
    result, decisions = asyncio.run(compared())
    was_stopped = bool(result.header["was_stopped"])
    if was_stopped and store is not None and decisions:
        _send(places, store, ended_event(decisions[-1], run=run, steps=len(decisions), now=_now()))
    handed_on(request, result, store, tenant)
    if was_stopped:
        raise cut_short(request)
    last = decisions[-1].recommendation
    if last is Recommendation.HOLD:
        raise NotEvaluable(
            "probe run",
            "the versions could not be compared",
            found="; ".join(decisions[-1].reasons),
            remedy="send more probes (--rate), or say where /metrics are",
        )
    return _VIOLATED if last is Recommendation.ROLLBACK else 0


def _check_decidable(request: RunRequest, policy: CanaryPolicy) -> None:
    """Refuse what could only ever hold: it is known before the first step, not after hours of them."""
    looks_at = policy.thresholds.memory_ratio is not None
    for option in ("metrics_url", "canary_metrics_url"):
        if looks_at and not request[option]:
            raise UsageError(
                "--" + option.replace("_", "-"),
                "the policy compares memory, and nobody says where it is told",
                remedy="name the engine's /metrics, or write thresholds: {memory_ratio: null} in the policy",
            )
    due = request["rate"] * policy.steps.every_seconds
    if due < policy.least_probes:
        raise UsageError(
            "--rate",
            "a step has fewer probes than the policy asks for",
            found=f"about {due:g} in {policy.steps.every_seconds:g} s, least_probes is {policy.least_probes}",
            remedy="raise --rate, let steps be longer, or lower least_probes",
        )


def _now() -> datetime:
    return datetime.now(UTC)


def _send(places: Sequence[Destination], store: Store, event: AlertEvent) -> None:
    """Tell of a comparison; that it could not be told does not end the comparison."""
    from exporters.webhooks.store_outbox import StoreOutbox  # noqa: PLC0415
    from inference_probe.prober.canary.telling import send_decision  # noqa: PLC0415

    try:
        problems = send_decision(
            event, places, StoreOutbox(store), now=_now, new_id=lambda: secrets.token_hex(16)
        )
    except FairclockError as error:
        problems = [str(error)]
    for problem in problems:
        click.echo(f"not told: {problem}", err=True)
