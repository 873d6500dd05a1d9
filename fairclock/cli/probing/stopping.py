"""Own how a run is ended early: the first signal lets it say what it saw, the second ends the program."""

from __future__ import annotations

import asyncio
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def stopped_by_signals() -> Iterator[asyncio.Event]:
    """Give an event that SIGINT and SIGTERM set; where a loop may not listen to signals nothing sets it."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    heard = []
    for number in (signal.SIGINT, signal.SIGTERM):
        try:
            loop.add_signal_handler(number, _once, loop, number, stop)
        except (ValueError, RuntimeError, NotImplementedError):
            continue  # not the main thread
        heard.append(number)
    try:
        yield stop
    finally:
        for number in heard:
            loop.remove_signal_handler(number)


def _once(loop: asyncio.AbstractEventLoop, number: int, stop: asyncio.Event) -> None:
    stop.set()
    loop.remove_signal_handler(number)
