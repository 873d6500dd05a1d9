"""Own a timer that is finer than the loop's: epoll waits in whole milliseconds, which would be in every latency.

Linux's timerfd is a file that can be read from an instant on, and epoll wakes for it as it does for a socket. Python has
it from 3.13 on, so it is called in the C library. Where there is none, or the loop's time is told, the loop's own timer is used.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import time
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from types import TracebackType

_FLAGS = os.O_NONBLOCK | os.O_CLOEXEC
_ABSOLUTE = 1
_NANOSECONDS = 1_000_000_000
_READ_BYTES = 8


class _Span(ctypes.Structure):
    _fields_ = (("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long))


class _Setting(ctypes.Structure):
    _fields_ = (("interval", _Span), ("first", _Span))


class FineTimer:
    """Wait until instants of the running loop's clock, one after the other; a context that closes its file."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._woken: asyncio.Future[None] | None = None
        self._file = -1
        # a loop whose clock is not the system's cannot be woken by the system's
        if type(self._loop).time is not asyncio.BaseEventLoop.time:
            return
        with contextlib.suppress(OSError, AttributeError):
            self._library = ctypes.CDLL(None, use_errno=True)
            self._file = self._library.timerfd_create(time.CLOCK_MONOTONIC, _FLAGS)

    def __enter__(self) -> Self:
        """Begin to listen."""
        if self._file >= 0:
            self._loop.add_reader(self._file, self._wake)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file."""
        if self._file >= 0:
            self._loop.remove_reader(self._file)
            os.close(self._file)
            self._file = -1

    async def until(self, instant: float) -> None:
        """Return at `instant`, never before it; at once, after a turn of the loop, where it has passed."""
        while (wait := instant - self._loop.time()) > 0:
            if self._file < 0 or not self._set(instant):
                await asyncio.sleep(wait)
                return
            self._woken = self._loop.create_future()
            await self._woken
        await asyncio.sleep(0)

    def _set(self, instant: float) -> bool:
        nanoseconds = max(1, -int(-instant * _NANOSECONDS // 1))  # upwards: it must not wake before
        setting = _Setting(
            first=_Span(seconds=nanoseconds // _NANOSECONDS, nanoseconds=nanoseconds % _NANOSECONDS)
        )
        done: int = self._library.timerfd_settime(self._file, _ABSOLUTE, ctypes.byref(setting), None)
        return done == 0

    def _wake(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.read(self._file, _READ_BYTES)
        if self._woken is not None and not self._woken.done():
            self._woken.set_result(None)
