"""Own how much of a month was read through, by source kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairclock.model import Interval, total_us

if TYPE_CHECKING:
    from datetime import datetime

    from sla.evaluation.rows import Requests


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """Microseconds of the elapsed month, and how many of them gateways and engines were read through."""

    elapsed_us: int
    gateway_us: int
    engine_us: int
    gateway_intervals: tuple[Interval, ...]
    engine_intervals: tuple[Interval, ...]

    def of(self, *, needs_engine: bool) -> int:
        """Return the coverage that counts; what engines measure needs both sources."""
        return min(self.gateway_us, self.engine_us) if needs_engine else self.gateway_us


def coverage_of(store: Requests, elapsed: Interval, as_of: datetime) -> Coverage:
    """Return the coverage of `elapsed` as it was known at `as_of`."""
    gateway = tuple(store.covered("gateway", elapsed, as_of))
    engine = tuple(store.covered("engine", elapsed, as_of))
    return Coverage(
        elapsed_us=elapsed.length_us,
        gateway_us=total_us(gateway),
        engine_us=total_us(engine),
        gateway_intervals=gateway,
        engine_intervals=engine,
    )
