"""Own how the binding of NVML is loaded, and what its errors mean."""

from __future__ import annotations

from typing import Any

from collectors.gpu.readings import Reason
from fairclock.errors import UsageError

_UNINITIALIZED, _NOT_SUPPORTED, _NO_PERMISSION, _NOT_FOUND = 1, 3, 4, 6
_DRIVER_NOT_LOADED, _LIBRARY_NOT_FOUND, _FUNCTION_NOT_FOUND = 9, 12, 13
_GPU_IS_LOST, _RESET_REQUIRED, _LIB_RM_VERSION_MISMATCH = 15, 16, 18
_NO_DATA, _VGPU_ECC_NOT_SUPPORTED, _ARGUMENT_VERSION_MISMATCH, _DEPRECATED = 21, 22, 25, 26
_NOT_READY, _GPU_NOT_FOUND = 27, 28

LOST = frozenset({_GPU_IS_LOST, _RESET_REQUIRED, _GPU_NOT_FOUND})
"""The device is gone, or of no use until it is reset."""

AWAY = frozenset({_UNINITIALIZED, _DRIVER_NOT_LOADED, _LIBRARY_NOT_FOUND, _LIB_RM_VERSION_MISMATCH})
"""The driver is not there, or not the one that the library was initialised with."""

LASTING = frozenset({
    _NOT_SUPPORTED, _NO_PERMISSION, _FUNCTION_NOT_FOUND, _VGPU_ECC_NOT_SUPPORTED, _ARGUMENT_VERSION_MISMATCH,
    _DEPRECATED,
})  # fmt: skip
"""What was answered once will be answered for a good while."""

_REASONS = {
    **dict.fromkeys(LASTING, Reason.NOT_SUPPORTED),
    _NO_PERMISSION: Reason.NO_PERMISSION,
    _NO_DATA: Reason.NOT_AVAILABLE,
    _NOT_READY: Reason.NOT_AVAILABLE,
    _NOT_FOUND: Reason.NOT_AVAILABLE,
}
_REMEDIES = {
    _DRIVER_NOT_LOADED: "load the NVIDIA driver (modprobe nvidia), or see that the container has its devices",
    _LIBRARY_NOT_FOUND: "install the driver's library libnvidia-ml.so.1; in a container, start it with the "
    "NVIDIA runtime and NVIDIA_DRIVER_CAPABILITIES=utility",
    _LIB_RM_VERSION_MISMATCH: "the driver was updated while it ran: load it anew, or start the machine anew",
    _NO_PERMISSION: "let this user open /dev/nvidiactl and /dev/nvidia*",
}


def load_binding() -> Any:
    """Return the module of nvidia-ml-py; raises `UsageError` where it is not installed."""
    try:
        import pynvml  # noqa: PLC0415 - a sidecar without GPUs does not have it
    except ModuleNotFoundError as missing:
        raise UsageError(
            "gpu.source: nvml",
            "needs the Python package nvidia-ml-py, which is not installed",
            remedy="pip install 'fairclock[gpu]', or choose dcgm or nvidia-smi",
        ) from missing
    return pynvml


def code_of(error: Exception) -> int:
    """Return NVML's number of an error."""
    return int(getattr(error, "value", -1))


def reason_of(error: Exception) -> str:
    """Return why a field is null after this error."""
    code = code_of(error)
    return _REASONS.get(code, f"{Reason.FAILED}: {code}")


def sentence_of(error: Exception) -> str:
    """Return what an error says, and what to do about it where that is known."""
    remedy = _REMEDIES.get(code_of(error))
    return f"{error}; {remedy}" if remedy else str(error)


def text_of(value: Any) -> str:
    """Return a name, which some versions of the binding give as bytes."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
