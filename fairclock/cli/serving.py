"""Own what long-running commands share: log lines, signals, the receiver's options and its announcement."""

from __future__ import annotations

import logging
import signal
import time
from contextlib import contextmanager
from threading import Event
from typing import TYPE_CHECKING, TypeVar

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    from collectors.otlp.receiver import OtlpReceiver
    from fairclock.store import Store

F = TypeVar("F", bound="Callable[..., object]")
_OFF = "off"


def receiver_options(function: F) -> F:
    """Add ``--grpc``, ``--http`` and ``--source``."""
    for option in (
        click.option(
            "--source",
            metavar="NAME",
            default="otlp",
            show_default=True,
            help="What the spans are said to come from.",
        ),
        click.option(
            "--http",
            "http_address",
            metavar="HOST:PORT",
            default="127.0.0.1:4318",
            show_default=True,
            help="Where OTLP over HTTP is received, or off.",
        ),
        click.option(
            "--grpc",
            "grpc_address",
            metavar="HOST:PORT",
            default="127.0.0.1:4317",
            show_default=True,
            help="Where OTLP over gRPC is received, or off.",
        ),
    ):
        function = option(function)
    return function


def make_receiver(store: Store, *, grpc_address: str, http_address: str, source: str) -> OtlpReceiver:
    """Take the addresses; raises `UsageError` where one is not free. Spans go straight into `store`."""
    from collectors.otlp.committing import FORMAT  # noqa: PLC0415
    from collectors.otlp.receiver import OtlpReceiver  # noqa: PLC0415 - gRPC takes a while to load
    from exporters.clickhouse import DirectDelivery, lines_of  # noqa: PLC0415

    grpc, http = (None if address == _OFF else address for address in (grpc_address, http_address))
    return OtlpReceiver(DirectDelivery(store, adapters={FORMAT: lines_of}), grpc, http, source=source)


def announce(receiver: OtlpReceiver, store: Store) -> None:
    """Say on stderr where spans are received and where they go."""
    places = []
    if receiver.grpc_address is not None:
        places.append(f"gRPC on {receiver.grpc_address}")
    if receiver.http_address is not None:
        places.append(f"HTTP on http://{receiver.http_address}/v1/traces")
    click.echo(f"receiving OTLP spans: {', '.join(places)}; into {store.dsn}", err=True)


def start_logging(*, quiet: bool) -> None:
    """Write log lines to stderr, in UTC."""
    formatter = logging.Formatter(
        "%(asctime)sZ %(levelname)s %(name)s: %(message)s", datefmt="%Y-%m-%dT%H:%M:%S"
    )
    formatter.converter = time.gmtime
    handler = logging.StreamHandler()
    handler.setFormatter(formatter)
    logging.basicConfig(level=logging.WARNING if quiet else logging.INFO, handlers=[handler], force=True)
    logging.getLogger("uvicorn").setLevel(logging.WARNING)


@contextmanager
def stop_signal() -> Iterator[Event]:
    """Yield an event that SIGINT and SIGTERM set; a second signal ends the program at once."""
    stop = Event()

    def note(number: int, _: FrameType | None) -> None:
        signal.signal(number, signal.SIG_DFL)
        stop.set()

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
