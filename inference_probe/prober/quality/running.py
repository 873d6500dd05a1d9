"""Own a quality run: the fixed questions in an open loop, slowly enough that load is not what is judged."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from inference_probe.prober.asking import Asker
from inference_probe.prober.connections import Connections
from inference_probe.prober.latencies import figures
from inference_probe.prober.loading import START_AHEAD_SECONDS, header, own_measure
from inference_probe.prober.quality.asking_fixed import fixed
from inference_probe.prober.result_files import Result
from inference_probe.prober.running import run_open
from inference_probe.prober.schedules import Arrival

if TYPE_CHECKING:
    from inference_probe.prober.loading import Loading


async def ask_fixed(
    loading: Loading, *, rounds: int, rate: float, stop: asyncio.Event | None = None
) -> Result:
    """Ask every fixed question `rounds` times, `rate` a second; `stop` ends it. Raises NotEvaluable where the run is void."""
    connections = Connections(loading.endpoint, reuses=not loading.fresh_connections)
    asker = loading.asks or Asker(connections)
    try:
        questions = list(fixed(loading.asking, loading.endpoint, rounds=rounds))
        arrivals = [Arrival(at_seconds=number / rate) for number in range(len(questions))]
        started = asyncio.get_running_loop().time() + START_AHEAD_SECONDS
        begun = loading.wall() + START_AHEAD_SECONDS
        ran = await run_open(asker, arrivals, questions, started=started, stop=stop)
    finally:
        connections.close()
    itself = own_measure(ran, loading.bound_seconds)
    schedule = {"kind": "fixed questions", "rounds": rounds, "rate": rate}
    said = header(loading, mode="quality", begun=begun, schedule=schedule, itself=itself)
    return Result(header=said | {"was_stopped": ran.was_stopped, "figures": figures(ran.seen)}, seen=ran.seen)
