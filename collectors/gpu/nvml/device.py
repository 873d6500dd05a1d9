"""Own the thread that reads one GPU and its MIG instances, again and again, and survives that it is lost."""

from __future__ import annotations

import logging
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

from collectors.gpu.devices import State
from collectors.gpu.events import EventKind, GpuEvent
from collectors.gpu.nvml.asking import Asking, DeviceLost, DriverAway, raise_if_gone
from collectors.gpu.nvml.calls import OF_AN_INSTANCE, OFTEN, ONCE_A_SECOND
from collectors.gpu.nvml.identity import instances_of, is_mig
from collectors.gpu.readings import Readings, Reason

if TYPE_CHECKING:
    from collections.abc import Callable

    from collectors.gpu.board import Board
    from collectors.gpu.devices import Gpu

_LOG = logging.getLogger(__name__)
_US_PER_SECOND = 1_000_000
_LOOK_FOR_LOST_SECONDS = 5.0


class DeviceWorker:
    """Read one GPU into `board` until `stop`; a call that hangs holds up this thread and no other.

    busy_since: when the call began that is running now, on the monotonic clock, or None.
    driver_away: what was said when the driver was found to be gone; the thread has ended then.
    """

    def __init__(
        self,
        nvml: Any,
        handle: Any,
        gpu: Gpu,
        board: Board,
        *,
        samples_per_second: int,
        now_us: Callable[[], int],
        monotonic: Callable[[], float],
    ) -> None:
        self.gpu = gpu
        self.handle = handle
        self.busy_since: float | None = None
        self.driver_away = ""
        self.is_lost = False
        self.is_hung = False
        self._nvml = nvml
        self._board = board
        self._interval_seconds = 1 / samples_per_second
        self._now_us = now_us
        self._monotonic = monotonic
        self._asking = self._asking_of(handle)
        self._instances: dict[str, Asking] | None = None
        self._is_mig = False
        self._second = -1
        self._looks_at = 0.0
        self._stop = Event()
        self._thread = Thread(target=self._run, name=f"gpu-{gpu.index}", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._board.see(self.gpu)
        self._board.set_state(self.gpu.uuid, State.OK)
        self._thread.start()

    def ask_to_stop(self) -> None:
        """Let the thread end once its call returns."""
        self._stop.set()

    def join(self, seconds: float) -> bool:
        """Wait for the end; return whether it has come."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _asking_of(self, handle: Any) -> Asking:
        return Asking(self._nvml, handle, before_call=self._beat)

    def _beat(self) -> None:
        self.busy_since = self._monotonic()

    def _run(self) -> None:
        due = self._monotonic()
        while not self._stop.wait(max(0.0, due - self._monotonic())):
            # what was missed is not made up for: a burst of looks says nothing about the time before
            due = max(due + self._interval_seconds, self._monotonic())
            self._beat()
            try:
                self._look()
            except DeviceLost as problem:
                self._lose(str(problem))
            except DriverAway as problem:
                self.driver_away = str(problem)
                return
            except Exception:  # noqa: BLE001 - one device's trouble ends no other's readings
                _LOG.exception("GPU %s could not be read, in an unexpected way", self.gpu.uuid)
                self._stop.wait(1.0)
            finally:
                self.busy_since = None

    def _look(self) -> None:
        now = self._monotonic()
        if self.is_lost:
            if now < self._looks_at:
                return
            self._looks_at = now + _LOOK_FOR_LOST_SECONDS
            self._find_again()
        readings = Readings()
        second = self._now_us() // _US_PER_SECOND
        is_new_second, self._second = second != self._second, second
        if is_new_second:
            self._beat()
            self._is_mig = is_mig(self._nvml, self.handle)
        self._asking.ask(OFTEN, readings, now=now, is_mig=self._is_mig)
        if is_new_second:
            self._asking.ask(ONCE_A_SECOND, readings, now=now)
            self._asking.processes(readings)
        if self._stop.is_set():
            return  # taken away meanwhile: a call that hung is no sign of it
        if self.is_lost:
            self.is_lost = False
            self._board.set_state(self.gpu.uuid, State.OK)
            self._tell(EventKind.RETURNED)
        self._board.add(self.gpu, self._now_us(), readings)
        if is_new_second:
            self._look_at_instances(now)

    def _look_at_instances(self, now: float) -> None:
        self._beat()
        found = instances_of(self._nvml, self.handle, self.gpu) if self._is_mig else []
        known, self._instances = self._instances, {}
        for handle, gpu in found:
            asking = (known or {}).get(gpu.uuid) or self._asking_of(handle)
            self._instances[gpu.uuid] = asking
            readings = Readings()
            readings.lack(Reason.MIG, "utilization_ratio", "memory_utilization_ratio")
            asking.ask(OF_AN_INSTANCE, readings, now=now)
            asking.processes(readings)
            if self._stop.is_set():
                return
            self._board.see(gpu)
            self._board.add(gpu, self._now_us(), readings)
        if known is not None and known.keys() != self._instances.keys():
            for uuid in known.keys() - self._instances.keys():
                self._board.forget(uuid)
            self._tell(
                EventKind.MIG_CHANGED,
                f"{len(known)} MIG instances before, {len(self._instances)} now",
                count=len(self._instances),
            )

    def _find_again(self) -> None:
        self._beat()
        try:
            self.handle = self._nvml.nvmlDeviceGetHandleByUUID(self.gpu.uuid.encode())
        except self._nvml.NVMLError as error:
            raise_if_gone(error)
            raise DeviceLost(str(error)) from error
        self._asking = self._asking_of(self.handle)
        self._instances = None if self._instances is None else {}

    def _lose(self, problem: str) -> None:
        if not self.is_lost:
            self.is_lost = True
            self._looks_at = self._monotonic() + _LOOK_FOR_LOST_SECONDS
            _LOG.error("GPU %s (%s) is lost: %s", self.gpu.uuid, self.gpu.bus, problem)
            self._board.set_state(self.gpu.uuid, State.LOST)
            self._tell(EventKind.LOST, problem)

    def _tell(self, kind: EventKind, detail: str = "", count: int | None = None) -> None:
        self._board.tell(
            GpuEvent(kind=kind, at_us=self._now_us(), gpu=self.gpu.uuid, detail=detail, count=count)
        )
