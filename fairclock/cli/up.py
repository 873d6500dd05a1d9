"""Own ``fairclock up``: everything in one process."""

from __future__ import annotations

import logging
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
    from fairclock.store import Store

_LOG = logging.getLogger(__name__)
_SEAL_EVERY_SECONDS = 60.0
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
    """Hold the store, collect, take what sidecars forward, and seal the hours that changed, until SIGINT or SIGTERM.

    Beside it, every other command works on the same store.
    """
    del debug
    settings = settings_of(config, flags, quiet=quiet)
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
        while not pipeline.wait(stop, _SEAL_EVERY_SECONDS):
            store = pipeline.link.current if pipeline.link is not None else None
            if store is not None:
                _seal(store)


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


def _seal(store: Store) -> None:
    try:
        hours = store.seal()
    except StoreError as error:  # an unsealed hour is joined live, so nothing is wrong until the next try
        _LOG.warning("sealing is tried again in %.0f s: %s", _SEAL_EVERY_SECONDS, error)
    else:
        if hours:
            _LOG.info("sealed %d hours", hours)
