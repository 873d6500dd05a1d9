"""Own the prober's measure of itself: how late it was, how long its loop kept what came waiting, and when that voids a run."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from inference_probe.prober.ranks import NEVER, Ranked, ranked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inference_probe.prober.observations import Observation

_PERIOD_SECONDS = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfMeasure:
    """Lateness: sent after intended. Lag: how long a timer of the prober's own waited. Both in seconds.

    bound_seconds: what the 99th percentile of either may be at most.
    """

    lateness: Ranked
    lag: Ranked
    bound_seconds: float

    def void_reason(self) -> str:
        """Return why the run says nothing; empty where it does say something."""
        for name, values in (("probes were sent late", self.lateness), ("the loop lagged", self.lag)):
            worst = values.at("99")
            if worst is not None and worst > self.bound_seconds:
                shown = "some never" if worst == NEVER else f"by {worst * 1e3:.1f} ms"
                return f"{name}: P99 {shown}, bound {self.bound_seconds * 1e3:g} ms"
        return ""

    def tree(self) -> dict[str, Any]:
        """Return what is published."""
        return {
            "lateness": self.lateness.tree(),
            "loop_lag": self.lag.tree(),
            "bound_seconds": self.bound_seconds,
            "void": self.void_reason() or None,
        }


def measured(seen: Sequence[Observation], lags: Sequence[float], *, bound_seconds: float) -> SelfMeasure:
    """Return the measure of one run; a probe that was never sent was late for ever, one that was stopped early is not counted."""
    late = (
        NEVER if each.lateness is None else each.lateness
        for each in seen
        if not (each.sent is None and each.error == STOPPED)
    )
    return SelfMeasure(lateness=ranked(late), lag=ranked(lags), bound_seconds=bound_seconds)


STOPPED = "stopped before its time"
"""The error of a probe whose run was ended by a person before its time came."""


class LagMeter:
    """Measure by a timer of its own how late the event loop is; every token's instant may be late by as much."""

    def __init__(self) -> None:
        self.lags: list[float] = []
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        """Start."""
        self._task = asyncio.get_running_loop().create_task(self._measure())
        return self

    async def __aexit__(self, *exc: object) -> None:
        """Stop."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _measure(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + _PERIOD_SECONDS
            await asyncio.sleep(_PERIOD_SECONDS)
            self.lags.append(max(0.0, loop.time() - due))
