"""Own what is reported of one engine, and when: its start, every finished request, its state on change, its end."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from fairclock_vllm_plugin.engine import engine_state
from fairclock_vllm_plugin.records import EngineRecords

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairclock_vllm_plugin.engine import EngineSettings, EngineState
    from fairclock_vllm_plugin.sender import Entry, Sender

_HEARTBEAT_SECONDS = 60.0
_KV_USAGE_STEP = 0.01


class EngineReport:
    """Report one engine through `sender`; what vLLM's loop calls never blocks."""

    def __init__(
        self,
        sender: Sender,
        *,
        settings: EngineSettings,
        rank: int,
        state_seconds: float,
        now: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._sender = sender
        self._settings = settings
        self._state_seconds = state_seconds
        self._now = now
        self._monotonic = monotonic
        records = EngineRecords(model=settings.model, rank=rank)
        self._records = records
        self._write_finished = records.finished
        self._put = sender.put
        self._latest: tuple[float, Any] | None = None
        self._sleep_level = 0
        self._said: EngineState | None = None
        self._said_at = float("-inf")

    def start(self) -> None:
        """Say that the engine is ready, with its settings."""
        self._put(self._records.started, self._now(), (self._settings,))
        self._sender.sample(self.due_state)

    def record(self, scheduler_stats: Any, iteration_stats: Any) -> None:
        """Take what one step of the engine brought; either may be None."""
        if iteration_stats is not None:
            at = iteration_stats.iteration_timestamp
            finished = iteration_stats.finished_requests
            if finished:
                self._put(self._write_finished, at, finished)
        if scheduler_stats is not None:
            self._latest = (self._now(), scheduler_stats)

    def sleep(self, level: int) -> None:
        """Take the level to which the engine sleeps; 0 is awake."""
        self._sleep_level = level

    def stop(self) -> None:
        """Say that this process ends."""
        self._put(self._records.stopped, self._now(), (None,))

    def due_state(self) -> Entry | None:
        """Return a record of the engine's state if it has changed, and not too soon; else one a minute."""
        latest = self._latest
        if latest is None:
            return None
        now = self._monotonic()
        elapsed = now - self._said_at
        if elapsed < self._state_seconds:
            return None
        at, stats = latest
        state = engine_state(stats, sleep_level=self._sleep_level)
        if not self._has_changed(state):
            if elapsed < _HEARTBEAT_SECONDS:
                return None
            at = self._now()  # that it is still so
        self._said, self._said_at = state, now
        return self._records.state, at, state

    def _has_changed(self, state: EngineState) -> bool:
        said = self._said
        if said is None or (said[0], said[1], said[3]) != (state[0], state[1], state[3]):
            return True
        if said[2] is None or state[2] is None:
            return said[2] is not state[2]
        # the last of a cache is let go in small steps, and empty is worth knowing
        return abs(said[2] - state[2]) >= _KV_USAGE_STEP or (said[2] != state[2] and not state[2])
