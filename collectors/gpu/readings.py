"""Own what a driver's number means: a reading, or that there is none, and why."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import StrEnum

from collectors.gpu.fields import FIELDS

_SENTINEL_64 = float(1 << 62)
"""2^64-1, 2^63-1 and their neighbours are no readings of anything."""
_SENTINELS_32 = frozenset({(1 << 32) - 1, (1 << 31) - 1, *range((1 << 31) - 16, (1 << 31) - 11)})

EVERYTHING = "*"
"""In place of a field's name: every field that is null and has no reason of its own."""


class Reason(StrEnum):
    """Why a field of a row is null."""

    NOT_OFFERED = "not_offered"
    NOT_SUPPORTED = "not_supported"
    MIG = "mig"
    NO_PERMISSION = "no_permission"
    NOT_AVAILABLE = "not_available"
    IMPLAUSIBLE = "implausible"
    FAILED = "failed"
    LOST = "lost"
    HUNG = "hung"
    UNREACHABLE = "unreachable"
    FIRST_READING = "first_reading"
    GAP = "gap"


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """A process on a GPU: its id as the host counts (0 where it is not told) and its memory where that is known."""

    pid: int
    used_bytes: int | None


@dataclass(slots=True, kw_only=True)
class Readings:
    """What was read of a device at one instant: values in the units of `FIELDS`, and why others are not there."""

    values: dict[str, float] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    processes: tuple[Process, ...] | None = None

    def take(self, name: str, raw: float, *, scale: float = 1, is_32_bits: bool = False) -> None:
        """Keep `raw` times `scale` as the field `name`, or why it is no reading."""
        if not math.isfinite(raw) or raw >= _SENTINEL_64 or (is_32_bits and raw in _SENTINELS_32):
            self.missing[name] = Reason.NOT_AVAILABLE
            return
        value = raw * scale
        known = FIELDS[name]
        if not known.least <= value <= known.most:
            self.missing[name] = Reason.IMPLAUSIBLE
            return
        self.values[name] = round(value, known.decimals) if known.decimals else round(value)

    def lack(self, reason: str, *names: str) -> None:
        """Note why fields are not there."""
        for name in names:
            self.missing[name] = reason
