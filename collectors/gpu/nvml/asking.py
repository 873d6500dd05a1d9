"""Own how a device is asked: one failing call costs its own fields, a lost device or driver ends the round."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from collectors.gpu.nvml.library import AWAY, LASTING, LOST, code_of, reason_of
from collectors.gpu.readings import Process, Reason

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from collectors.gpu.nvml.calls import Call
    from collectors.gpu.readings import Readings

_ASK_AGAIN_SECONDS = 60.0
_UNKNOWN_BYTES = 1 << 62


class DeviceLost(Exception):  # noqa: N818 - a state of the device, turned into rows and events
    """The device fell off the bus, or is of no use until it is reset."""


class DriverAway(Exception):  # noqa: N818 - a state of the driver, turned into events
    """The driver is not there any more, or another one is."""


def raise_if_gone(error: Exception) -> None:
    """Raise `DeviceLost` or `DriverAway` where an error of NVML means that."""
    code = code_of(error)
    if code in LOST:
        raise DeviceLost(str(error)) from error
    if code in AWAY:
        raise DriverAway(str(error)) from error


class Asking:
    """Ask one device; what it does not support is asked for again once a minute.

    before_call: called before every call of the library, so that somebody may see when one does not return.
    """

    def __init__(self, nvml: Any, handle: Any, *, before_call: Callable[[], None]) -> None:
        self._nvml = nvml
        self._handle = handle
        self._before_call = before_call
        self._refused: dict[int, tuple[float, str]] = {}

    def ask(self, calls: Iterable[Call], readings: Readings, *, now: float, is_mig: bool = False) -> None:
        """Make `calls` and keep their answers; `now` is monotonic, in seconds. Raises `DeviceLost` and `DriverAway`.

        `is_mig`: utilization that is refused is hidden by MIG, which is something else than an idle device.
        """
        for call in calls:
            known = self._refused.get(id(call))
            if known is not None and now < known[0]:
                readings.lack(known[1], *call.fields)
                continue
            self._before_call()
            try:
                call.read(self._nvml, self._handle, readings)
            except self._nvml.NVMLError as error:
                raise_if_gone(error)
                hidden = is_mig and "utilization_ratio" in call.fields
                reason = Reason.MIG if hidden else reason_of(error)
                readings.lack(reason, *call.fields)
                if code_of(error) in LASTING:
                    self._refused[id(call)] = now + _ASK_AGAIN_SECONDS, reason

    def processes(self, readings: Readings) -> None:
        """Ask which processes use the device; raises `DeviceLost` and `DriverAway`."""
        found: dict[int, Process] = {}
        unknown: list[Process] = []
        try:
            for each in self._running("Compute"):
                process = Process(pid=int(each.pid), used_bytes=_used(each.usedGpuMemory))
                if process.pid:
                    found[process.pid] = process
                else:
                    unknown.append(process)
            for each in self._running("Graphics"):
                if each.pid:
                    process = Process(pid=int(each.pid), used_bytes=_used(each.usedGpuMemory))
                    found.setdefault(process.pid, process)
        except self._nvml.NVMLError as error:
            raise_if_gone(error)
            if not found and not unknown:
                readings.lack(reason_of(error), "processes")
                return
        readings.processes = (*sorted(found.values(), key=lambda each: each.pid), *unknown)

    def _running(self, kind: str) -> list[Any]:
        self._before_call()
        for version in ("_v3", "_v2"):  # a driver has the later one, or both
            ask = getattr(self._nvml, f"nvmlDeviceGet{kind}RunningProcesses{version}")
            try:
                return list(ask(self._handle))
            except self._nvml.NVMLError_FunctionNotFound as error:
                missing = error
        raise missing


def _used(value: Any) -> int | None:
    """Return the memory of a process, None where the driver does not tell it."""
    return None if value is None or int(value) >= _UNKNOWN_BYTES else int(value)
