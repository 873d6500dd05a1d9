"""Own how a benchmark is timed and its memory read, and the row of the table that comes of it."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_SELF = Path("/proc/self")
_FORGET_PEAK = "5"


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One row of the table: what was measured, and whether it is as good as it should be (None: no target).

    limit: what the same work costs at the least, measured in the same run; ratio: this one's speed in it.
    peak_bytes: of the whole process while it worked; row_bytes: on disk, for each row.
    """

    what: str
    measured: str
    target: str = ""
    met: bool | None = None
    limit: str = ""
    ratio: float | None = None
    rows_per_second: float | None = None
    peak_bytes: int | None = None
    row_bytes: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """The median of some runs, and the most memory that this process had in them."""

    seconds: float
    cpu_seconds: float
    peak_bytes: int


def timed(work: Callable[[], object], *, times: int, before: Callable[[], object] | None = None) -> Timing:
    """Run `work` as often as `times` says, each time after `before`, which is not timed."""
    walls, cpus = [], []
    peak_bytes = 0
    for _ in range(times):
        if before is not None:
            before()
        (_SELF / "clear_refs").write_text(_FORGET_PEAK, encoding="ascii")
        wall, cpu = time.perf_counter(), time.process_time()
        work()
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
        peak_bytes = max(peak_bytes, _peak_bytes())
    return Timing(
        seconds=statistics.median(walls), cpu_seconds=statistics.median(cpus), peak_bytes=peak_bytes
    )


def _peak_bytes() -> int:
    status = (_SELF / "status").read_text(encoding="ascii")
    line = next(each for each in status.splitlines() if each.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024
