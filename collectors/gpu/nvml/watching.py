"""Own the events that NVML tells by itself: every XID, each of them, and what else is critical."""

from __future__ import annotations

import ctypes
import logging
from dataclasses import dataclass
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Any

from collectors.gpu.events import EventKind, GpuEvent

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from collectors.gpu.board import Board

_LOG = logging.getLogger(__name__)
_WAIT_MILLISECONDS = 500
_REST_SECONDS = 1.0
_NO_INSTANCE = 0xFFFFFFFF
_XID, _MIG = 0x8, 0x100
_KINDS = {
    0x1: EventKind.ECC_CORRECTED,
    0x2: EventKind.ECC_UNCORRECTED,
    _XID: EventKind.XID,
    _MIG: EventKind.MIG_CHANGED,
    0x200: EventKind.ECC_CORRECTED,
    0x400: EventKind.PAGES_RETIRED,
    0x800: EventKind.REMAP_FAILED,
    0x1000: EventKind.POISON,
    0x2000: EventKind.POISON,
    0x4000: EventKind.LOST,
    0x8000: EventKind.RECOVERY_ACTION,
}
_NAMES = {
    0x1: "single-bit error", 0x2: "double-bit error", 0x200: "storm of single-bit errors",
    0x400: "memory retired", 0x800: "memory could not be retired", 0x1000: "poison, not fatal",
    0x2000: "poison, fatal", 0x4000: "GPU unavailable", 0x8000: "recovery action",
}  # fmt: skip
_WANTED = sum(_KINDS)
"""Not the changes of clocks and performance states, which come by the thousand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Watched:
    handles: Mapping[str, Any]
    """By UUID."""

    number: int = 0


class EventWatch:
    """Wait for events of the devices that `watch` names, in a thread of its own, until `stop`."""

    def __init__(
        self, nvml: Any, board: Board, *, now_us: Callable[[], int], monotonic: Callable[[], float]
    ) -> None:
        self._nvml = nvml
        self._board = board
        self._now_us = now_us
        self._monotonic = monotonic
        self._guard = Lock()
        self._watched = _Watched(handles={})
        self._stop = Event()
        self._rests = Event()
        self._rests.set()
        self.busy_since: float | None = None
        self._thread = Thread(target=self._run, name="gpu-events", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def ask_to_stop(self) -> None:
        """Let the thread end once its wait is over."""
        self._stop.set()

    def join(self, seconds: float) -> bool:
        """Wait for the end; return whether it has come."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def rests(self, seconds: float) -> bool:
        """Wait until the library is called no more, after `watch` was given no device; return whether it is so."""
        return self._rests.wait(seconds)

    def watch(self, handles: Mapping[str, Any]) -> None:
        """Wait for events of these devices from now on."""
        with self._guard:
            if handles.keys() != self._watched.handles.keys() or any(
                address_of(handle) != address_of(self._watched.handles[uuid])
                for uuid, handle in handles.items()
            ):
                self._watched = _Watched(handles=dict(handles), number=self._watched.number + 1)

    def _run(self) -> None:
        while not self._stop.is_set():
            with self._guard:
                watched = self._watched
                if watched.handles:
                    self._rests.clear()
            if not watched.handles:
                self._stop.wait(_REST_SECONDS / 2)
                continue
            try:
                self._wait_for(watched)
            except self._nvml.NVMLError as error:
                _LOG.warning("events of GPUs are waited for again in %.0f s: %s", _REST_SECONDS, error)
                self._stop.wait(_REST_SECONDS)
            finally:
                self.busy_since = None
                self._rests.set()

    def _wait_for(self, watched: _Watched) -> None:
        self.busy_since = self._monotonic()
        events = self._nvml.nvmlEventSetCreate()
        try:
            for uuid, handle in watched.handles.items():
                self._register(uuid, handle, events)
            while not self._stop.is_set() and watched is self._watched:
                self.busy_since = self._monotonic()
                try:
                    data = self._nvml.nvmlEventSetWait(events, _WAIT_MILLISECONDS)
                except self._nvml.NVMLError_Timeout:
                    continue
                self._tell(watched, data)
        finally:
            self._nvml.nvmlEventSetFree(events)

    def _register(self, uuid: str, handle: Any, events: Any) -> None:
        self.busy_since = self._monotonic()
        try:
            supported = self._nvml.nvmlDeviceGetSupportedEventTypes(handle)
            if supported & _WANTED:
                self._nvml.nvmlDeviceRegisterEvents(handle, supported & _WANTED, events)
        except self._nvml.NVMLError as error:  # it has none, or is lost: the others are watched all the same
            _LOG.warning("GPU %s tells no events: %s", uuid, error)

    def _tell(self, watched: _Watched, data: Any) -> None:
        address = address_of(data.device)
        uuid = next((uuid for uuid, handle in watched.handles.items() if address_of(handle) == address), "")
        kind = _KINDS.get(data.eventType, EventKind.OTHER)
        code = int(data.eventData)
        self._board.tell(
            GpuEvent(
                kind=kind,
                at_us=self._now_us(),
                gpu=uuid,
                gpu_instance=_instance(data.gpuInstanceId),
                compute_instance=_instance(data.computeInstanceId),
                code=code if code < 1 << 63 else None,
                detail=_NAMES.get(
                    data.eventType, "" if kind is EventKind.XID else f"event {data.eventType:#x}"
                ),
            )
        )


def address_of(handle: Any) -> int:
    """Return what tells one handle of a device from another."""
    return ctypes.cast(handle, ctypes.c_void_p).value or 0


def _instance(number: int) -> int | None:
    return None if number == _NO_INSTANCE else int(number)
