"""Own which call of NVML yields which fields, in which unit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from collectors.gpu.readings import Readings

_PERCENT = 0.01
_BYTES_PER_KB = 1000  # as NVML counts the throughput of PCIe
_MEMORY_TEMPERATURE = 82
_FLIT_CRC, _DATA_CRC, _REPLAY, _RECOVERY = 38, 45, 52, 59
_SIGNED_TYPES = {4: "sllVal", 5: "siVal"}
_UNSIGNED_TYPES = {0: "dVal", 1: "uiVal", 2: "ulVal", 3: "ullVal", 6: "usVal"}
_NOT_SUPPORTED = 3
_UNSIGNED_32 = 1 << 32
_COLDEST = -60


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One question to a device, and the fields that its answer holds.

    Whatever `read` raises is the reason why all of them are null.
    """

    fields: tuple[str, ...]
    read: Callable[[Any, Any, Readings], None]


def _utilization(nvml: Any, handle: Any, readings: Readings) -> None:
    rates = nvml.nvmlDeviceGetUtilizationRates(handle)
    readings.take("utilization_ratio", rates.gpu, scale=_PERCENT, is_32_bits=True)
    readings.take("memory_utilization_ratio", rates.memory, scale=_PERCENT, is_32_bits=True)


def _memory(nvml: Any, handle: Any, readings: Readings) -> None:
    try:
        memory = nvml.nvmlDeviceGetMemoryInfo(handle, version=nvml.nvmlMemory_v2)
    except (nvml.NVMLError_FunctionNotFound, nvml.NVMLError_ArgumentVersionMismatch):
        # the first version counts what is reserved as used: total and free are what they say, used is not known
        memory = nvml.nvmlDeviceGetMemoryInfo(handle)
        readings.lack("not_supported", "memory_used_bytes", "memory_reserved_bytes")
    else:
        readings.take("memory_used_bytes", memory.used, is_32_bits=True)
        readings.take("memory_reserved_bytes", memory.reserved, is_32_bits=True)
    readings.take("memory_free_bytes", memory.free, is_32_bits=True)
    readings.take("memory_total_bytes", memory.total, is_32_bits=True)


def _power(nvml: Any, handle: Any, readings: Readings) -> None:
    readings.take("power_milliwatts", nvml.nvmlDeviceGetPowerUsage(handle), is_32_bits=True)


def _temperature(nvml: Any, handle: Any, readings: Readings) -> None:
    value = nvml.nvmlDeviceGetTemperature(handle, nvml.NVML_TEMPERATURE_GPU)
    signed = value - _UNSIGNED_32  # the driver's number is signed, the binding's is not
    readings.take("temperature_celsius", signed if _COLDEST <= signed < -1 else value, is_32_bits=True)


def _memory_temperature(nvml: Any, handle: Any, readings: Readings) -> None:
    (value,) = nvml.nvmlDeviceGetFieldValues(handle, [_MEMORY_TEMPERATURE])
    readings.take("memory_temperature_celsius", _field_value(nvml, value), is_32_bits=True)


def _sm_clock(nvml: Any, handle: Any, readings: Readings) -> None:
    readings.take("sm_clock_mhz", nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_SM), is_32_bits=True)


def _memory_clock(nvml: Any, handle: Any, readings: Readings) -> None:
    readings.take(
        "memory_clock_mhz", nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_MEM), is_32_bits=True
    )


def _throttle(nvml: Any, handle: Any, readings: Readings) -> None:
    try:
        reasons = nvml.nvmlDeviceGetCurrentClocksEventReasons(handle)
    except nvml.NVMLError_FunctionNotFound:  # its name in drivers before 535
        reasons = nvml.nvmlDeviceGetCurrentClocksThrottleReasons(handle)
    readings.take("throttle_reasons", reasons)


def _energy(nvml: Any, handle: Any, readings: Readings) -> None:
    readings.take("energy_total_millijoules", nvml.nvmlDeviceGetTotalEnergyConsumption(handle))


def _power_limit(nvml: Any, handle: Any, readings: Readings) -> None:
    readings.take("power_limit_milliwatts", nvml.nvmlDeviceGetEnforcedPowerLimit(handle), is_32_bits=True)


def _performance_state(nvml: Any, handle: Any, readings: Readings) -> None:
    value = nvml.nvmlDeviceGetPerformanceState(handle)
    readings.take("performance_state", float("nan") if value == nvml.NVML_PSTATE_UNKNOWN else value)


def _pcie_generation(nvml: Any, handle: Any, readings: Readings) -> None:
    readings.take("pcie_generation", nvml.nvmlDeviceGetCurrPcieLinkGeneration(handle), is_32_bits=True)


def _pcie_width(nvml: Any, handle: Any, readings: Readings) -> None:
    readings.take("pcie_width", nvml.nvmlDeviceGetCurrPcieLinkWidth(handle), is_32_bits=True)


def _pcie_replays(nvml: Any, handle: Any, readings: Readings) -> None:
    readings.take("pcie_replays", nvml.nvmlDeviceGetPcieReplayCounter(handle), is_32_bits=True)


def _pcie_sent(nvml: Any, handle: Any, readings: Readings) -> None:
    value = nvml.nvmlDeviceGetPcieThroughput(handle, nvml.NVML_PCIE_UTIL_TX_BYTES)
    readings.take("pcie_sent_bytes_per_second", value, scale=_BYTES_PER_KB, is_32_bits=True)


