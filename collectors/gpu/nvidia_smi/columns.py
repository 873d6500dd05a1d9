"""Own which column of ``nvidia-smi --query-gpu`` is which field, and what its cells may say."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from collectors.gpu.readings import Reason

if TYPE_CHECKING:
    from collectors.gpu.readings import Readings

_MIB = 1 << 20
_SCALES = {
    "": None, "%": 0.01, "w": 1000, "mw": 1, "mib": _MIB, "kib": 1 << 10, "gib": 1 << 30, "mb": _MIB, "mhz": 1,
    "c": 1, "kb/s": 1000, "mb/s": 1_000_000, "mj": 1, "j": 1000,
}  # fmt: skip
"""What a cell's own unit multiplies it with, to the unit of the field."""
_NUMBER = re.compile(r"([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)\s*([A-Za-z%/]*)")
_HEXADECIMAL = re.compile(r"0[xX][0-9A-Fa-f]{1,16}")
_FLAGS = {"yes": 1, "no": 0, "enabled": 1, "disabled": 0, "active": 1, "not active": 0, "true": 1, "false": 0}
_EMPTY = {
    "n/a": Reason.NOT_AVAILABLE,
    "not supported": Reason.NOT_SUPPORTED,
    "not found": Reason.NOT_AVAILABLE,
    "insufficient permissions": Reason.NO_PERMISSION,
    "gpu requires reset": Reason.LOST,
    "gpu is lost": Reason.LOST,
    "unknown error": Reason.FAILED,
    "err!": Reason.FAILED,
    "": Reason.NOT_AVAILABLE,
}

_WATT, _PERCENT, _MEBIBYTE = 1000, 0.01, _MIB
COLUMNS: dict[str, tuple[str, float]] = {
    "utilization.gpu": ("utilization_ratio", _PERCENT),
    "utilization.memory": ("memory_utilization_ratio", _PERCENT),
    "memory.total": ("memory_total_bytes", _MEBIBYTE),
    "memory.used": ("memory_used_bytes", _MEBIBYTE),
    "memory.free": ("memory_free_bytes", _MEBIBYTE),
    "memory.reserved": ("memory_reserved_bytes", _MEBIBYTE),
    "power.draw": ("power_milliwatts", _WATT),
    "power.draw.instant": ("power_milliwatts", _WATT),
    "power.draw.average": ("power_milliwatts", _WATT),
    "power.limit": ("power_limit_milliwatts", _WATT),
    "enforced.power.limit": ("power_limit_milliwatts", _WATT),
    "temperature.gpu": ("temperature_celsius", 1),
    "temperature.memory": ("memory_temperature_celsius", 1),
    "clocks.sm": ("sm_clock_mhz", 1),
    "clocks.current.sm": ("sm_clock_mhz", 1),
    "clocks.mem": ("memory_clock_mhz", 1),
    "clocks.current.memory": ("memory_clock_mhz", 1),
    "clocks_event_reasons.active": ("throttle_reasons", 1),
    "clocks_throttle_reasons.active": ("throttle_reasons", 1),
    "pstate": ("performance_state", 1),
    "pcie.link.gen.current": ("pcie_generation", 1),
    "pcie.link.gen.gpucurrent": ("pcie_generation", 1),
    "pcie.link.width.current": ("pcie_width", 1),
    "ecc.errors.corrected.volatile.total": ("ecc_corrected_volatile", 1),
    "ecc.errors.uncorrected.volatile.total": ("ecc_uncorrected_volatile", 1),
    "ecc.errors.corrected.aggregate.total": ("ecc_corrected_aggregate", 1),
    "ecc.errors.uncorrected.aggregate.total": ("ecc_uncorrected_aggregate", 1),
    "retired_pages.single_bit_ecc.count": ("retired_pages_corrected", 1),
    "retired_pages.sbe": ("retired_pages_corrected", 1),
    "retired_pages.double_bit.count": ("retired_pages_uncorrected", 1),
    "retired_pages.dbe": ("retired_pages_uncorrected", 1),
    "retired_pages.pending": ("retired_pages_pending", 1),
    "remapped_rows.correctable": ("remapped_rows_corrected", 1),
    "remapped_rows.uncorrectable": ("remapped_rows_uncorrected", 1),
    "remapped_rows.pending": ("remapped_rows_pending", 1),
    "remapped_rows.failure": ("remapped_rows_failed", 1),
}
"""The field of each column, and what multiplies a cell without a unit."""

ALIASES = {
    "gpu_name": "name", "gpu_uuid": "uuid", "gpu_bus_id": "pci.bus_id", "gpu_serial": "serial",
    "driver": "driver_version",
}  # fmt: skip

QUERY = (
    "timestamp", "index", "uuid", "name", "pci.bus_id", "driver_version", "mig.mode.current", "utilization.gpu",
    "utilization.memory", "memory.total", "memory.used", "memory.free", "memory.reserved", "power.draw",
    "enforced.power.limit", "temperature.gpu", "temperature.memory", "clocks.sm", "clocks.mem",
    "clocks_throttle_reasons.active", "pstate", "pcie.link.gen.current", "pcie.link.width.current",
    "ecc.errors.corrected.volatile.total", "ecc.errors.uncorrected.volatile.total",
    "ecc.errors.corrected.aggregate.total", "ecc.errors.uncorrected.aggregate.total",
    "retired_pages.single_bit_ecc.count", "retired_pages.double_bit.count", "retired_pages.pending",
)  # fmt: skip
"""What is asked for where Fairclock runs the program: columns that every driver since 450 knows."""


def take_cell(readings: Readings, column: str, cell: str) -> None:
    """Read one cell into its field, or note why it holds no reading."""
    field, scale = COLUMNS[column]
    if field in readings.values:  # two columns of one field: the first stays
        return
    text = cell.strip().strip("[]").strip()
    reason = _EMPTY.get(text.lower())
    if reason is not None:
        readings.missing[field] = reason
        return
    if _HEXADECIMAL.fullmatch(text):
        readings.take(field, int(text, 16))
        return
    if field == "performance_state" and text[:1] in "Pp":
        text = text[1:]
    flag = _FLAGS.get(text.lower())
    match = _NUMBER.fullmatch(text)
    unit = match[2].lower() if match else ""
    if flag is not None:
        readings.take(field, flag)
    elif match is None or unit not in _SCALES:
        readings.missing[field] = Reason.FAILED
    else:
        readings.take(field, float(match[1]), scale=_SCALES[unit] or scale)
