"""Own what the collector of GPUs can say about itself."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuStatistics:
    """Counts since the start, and the state right now.

    expected, visible: GPUs that should be there, and that are there and answer; instances: MIG instances.
    lost, hung: GPUs that fell off the bus, and that have a call which does not return.
    samples: looks at a device; lines: rows and events that were kept; dropped: those that could not be kept.
    hung_calls, driver_losses: how often a call hung, and the driver went away.
    problem: what is wrong with the source right now, or an empty string.
    """

    expected: int = 0
    visible: int = 0
    instances: int = 0
    lost: int = 0
    hung: int = 0
    samples: int = 0
    lines: int = 0
    dropped: int = 0
    hung_calls: int = 0
    driver_losses: int = 0
    problem: str = ""
