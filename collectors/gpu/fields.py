"""Own what is measured of a GPU: each field's name and unit, how it is folded to a second, what it can be."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

_COUNTER_32 = (1 << 31) - 17
_COUNTER_64 = (1 << 62) - 1
_BYTES = 1 << 50


class Folding(Enum):
    """How the readings of a second become columns."""

    RANGE = "three columns: mean, min and max"
    LAST = "the last reading"
    BITS = "every bit that was set in any reading"


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One field of a device.

    least, most: what a reading can be; anything else is a driver's way of saying that it does not know.
    decimals: to how many digits after the point a mean is kept.
    """

    name: str
    folding: Folding = Folding.LAST
    least: float = 0
    most: float
    decimals: int = 0

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the columns that it becomes."""
        if self.folding is Folding.RANGE:
            return tuple(f"{self.name}_{part}" for part in ("mean", "min", "max"))
        return (self.name,)


def _ranges() -> tuple[Field, ...]:
    return (
        Field(name="utilization_ratio", folding=Folding.RANGE, most=1, decimals=4),
        Field(name="memory_utilization_ratio", folding=Folding.RANGE, most=1, decimals=4),
        Field(name="engine_active_ratio", folding=Folding.RANGE, most=1, decimals=4),
        Field(name="memory_used_bytes", folding=Folding.RANGE, most=_BYTES),
        Field(name="power_milliwatts", folding=Folding.RANGE, most=100_000_000),
        Field(name="temperature_celsius", folding=Folding.RANGE, least=-60, most=250, decimals=1),
        Field(name="memory_temperature_celsius", folding=Folding.RANGE, least=-60, most=250, decimals=1),
        Field(name="sm_clock_mhz", folding=Folding.RANGE, most=60_000),
        Field(name="memory_clock_mhz", folding=Folding.RANGE, most=60_000),
    )


FIELDS: dict[str, Field] = {
    field.name: field
    for field in (
        *_ranges(),
        Field(name="memory_total_bytes", most=_BYTES),
        Field(name="memory_reserved_bytes", most=_BYTES),
        Field(name="memory_free_bytes", most=_BYTES),
        Field(name="power_limit_milliwatts", most=100_000_000),
        Field(name="energy_total_millijoules", most=_COUNTER_64),
        Field(name="throttle_reasons", folding=Folding.BITS, most=_COUNTER_64),
        Field(name="performance_state", most=15),
        Field(name="pcie_generation", most=16),
        Field(name="pcie_width", most=64),
        Field(name="pcie_sent_bytes_per_second", most=_BYTES),
        Field(name="pcie_received_bytes_per_second", most=_BYTES),
        Field(name="pcie_replays", most=_COUNTER_32),
        Field(name="nvlinks_active", most=1024),
        Field(name="nvlinks_inactive", most=1024),
        Field(name="nvlink_crc_errors", most=_COUNTER_64),
        Field(name="nvlink_replay_errors", most=_COUNTER_64),
        Field(name="nvlink_recovery_errors", most=_COUNTER_64),
        Field(name="ecc_corrected_volatile", most=_COUNTER_64),
        Field(name="ecc_uncorrected_volatile", most=_COUNTER_64),
        Field(name="ecc_corrected_aggregate", most=_COUNTER_64),
        Field(name="ecc_uncorrected_aggregate", most=_COUNTER_64),
        Field(name="retired_pages_corrected", most=_COUNTER_32),
        Field(name="retired_pages_uncorrected", most=_COUNTER_32),
        Field(name="retired_pages_pending", most=_COUNTER_32),
        Field(name="remapped_rows_corrected", most=_COUNTER_32),
        Field(name="remapped_rows_uncorrected", most=_COUNTER_32),
        Field(name="remapped_rows_pending", most=1),
        Field(name="remapped_rows_failed", most=1),
    )
}
"""Every field, by its name."""
