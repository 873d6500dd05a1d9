"""Own what goes wrong in a simulated month, and when."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Mishap(StrEnum):
    """A way in which an engine fails."""

    CRASH = "crash"  # connections are lost and refused until the restart
    HANG = "hang"  # connections are accepted and nothing comes back; then it crashes
    COLD_START = "cold start"  # up, but every step is slow for a while


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """One mishap of one replica; seconds since the traffic's epoch."""

    at: float
    mishap: Mishap
    replica: int
    in_hand: int = 0  # it waits, after `at`, until the replica has so many requests in hand
    hang_seconds: float = 0.0
    down_seconds: float = 0.0
    cold_seconds: float = 90.0
    cold_factor: float = 6.0
