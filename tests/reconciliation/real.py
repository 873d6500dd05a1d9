"""A real vLLM asked by the real prober through a real nginx, everything collected into a store."""

from __future__ import annotations

import asyncio
import random
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from collectors.gateway.files import ingest_gateway_files
from fairclock.demo.live.gateway import running_gateway
from fairclock.demo.live.programs import free_port
from fairclock.store import Query
from fairclock.store.probes import keep_probes
from inference_probe.prober.endpoints import endpoint
from inference_probe.prober.keeping import probe_rows
from inference_probe.prober.loading import Loading, load
from inference_probe.prober.plans import Asking
from inference_probe.prober.schedules import Arrival
from tests.sidecar.running import eventually

if TYPE_CHECKING:
    from pathlib import Path

    from fairclock.model.probes import Probe
    from fairclock.store import Store

PROBES, AT_ONCE, APART_SECONDS = 300, 5, 0.4
_MOST_LATE_SECONDS = 60.0
_TOKENS = (10, 22)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What was sent, and when everything about it was stored."""

    probes: list[Probe]
    at: datetime


def arrivals():
    """Five at once, again and again: of five at least three have to wait for the two places."""
    chance = random.Random(9)
    return [
        Arrival(
            at_seconds=number // AT_ONCE * APART_SECONDS,
            prompt_tokens=chance.randint(8, 60),
            completion_tokens=chance.randint(*_TOKENS),
        )
        for number in range(PROBES)
    ]


def ask(store: Store, folder: Path, engine_url: str) -> Asked:
    """Ask everything of the engine behind nginx, and wait until gateway, spans and plugin have said all they will.

    The engine's spans and records are received into `store`.
    """
    with running_gateway(
        directory=folder / "gateway", port=free_port(), engine_url=engine_url, tenants={}
    ) as gateway:
        asking = Asking(run="reconciled", model="tiny", tenant="probes", api="completions")
        loading = Loading(
            endpoint=endpoint(gateway.url),
            asking=asking,
            bound_seconds=_MOST_LATE_SECONDS,
            wall=time.time,
        )
        result = asyncio.run(load(loading, arrivals(), {"kind": "bursts"}))
        probes = list(probe_rows(result, tenant="", prober="test"))
        eventually(lambda: _stored(store, probes) == 2 * len(probes), what=lambda: "rows are missing")
    # nginx has ended, so that its log is whole
    ingest_gateway_files(store, [str(gateway.log)], source="access.log", covers=None, progress=None)
    keep_probes(store, probes)
    return Asked(probes=probes, at=datetime.now(UTC))


def _stored(store: Store, probes: list[Probe]) -> int:
    """How many rows spans and plugin have of the probes."""
    query = Query(
        sql="SELECT count() FROM engine_requests FINAL WHERE join_id IN {ids:Array(String)}",
        parameters={"ids": [each.id for each in probes]},
    )
    return int(store.rows(query)[0][0])
