"""Own which family of a DCGM exporter is which field, in which unit."""

from __future__ import annotations

from dataclasses import dataclass

_MIB = 1 << 20
_PERCENT = 0.01
_PER_WATT = 1000
_KB = 1000

XID = "DCGM_FI_DEV_XID_ERRORS"
"""A gauge that holds the last XID: what happened before it, or twice, cannot be seen in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """The field that a family is, and by what its values are multiplied."""

    field: str
    scale: float = 1


def _families() -> dict[str, Family]:
    scaled = {
        "GPU_UTIL": ("utilization_ratio", _PERCENT),
        "MEM_COPY_UTIL": ("memory_utilization_ratio", _PERCENT),
        "FB_USED": ("memory_used_bytes", _MIB),
        "FB_FREE": ("memory_free_bytes", _MIB),
        "FB_RESERVED": ("memory_reserved_bytes", _MIB),
        "FB_TOTAL": ("memory_total_bytes", _MIB),
        "POWER_USAGE": ("power_milliwatts", _PER_WATT),
        "POWER_MGMT_LIMIT": ("power_limit_milliwatts", _PER_WATT),
        "ENFORCED_POWER_LIMIT": ("power_limit_milliwatts", _PER_WATT),
        "TOTAL_ENERGY_CONSUMPTION": ("energy_total_millijoules", 1),
        "GPU_TEMP": ("temperature_celsius", 1),
        "MEMORY_TEMP": ("memory_temperature_celsius", 1),
        "SM_CLOCK": ("sm_clock_mhz", 1),
        "MEM_CLOCK": ("memory_clock_mhz", 1),
        "CLOCK_THROTTLE_REASONS": ("throttle_reasons", 1),
        "CLOCKS_EVENT_REASONS": ("throttle_reasons", 1),
        "PSTATE": ("performance_state", 1),
        "PCIE_LINK_GEN": ("pcie_generation", 1),
        "PCIE_LINK_WIDTH": ("pcie_width", 1),
        "PCIE_TX_THROUGHPUT": ("pcie_sent_bytes_per_second", _KB),
        "PCIE_RX_THROUGHPUT": ("pcie_received_bytes_per_second", _KB),
        "PCIE_REPLAY_COUNTER": ("pcie_replays", 1),
        "NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL": ("nvlink_crc_errors", 1),
        "NVLINK_REPLAY_ERROR_COUNT_TOTAL": ("nvlink_replay_errors", 1),
        "NVLINK_RECOVERY_ERROR_COUNT_TOTAL": ("nvlink_recovery_errors", 1),
        "ECC_SBE_VOL_TOTAL": ("ecc_corrected_volatile", 1),
        "ECC_DBE_VOL_TOTAL": ("ecc_uncorrected_volatile", 1),
        "ECC_SBE_AGG_TOTAL": ("ecc_corrected_aggregate", 1),
        "ECC_DBE_AGG_TOTAL": ("ecc_uncorrected_aggregate", 1),
        "RETIRED_SBE": ("retired_pages_corrected", 1),
        "RETIRED_DBE": ("retired_pages_uncorrected", 1),
        "RETIRED_PENDING": ("retired_pages_pending", 1),
        "CORRECTABLE_REMAPPED_ROWS": ("remapped_rows_corrected", 1),
        "UNCORRECTABLE_REMAPPED_ROWS": ("remapped_rows_uncorrected", 1),
        "ROW_REMAP_PENDING": ("remapped_rows_pending", 1),
        "ROW_REMAP_FAILURE": ("remapped_rows_failed", 1),
    }
    families = {
        f"DCGM_FI_DEV_{name}": Family(field=field, scale=scale) for name, (field, scale) in scaled.items()
    }
    families |= {
        "DCGM_FI_PROF_GR_ENGINE_ACTIVE": Family(field="engine_active_ratio"),
        "DCGM_FI_PROF_PCIE_TX_BYTES": Family(field="pcie_sent_bytes_per_second"),
        "DCGM_FI_PROF_PCIE_RX_BYTES": Family(field="pcie_received_bytes_per_second"),
    }
    return families


FAMILIES = _families()
