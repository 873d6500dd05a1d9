"""Real vLLM with the plugin behind a real nginx, asked by the real prober, everything collected into a store."""

from __future__ import annotations

import asyncio
import contextlib
import random
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from collectors.gateway.files import ingest_gateway_files
from collectors.otlp.committing import FORMAT
from collectors.otlp.engine_states import STATE_FORMAT, state_batches
from collectors.otlp.receiver import OtlpReceiver
from exporters.clickhouse import DirectDelivery, lines_of
from fairclock.demo.live.gateway import running_gateway
from fairclock.demo.live.programs import Program, find_vllm_python, free_port, running
from fairclock.store import Query
from fairclock.store.probes import keep_probes
from inference_probe.prober.endpoints import endpoint
from inference_probe.prober.keeping import probe_rows
from inference_probe.prober.loading import Loading, load
from inference_probe.prober.plans import Asking
from inference_probe.prober.schedules import Arrival
from tests.sidecar.running import ROOT, environment, eventually

if TYPE_CHECKING:
    from pathlib import Path

    from fairclock.model.probes import Probe
    from fairclock.store import Store

PROBES, AT_ONCE, APART_SECONDS = 300, 5, 0.4
_MOST_LATE_SECONDS = 5.0
_TOKENS = (6, 14)
_READY_SECONDS = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What was sent, and by when everything about it was stored."""

    probes: list[Probe]
    log: Path


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


def ask(store: Store, folder: Path, plugin: Path) -> Asked:
    """Ask everything and wait until gateway, spans and plugin have said all they will."""
    deliver = DirectDelivery(store, adapters={FORMAT: lines_of, STATE_FORMAT: state_batches})
    with OtlpReceiver(deliver, "127.0.0.1:0", "127.0.0.1:0", source="otlp") as receiver:
        with contextlib.ExitStack() as open_:
            url = open_.enter_context(_serving(folder, plugin, receiver))
            gateway = open_.enter_context(
                running_gateway(directory=folder / "gateway", port=free_port(), engine_url=url, tenants={})
            )
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
    return Asked(probes=probes, log=gateway.log)


@contextlib.contextmanager
def _serving(folder: Path, plugin: Path, receiver: OtlpReceiver):
    port = free_port()
    engine = ["--max-num-seqs", "2", "--max-model-len", "1024"]
    engine += ["--otlp-traces-endpoint", f"http://{receiver.grpc_address}"]
    program = Program(
        name="the probe service",
        arguments=[
            sys.executable, "-m", "fairclock", "probe", "serve", "--port", str(port), "--", *engine,
        ],
        output=folder / "service.log",
        environment=environment(
            PYTHONPATH=f"{ROOT}:{plugin}",
            XDG_DATA_HOME=str(folder),
            FAIRCLOCK_VLLM_PYTHON=str(find_vllm_python()),
            FAIRCLOCK_OTLP_ENDPOINT=f"http://{receiver.http_address}",
            FAIRCLOCK_FLUSH_SECONDS="0.2",
            OTEL_EXPORTER_OTLP_TRACES_PROTOCOL="grpc",
            OTEL_BSP_SCHEDULE_DELAY="500",
        ),
    )  # fmt: skip
    with running(program) as service:
        service.await_answer(f"http://127.0.0.1:{port}/readyz", within_seconds=_READY_SECONDS)
        yield f"http://127.0.0.1:{port}"


def _stored(store: Store, probes: list[Probe]) -> int:
    """How many rows spans and plugin have of the probes."""
    query = Query(
        sql="SELECT count() FROM engine_requests FINAL WHERE join_id IN {ids:Array(String)}",
        parameters={"ids": [each.id for each in probes]},
    )
    return int(store.rows(query)[0][0])
