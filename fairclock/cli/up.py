"""Own ``fairclock up``: everything in one process."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any

import click

from fairclock.cli.options import common_options, store_dsn
from fairclock.cli.pipeline.collecting import receives_syslog, scrapes
from fairclock.cli.pipeline.running import running
from fairclock.cli.serving import announce, collecting_options, settings_of, stop_signal
from fairclock.errors import StoreError

if TYPE_CHECKING:
    from pathlib import Path

    from fairclock.cli.configuration import Configuration
    from fairclock.cli.evaluating import Contracts
    from fairclock.cli.pipeline.parts import Pipeline
    from fairclock.cli.slice_figures import SliceCounters
    from fairclock.store import Store

_LOG = logging.getLogger(__name__)
_SEAL_EVERY_SECONDS = 60.0
_COUNT_EVERY_SECONDS = 5.0
_OFF = "off"


@click.command("up", short_help="Everything in one process.")
@common_options
@collecting_options
@click.option(
    "--listen",
    "http__address",
    metavar="HOST:PORT",
    default=None,
    envvar="FAIRCLOCK_LISTEN",
    show_envvar=True,
    help="Where frames of sidecars, /healthz, /readyz and /metrics are answered, or off (default: 127.0.0.1:8780).",
)
@click.option(
    "--demo-gpu",
    "gpu__source",
    flag_value="demo",
    default=None,
    help="Invent GPUs, marked as simulated, to try dashboards with.",
)
def command(*, dsn: str | None, config: Path | None, quiet: bool, debug: bool, **flags: Any) -> None:
    """Hold the store, collect, take what sidecars forward, seal and count what changed, until SIGINT or SIGTERM.

    The contracts under sla.contracts are counted minute by minute, every few seconds.
    Beside it, every other command works on the same store.
    """
    del debug
    settings = settings_of(config, flags, quiet=quiet)
    contracts = _contracts(settings)
    with (
        stop_signal() as stop,
        running(
            settings,
            collectors=_configured(settings),
            dsn=store_dsn(dsn, config),
            takes_frames=True,
        ) as pipeline,
    ):
        announce(pipeline.announcements, settings, quiet=quiet)
        counters = _counters(pipeline) if contracts else None
        seal_at = time.monotonic() + (0.0 if contracts else _SEAL_EVERY_SECONDS)
        while not pipeline.wait(stop, _COUNT_EVERY_SECONDS if contracts else _SEAL_EVERY_SECONDS):
            store = pipeline.link.current if pipeline.link is not None else None
            if store is None:
                continue
            if time.monotonic() >= seal_at:
                _seal(store)
                seal_at = time.monotonic() + _SEAL_EVERY_SECONDS
            if counters is not None:
                _count(store, contracts, counters)


def _configured(settings: Configuration) -> list[str]:
    """Return the collectors that have something to collect from."""
    found = []
    if settings.gateway.files or receives_syslog(settings.gateway):
        found.append("gateway")
    if not settings.otlp.grpc == settings.otlp.http == _OFF:
        found.append("otlp")
    if scrapes(settings.vllm):
        found.append("vllm")
    if settings.gpu.source != _OFF:
        found.append("gpu")
    return found


def _contracts(settings: Configuration) -> Contracts:
    """Return the configured contracts; a wrong one keeps `up` from starting, so that nothing goes unjudged."""
    if not settings.sla.contracts:
        return []
    from fairclock.cli.evaluating import load_contracts  # noqa: PLC0415 - only where there are contracts

    return load_contracts(settings.sla.contracts)


def _counters(pipeline: Pipeline) -> SliceCounters:
    from fairclock.cli.slice_figures import SliceCounters  # noqa: PLC0415 - only where there are contracts

    counters = SliceCounters()
    pipeline.sli_figures = lambda: list(counters.figures())
    return counters


def _count(store: Store, contracts: Contracts, counters: SliceCounters) -> None:
    from fairclock.cli.evaluating import count_slices, versions_of_all  # noqa: PLC0415

    try:
        as_of = store.watermark()
        versions = versions_of_all(store, contracts, as_of)
        counted = count_slices(store, versions, as_of=as_of)
        if counted.written:
            counters.read(store, versions, store.watermark())
    except StoreError as error:  # what changed is counted by the next pass
        _LOG.warning("slices are counted again in %.0f s: %s", _COUNT_EVERY_SECONDS, error)


def _seal(store: Store) -> None:
    try:
        hours = store.seal()
    except StoreError as error:  # an unsealed hour is joined live, so nothing is wrong until the next try
        _LOG.warning("sealing is tried again in %.0f s: %s", _SEAL_EVERY_SECONDS, error)
    else:
        if hours:
            _LOG.info("sealed %d hours", hours)
