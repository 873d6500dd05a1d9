"""Own ``fairclock collect``: collectors that run until they are stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from fairclock.cli.options import common_options, default_dsn
from fairclock.cli.serving import announce, make_receiver, receiver_options, start_logging, stop_signal
from fairclock.store import open_store

if TYPE_CHECKING:
    from pathlib import Path


@click.command("collect", short_help="Collect from running services until stopped.")
@common_options
@receiver_options
@click.argument("collectors", nargs=-1, required=True, type=click.Choice(["otlp"]))
def command(
    *,
    collectors: tuple[str, ...],
    grpc_address: str,
    http_address: str,
    source: str,
    dsn: str | None,
    config: Path | None,
    quiet: bool,
    debug: bool,
) -> None:
    """Receive vLLM's spans over OTLP until SIGINT or SIGTERM.

    A sender is answered once its spans are committed; while the store is away it is told to send again.
    """
    del collectors, config, debug
    start_logging(quiet=quiet)
    with (
        stop_signal() as stop,
        open_store(dsn or default_dsn()) as store,
        make_receiver(store, grpc_address=grpc_address, http_address=http_address, source=source) as receiver,
    ):
        announce(receiver, store)
        stop.wait()
