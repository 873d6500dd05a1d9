"""Own a loop whose time is told, not waited for: it jumps to the next timer whenever nothing else is to be done."""

from __future__ import annotations

import asyncio
import selectors


class _Jumping(selectors.DefaultSelector):
    def __init__(self, loop):
        super().__init__()
        self._loop = loop

    def select(self, timeout=None):
        if timeout is None:
            raise AssertionError("everything waits and no timer is set: nothing will ever happen")
        ready = super().select(0)
        if not ready and timeout > 0:
            self._loop.now += timeout
        return ready


class TimelessLoop(asyncio.SelectorEventLoop):
    def __init__(self):
        self.now = 1_000.0
        super().__init__(_Jumping(self))

    def time(self):
        return self.now

    def run_in_executor(self, executor, func, *args):
        """What runs in a thread takes no time."""
        done = self.create_future()
        done.set_result(func(*args))
        return done


def run_timeless(coroutine):
    """Run to the end in simulated time, which begins at 1,000 s."""
    with asyncio.Runner(loop_factory=TimelessLoop) as runner:
        return runner.run(coroutine)
