"""Own ``fairclock up``: everything in one process."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import click

from fairclock.cli.options import common_options, default_dsn
from fairclock.cli.serving import announce, make_receiver, receiver_options, start_logging, stop_signal
from fairclock.errors import StoreError
from fairclock.store import open_store

if TYPE_CHECKING:
    from pathlib import Path

    from fairclock.store import Store

_LOG = logging.getLogger(__name__)
_SEAL_EVERY_SECONDS = 60.0


@click.command("up", short_help="Everything in one process.")
@common_options
@receiver_options
def command(
    *,
    grpc_address: str,
    http_address: str,
    source: str,
    dsn: str | None,
    config: Path | None,
    quiet: bool,
    debug: bool,
) -> None:
    """Hold the store, receive vLLM's spans, and seal the hours that changed, until SIGINT or SIGTERM.

    Beside it, every other command works on the same store.
    """
    del config, debug
    start_logging(quiet=quiet)
    with (
        stop_signal() as stop,
        open_store(dsn or default_dsn()) as store,
        make_receiver(store, grpc_address=grpc_address, http_address=http_address, source=source) as receiver,
    ):
        announce(receiver, store)
        while not stop.wait(_SEAL_EVERY_SECONDS):
            _seal(store)


def _seal(store: Store) -> None:
    try:
        hours = store.seal()
    except StoreError as error:  # an unsealed hour is joined live, so nothing is wrong until the next try
        _LOG.warning("sealing is tried again in %.0f s: %s", _SEAL_EVERY_SECONDS, error)
    else:
        if hours:
            _LOG.info("sealed %d hours", hours)
