"""Own the stages of a start, how long each took, and whether the service may be asked."""

from __future__ import annotations

import os
import time
from enum import StrEnum
from pathlib import Path
from typing import Any

_LOOKS = 5
"""Of so many looks at two clocks the quickest counts: a process may stand still between them, and not each time."""


class Stage(StrEnum):
    """What a service that starts, serves or ends is at."""

    WEIGHTS = "weights"
    """The engine starts: weights, compilation, KV cache."""
    PROMPTS = "prompts"
    """Typical prompts, one after another."""
    LOAD = "load"
    """Many at once."""
    READY = "ready"
    STOPPING = "stopping"
    FAILED = "failed"


class Progress:
    """What a start is at and what each stage took; seconds on the monotonic clock, from the process's own start."""

    def __init__(self, *, process_started: float, now: float) -> None:
        self._process_started = process_started
        self._since = now
        self.stage = Stage.WEIGHTS
        self.seconds: dict[str, float] = {"process": now - process_started}
        self.warm_up: dict[str, Any] = {}

    def enter(self, stage: Stage, *, now: float) -> None:
        """End the present stage at `now` and begin the next; a start that ended has no further durations."""
        if self.stage in {Stage.WEIGHTS, Stage.PROMPTS, Stage.LOAD}:
            self.seconds[self.stage.value] = now - self._since
            if stage is Stage.READY:
                self.seconds["total"] = now - self._process_started
        self.stage, self._since = stage, now

    @property
    def is_ready(self) -> bool:
        """Return whether requests are measured as they will be from now on."""
        return self.stage is Stage.READY

    def tree(self) -> dict[str, Any]:
        """Return what is published of the start."""
        return {"seconds": dict(self.seconds), "warm_up": dict(self.warm_up)}


def process_started() -> float:
    """Return when this process began, in monotonic seconds, to the system's tick (10 ms)."""
    # proc(5): field 22, counted from the end of the name, which may hold spaces; since boot, sleep included
    fields = Path("/proc/self/stat").read_text(encoding="ascii", errors="replace").rpartition(") ")[2].split()
    since_boot = int(fields[19]) / os.sysconf("SC_CLK_TCK")
    _, ahead = min(_clocks_apart() for _ in range(_LOOKS))
    return since_boot - ahead


def _clocks_apart() -> tuple[float, float]:
    """Return how long one look at both clocks took, and how far that since boot is ahead of the monotonic one, so precisely."""
    before = time.monotonic()
    since_boot = time.clock_gettime(time.CLOCK_BOOTTIME)
    took = time.monotonic() - before
    return took, since_boot - before - took / 2