def _pcie_received(nvml: Any, handle: Any, readings: Readings) -> None:
    value = nvml.nvmlDeviceGetPcieThroughput(handle, nvml.NVML_PCIE_UTIL_RX_BYTES)
    readings.take("pcie_received_bytes_per_second", value, scale=_BYTES_PER_KB, is_32_bits=True)


def _nvlinks(nvml: Any, handle: Any, readings: Readings) -> None:
    active = inactive = 0
    for link in range(nvml.NVML_NVLINK_MAX_LINKS):
        try:
            state = nvml.nvmlDeviceGetNvLinkState(handle, link)
        except (nvml.NVMLError_NotSupported, nvml.NVMLError_InvalidArgument):
            if link == 0:
                raise
            break  # it has fewer links
        active += bool(state)
        inactive += not state
    readings.take("nvlinks_active", active)
    readings.take("nvlinks_inactive", inactive)


def _nvlink_errors(nvml: Any, handle: Any, readings: Readings) -> None:
    flit, data, replay, recovery = nvml.nvmlDeviceGetFieldValues(
        handle, [_FLIT_CRC, _DATA_CRC, _REPLAY, _RECOVERY]
    )
    readings.take("nvlink_crc_errors", _field_value(nvml, flit) + _field_value(nvml, data))
    readings.take("nvlink_replay_errors", _field_value(nvml, replay))
    readings.take("nvlink_recovery_errors", _field_value(nvml, recovery))


def _ecc(field: str, kind: int, counter: int) -> Call:
    def read(nvml: Any, handle: Any, readings: Readings) -> None:
        readings.take(field, nvml.nvmlDeviceGetTotalEccErrors(handle, kind, counter))

    return Call(fields=(field,), read=read)


def _retired(field: str, cause: int) -> Call:
    def read(nvml: Any, handle: Any, readings: Readings) -> None:
        readings.take(field, len(nvml.nvmlDeviceGetRetiredPages(handle, cause)))

    return Call(fields=(field,), read=read)


def _retired_pending(nvml: Any, handle: Any, readings: Readings) -> None:
    readings.take(
        "retired_pages_pending", nvml.nvmlDeviceGetRetiredPagesPendingStatus(handle), is_32_bits=True
    )


def _remapped(nvml: Any, handle: Any, readings: Readings) -> None:
    corrected, uncorrected, pending, failed = nvml.nvmlDeviceGetRemappedRows(handle)
    readings.take("remapped_rows_corrected", corrected, is_32_bits=True)
    readings.take("remapped_rows_uncorrected", uncorrected, is_32_bits=True)
    readings.take("remapped_rows_pending", pending, is_32_bits=True)
    readings.take("remapped_rows_failed", failed, is_32_bits=True)


def _field_value(nvml: Any, value: Any) -> float:
    """Return the number in an answer to a field query; raises NVML's error in its place."""
    if value.nvmlReturn:
        raise nvml.NVMLError(value.nvmlReturn)
    name = _SIGNED_TYPES.get(value.valueType) or _UNSIGNED_TYPES.get(value.valueType)
    if name is None:
        raise nvml.NVMLError(_NOT_SUPPORTED)
    return getattr(value.value, name)  # type: ignore[no-any-return]


MEMORY = Call(
    fields=("memory_used_bytes", "memory_reserved_bytes", "memory_free_bytes", "memory_total_bytes"),
    read=_memory,
)
ECC = (
    _ecc("ecc_corrected_volatile", 0, 0),
    _ecc("ecc_uncorrected_volatile", 1, 0),
    _ecc("ecc_corrected_aggregate", 0, 1),
    _ecc("ecc_uncorrected_aggregate", 1, 1),
)
OFTEN = (
    Call(fields=("utilization_ratio", "memory_utilization_ratio"), read=_utilization),
    MEMORY,
    Call(fields=("power_milliwatts",), read=_power),
    Call(fields=("temperature_celsius",), read=_temperature),
    Call(fields=("memory_temperature_celsius",), read=_memory_temperature),
    Call(fields=("sm_clock_mhz",), read=_sm_clock),
    Call(fields=("memory_clock_mhz",), read=_memory_clock),
    Call(fields=("throttle_reasons",), read=_throttle),
)
"""What changes within a second."""

ONCE_A_SECOND = (
    Call(fields=("energy_total_millijoules",), read=_energy),
    Call(fields=("power_limit_milliwatts",), read=_power_limit),
    Call(fields=("performance_state",), read=_performance_state),
    Call(fields=("pcie_generation",), read=_pcie_generation),
    Call(fields=("pcie_width",), read=_pcie_width),
    Call(fields=("pcie_replays",), read=_pcie_replays),
    Call(fields=("pcie_sent_bytes_per_second",), read=_pcie_sent),
    Call(fields=("pcie_received_bytes_per_second",), read=_pcie_received),
    Call(fields=("nvlinks_active", "nvlinks_inactive"), read=_nvlinks),
    Call(fields=("nvlink_crc_errors", "nvlink_replay_errors", "nvlink_recovery_errors"), read=_nvlink_errors),
    *ECC,
    _retired("retired_pages_corrected", 0),
    _retired("retired_pages_uncorrected", 1),
    Call(fields=("retired_pages_pending",), read=_retired_pending),
    Call(
        fields=(
            "remapped_rows_corrected", "remapped_rows_uncorrected", "remapped_rows_pending", "remapped_rows_failed",
        ),
        read=_remapped,
    ),
)  # fmt: skip
"""What changes rarely, or (PCIe's throughput) takes the driver 20 ms to measure."""

OF_AN_INSTANCE = (MEMORY, *ECC)
"""What a MIG instance can be asked for."""
