"""Own how a device and its MIG instances are known: UUID, name, place on the bus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from collectors.gpu.devices import Gpu
from collectors.gpu.nvml.asking import raise_if_gone
from collectors.gpu.nvml.library import text_of

if TYPE_CHECKING:
    from collections.abc import Callable

_MIB_PER_GB = 1000  # nvidia-smi's own rounding: 1g.10gb has 9,728 MiB
_NO_INSTANCE = 0xFFFFFFFF


def uuid_of(nvml: Any, handle: Any) -> str:
    """Return the UUID of a device."""
    return text_of(nvml.nvmlDeviceGetUUID(handle))


def gpu_of(nvml: Any, handle: Any, *, index: int | None, host: str, driver: str) -> Gpu:
    """Return what a handle stands for; raises NVML's error where it has no UUID."""
    return Gpu(
        uuid=uuid_of(nvml, handle),
        host=host,
        index=index,
        name=_or_empty(nvml, lambda: text_of(nvml.nvmlDeviceGetName(handle))),
        bus=_or_empty(nvml, lambda: text_of(nvml.nvmlDeviceGetPciInfo(handle).busId)),
        driver=driver,
    )


def driver_version(nvml: Any) -> str:
    """Return the version of the driver."""
    return _or_empty(nvml, lambda: text_of(nvml.nvmlSystemGetDriverVersion()))


def is_mig(nvml: Any, handle: Any) -> bool:
    """Return whether a GPU is in MIG mode; raises `DeviceLost` and `DriverAway`."""
    try:
        return bool(nvml.nvmlDeviceGetMigMode(handle)[0])
    except nvml.NVMLError as error:
        raise_if_gone(error)
        return False


def instances_of(nvml: Any, handle: Any, gpu: Gpu) -> list[tuple[Any, Gpu]]:
    """Return the MIG instances of a GPU in MIG mode: handle and identity; raises `DeviceLost` and `DriverAway`."""
    try:
        most = nvml.nvmlDeviceGetMaxMigDeviceCount(handle)
    except nvml.NVMLError as error:
        raise_if_gone(error)
        return []
    found = []
    for number in range(most):
        try:
            instance = nvml.nvmlDeviceGetMigDeviceHandleByIndex(handle, number)
            found.append((instance, _instance(nvml, instance, gpu)))
        except nvml.NVMLError as error:  # this number is not taken, or was taken away just now
            raise_if_gone(error)
    return found


def _instance(nvml: Any, handle: Any, gpu: Gpu) -> Gpu:
    return Gpu(
        uuid=uuid_of(nvml, handle),
        host=gpu.host,
        parent=gpu.uuid,
        index=gpu.index,
        gpu_instance=_number(nvml, lambda: nvml.nvmlDeviceGetGpuInstanceId(handle)),
        compute_instance=_number(nvml, lambda: nvml.nvmlDeviceGetComputeInstanceId(handle)),
        name=gpu.name,
        bus=gpu.bus,
        driver=gpu.driver,
        profile=_or_empty(nvml, lambda: _profile(nvml.nvmlDeviceGetAttributes(handle))),
        is_simulated=gpu.is_simulated,
    )


def _profile(attributes: Any) -> str:
    slices, memory_gb = attributes.gpuInstanceSliceCount, round(attributes.memorySizeMB / _MIB_PER_GB)
    compute = attributes.computeInstanceSliceCount
    part = "" if compute == slices else f"{compute}c."
    return f"{part}{slices}g.{memory_gb}gb"


def _or_empty(nvml: Any, read: Callable[[], str]) -> str:
    try:
        return read()
    except nvml.NVMLError as error:
        raise_if_gone(error)
        return ""


def _number(nvml: Any, read: Callable[[], int]) -> int | None:
    try:
        number = int(read())
    except nvml.NVMLError as error:
        raise_if_gone(error)
        return None
    return None if number == _NO_INSTANCE else number
