"""Own a run of one schedule against one endpoint: calibrated, run, and made a result, or void."""

from __future__ import annotations

import asyncio
import platform
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairclock import __version__
from fairclock.errors import NotEvaluable
from inference_probe.prober.asking import Asker
from inference_probe.prober.calibrating import calibrated
from inference_probe.prober.connections import Connections
from inference_probe.prober.latencies import figures
from inference_probe.prober.lateness import SelfMeasure, measured
from inference_probe.prober.result_files import Result
from inference_probe.prober.running import run_open

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from inference_probe.prober.asking import Asks
    from inference_probe.prober.endpoints import Endpoint
    from inference_probe.prober.plans import Asking
    from inference_probe.prober.running import Ran
    from inference_probe.prober.schedules import Arrival

START_AHEAD_SECONDS = 0.1
"""How far ahead the first instant lies, so that the loop is idle by then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loading:
    """A run: where, how, when. `bound_seconds`: how late the prober may be at P99; `wall`: seconds since 1970.

    asks: what asks instead of sockets. answered_before: whether the endpoint is known to take probes; where it fails from the first one
    on, that is a result.
    """

    endpoint: Endpoint
    asking: Asking
    bound_seconds: float
    wall: Callable[[], float]
    fresh_connections: bool = False
    asks: Asks | None = None
    answered_before: bool = False


async def load(
    loading: Loading,
    arrivals: Sequence[Arrival],
    schedule: Mapping[str, Any],
    *,
    mode: str = "run",
    stop: asyncio.Event | None = None,
) -> Result:
    """Run `arrivals` and return what was seen; raises NotEvaluable where the prober itself was too late, or nothing was sent."""
    connections = Connections(loading.endpoint, reuses=not loading.fresh_connections)
    asker = loading.asks or Asker(connections)
    try:
        asking = await calibrated(
            asker, loading.endpoint, loading.asking, answered_before=loading.answered_before
        )
        questions = list(asking.questions(loading.endpoint, arrivals))
        started = asyncio.get_running_loop().time() + START_AHEAD_SECONDS
        begun = loading.wall() + START_AHEAD_SECONDS
        ran = await run_open(asker, arrivals, questions, started=started, stop=stop)
    finally:
        connections.close()
    itself = own_measure(ran, loading.bound_seconds)
    return Result(
        header=header(loading, mode=mode, begun=begun, schedule=schedule, itself=itself)
        | {"was_stopped": ran.was_stopped, "figures": figures(ran.seen)},
        seen=ran.seen,
    )


def own_measure(ran: Ran, bound_seconds: float) -> SelfMeasure:
    """Return the prober's measure of itself; raises NotEvaluable where that voids the run."""
    itself = measured(ran.seen, ran.lags, bound_seconds=bound_seconds)
    if reason := itself.void_reason():
        raise NotEvaluable(
            "probe run",
            "the run is void, nothing of it is kept",
            found=reason,
            remedy="give the prober a core of its own, lower the rate, or raise --most-late-ms",
        )
    if not itself.lateness.n:
        raise NotEvaluable("probe run", "no probe was sent", remedy="let it run longer")
    return itself


def header(
    loading: Loading, *, mode: str, begun: float, schedule: Mapping[str, Any], itself: SelfMeasure | None
) -> dict[str, Any]:
    """Return what is said of a run: all that is needed to read it, and to do it again."""
    asking = loading.asking
    return {
        "run": asking.run,
        "mode": mode,
        "started_at": round(begun, 6),
        "endpoint": loading.endpoint.url,
        "endpoints": {},
        "address": loading.endpoint.address,
        "model": asking.model,
        "api": asking.api,
        "stream": asking.streams,
        "tenant": asking.tenant,
        "schedule": dict(schedule),
        "seed": asking.seed,
        "prompt_tokens": asking.prompt_tokens,
        "completion_tokens": asking.completion_tokens,
        "timeout_seconds": asking.timeout_seconds,
        "cancel_ratio": asking.cancel_ratio,
        "cancel_seconds": asking.cancel_seconds,
        "fresh_connections": loading.fresh_connections,
        "inference_mode": asking.inference_mode,
        "versions": {"fairclock": __version__, "python": platform.python_version()},
        "prober": None if itself is None else itself.tree(),
    }
