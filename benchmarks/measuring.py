"""Own how a benchmark is timed, and the row of the table that comes of it."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One row of the table: what was measured, and whether it is as good as it should be (None: no target)."""

    what: str
    measured: str
    target: str = ""
    met: bool | None = None


def median_seconds(
    work: Callable[[], object], *, times: int, before: Callable[[], object] | None = None
) -> float:
    """Return the median duration of `work` over `times` runs, each after `before`, which is not timed."""
    durations = []
    for _ in range(times):
        if before is not None:
            before()
        start = time.perf_counter()
        work()
        durations.append(time.perf_counter() - start)
    return statistics.median(durations)
