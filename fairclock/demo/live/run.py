"""Own the course of the live demonstration, from an empty folder to a report and a comparison."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from collectors.gateway.files import ingest_gateway_files
from collectors.otlp.committing import FORMAT
from collectors.otlp.engine_states import STATE_FORMAT, state_batches
from collectors.otlp.receiver import OtlpReceiver
from exporters.clickhouse import DirectDelivery, lines_of
from fairclock.demo.live.calls import ACME_KEY, BURST_CALLS, BURSTY_KEY, GLOBEX_KEY, plan_calls
from fairclock.demo.live.clients import make_calls
from fairclock.demo.live.comparison import Comparison, Row, compare, read_rows, rows_query
from fairclock.demo.live.contract import report_traffic
from fairclock.demo.live.engine import make_model, running_engine
from fairclock.demo.live.gateway import METERED_TENANT, running_gateway
from fairclock.demo.live.programs import ended_in_order, find_nginx, find_vllm_python, free_port
from fairclock.demo.workspace import prepare_workspace
from fairclock.errors import UsageError
from fairclock.model import Interval
from fairclock.store import open_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from datetime import datetime
    from pathlib import Path

    from fairclock.demo.live.clients import Observation
    from fairclock.demo.live.engine import Engine
    from fairclock.demo.workspace import Workspace
    from fairclock.store import Store

FEWEST_REQUESTS = 2 * BURST_CALLS + 4
_TENANTS = {ACME_KEY: "acme", GLOBEX_KEY: "globex", BURSTY_KEY: METERED_TENANT}
_SOURCE = "live"
_SPANS_SECONDS = 60.0
_POLL_SECONDS = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveResult:
    """What the live demonstration found and wrote."""

    directory: Path
    comparison: Comparison
    reports: tuple[Path, ...]
    seen: tuple[Observation, ...]
    store: Path
    totals: Mapping[str, float]
    """What vLLM's own counters say of the traffic, by name."""

    @property
    def agrees(self) -> bool:
        """Return whether Fairclock, the clients and vLLM tell the same story."""
        return not self.comparison.disagreements


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherEngine:
    """A vLLM with two places that runs already, measured in place of one of the demonstration's own.

    grpc, http: the addresses that it sends its spans and the plugin's records to: the demonstration listens there.
    stop: ends it; the demonstration hears its last words.
    """

    engine: Engine
    grpc: str
    http: str
    stop: Callable[[], None]


def _silent(step: str) -> None:
    del step


def run_live(
    *,
    out: Path,
    requests: int,
    now: datetime,
    vllm_python: Path | None = None,
    plugin: Path | None = None,
    other: OtherEngine | None = None,
    tell: Callable[[str], None] = _silent,
) -> LiveResult:
    """Send `requests` real requests through nginx to vLLM, measure them, and compare with the clients' watches.

    Everything is written under `out`, where an earlier demonstration is replaced. `now` is the present
    instant; `tell` hears what is being done. `plugin` is a folder in which Fairclock's plugin for vLLM is installed:
    then vLLM loads it, and says its own times in its answers too. `other` is a vLLM to measure instead of one that is
    started here. Raises `FairclockError` where nginx, vLLM or its environment is missing or does not start.
    """
    if requests < FEWEST_REQUESTS:
        raise UsageError("--requests", f"a live run needs at least {FEWEST_REQUESTS}", found=str(requests))
    find_nginx()
    python = find_vllm_python(vllm_python)
    workspace = prepare_workspace(out)
    window = Interval(start=now - timedelta(minutes=1), end=now + timedelta(hours=6))
    with ended_in_order(), open_store(f"chdb://{workspace.store}") as store:
        deliver = DirectDelivery(store, adapters={FORMAT: lines_of, STATE_FORMAT: state_batches})
        running = (
            _running_engine(deliver, workspace, python, plugin, tell)
            if other is None
            else _heard(deliver, other)
        )
        with running as engine:
            before, totals_before = engine.queue_counter(), engine.totals()
            with running_gateway(
                directory=workspace.raw / "gateway",
                port=free_port(),
                engine_url=engine.url,
                tenants=_TENANTS,
            ) as gateway:
                tell(f"Sending {requests} requests through nginx")
                seen = asyncio.run(make_calls(gateway.url, plan_calls(requests)))
            counter = engine.queue_counter().since(before)
            tell("Reading nginx's log and waiting for vLLM's last spans")
            ingest_gateway_files(store, [str(gateway.log)], source=_SOURCE, covers=None, progress=None)
            _await_spans(store, window, finished=counter.finished)
            totals = {name: total - totals_before.get(name, 0.0) for name, total in engine.totals().items()}
        store.seal()
        as_of = store.watermark()
        rows = _rows(store, window, as_of)
        tell("Writing the report")
        reports = report_traffic(
            store, workspace=workspace, received=[row.received_at for row in rows], as_of=as_of
        )
    return LiveResult(
        directory=workspace.root, comparison=compare(seen, rows, counter), reports=reports, seen=tuple(seen),
        store=workspace.store, totals=totals,
    )  # fmt: skip


@contextlib.contextmanager
def _heard(deliver: DirectDelivery, other: OtherEngine) -> Iterator[Engine]:
    """Receive what an engine of somebody else's says, and let it end when the block is left."""
    with OtlpReceiver(deliver, other.grpc, other.http, source=_SOURCE):
        try:
            yield other.engine
        finally:
            other.stop()


@contextlib.contextmanager
def _running_engine(
    deliver: DirectDelivery,
    workspace: Workspace,
    python: Path,
    plugin: Path | None,
    tell: Callable[[str], None],
) -> Iterator[Engine]:
    """Run vLLM with a new model and a receiver for its spans, which hears the last ones it sends when it ends."""
    directory = workspace.raw / "engine"
    tell("Making a model of random weights")
    make_model(python=python, directory=directory / "model", output=directory / "model.log")
    with OtlpReceiver(deliver, "127.0.0.1:0", "127.0.0.1:0", source=_SOURCE) as receiver:
        tell("Starting vLLM (about a minute)")
        with running_engine(
            python=python,
            model=directory / "model",
            directory=directory,
            port=free_port(),
            otlp_endpoint=f"http://{receiver.grpc_address}",
            options=() if plugin is None else ("--enable-per-request-metrics",),
            environment={} if plugin is None else _plugin_environment(plugin, receiver),
        ) as engine:
            yield engine


def _plugin_environment(plugin: Path, receiver: OtlpReceiver) -> dict[str, str]:
    folders = [str(plugin), os.environ.get("PYTHONPATH", "")]
    return {
        "PYTHONPATH": os.pathsep.join(filter(None, folders)),
        "FAIRCLOCK_OTLP_ENDPOINT": f"http://{receiver.http_address}",
        "FAIRCLOCK_FLUSH_SECONDS": "0.2",
        "FAIRCLOCK_STATE_SECONDS": "0.2",  # a short run would show little of its engine's state otherwise
    }


def _rows(store: Store, window: Interval, as_of: datetime) -> list[Row]:
    return read_rows(store.rows(rows_query(store.requests_as_of(window, as_of))))


def _await_spans(store: Store, window: Interval, *, finished: int) -> None:
    """Wait until as many requests are joined as vLLM finished, which it reports late; or until the deadline.

    What is missing then is for the comparison to say.
    """
    deadline = time.monotonic() + _SPANS_SECONDS
    while time.monotonic() < deadline:
        rows = _rows(store, window, store.watermark())
        if sum(row.engine != "none" for row in rows) >= finished:
            return
        time.sleep(_POLL_SECONDS)
