"""Own NVML as a whole: initialised, its devices found again and again, each read by a thread, hangs noticed."""

from __future__ import annotations

import logging
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Any

from collectors.gpu.devices import State
from collectors.gpu.events import EventKind, GpuEvent
from collectors.gpu.nvml.asking import DeviceLost, DriverAway
from collectors.gpu.nvml.device import DeviceWorker
from collectors.gpu.nvml.identity import driver_version, gpu_of, uuid_of
from collectors.gpu.nvml.library import AWAY, code_of, sentence_of
from collectors.gpu.nvml.watching import EventWatch

if TYPE_CHECKING:
    from collections.abc import Callable

    from collectors.gpu.board import Board

_LOG = logging.getLogger(__name__)
_TURN_SECONDS = 0.5
_LOOK_FOR_DEVICES_SECONDS = 5.0
_JOIN_SECONDS = 1.0


class NvmlSource:
    """Read every GPU that NVML shows into `board`.

    Three kinds of threads call the library: this one (start, devices), one for events, one for each GPU. None of
    them waits for another, and whoever calls `watch` calls nothing of the library.
    """

    def __init__(
        self,
        nvml: Any,
        board: Board,
        *,
        host: str,
        samples_per_second: int,
        call_timeout: float,
        now_us: Callable[[], int],
        monotonic: Callable[[], float],
        look_for_devices_seconds: float = _LOOK_FOR_DEVICES_SECONDS,
    ) -> None:
        self._nvml = nvml
        self._board = board
        self._host = host
        self._samples_per_second = samples_per_second
        self._call_timeout = call_timeout
        self._now_us = now_us
        self._monotonic = monotonic
        self._look_for_devices_seconds = look_for_devices_seconds
        self._guard = Lock()
        self._workers: dict[str, DeviceWorker] = {}
        self._stuck: list[DeviceWorker] = []
        self._is_initialised = False
        self._was_away = False
        self._looks_at = 0.0
        self._problem = ""
        self._busy_since: float | None = None
        self._stop = Event()
        self.hung_calls = 0
        self.driver_losses = 0
        self._events = EventWatch(nvml, board, now_us=now_us, monotonic=monotonic)
        self._thread = Thread(target=self._run, name="gpu-nvml", daemon=True)

    def start(self) -> None:
        """Begin; where there is no driver yet, it is waited for."""
        self._thread.start()
        self._events.start()

    def stop(self) -> None:
        """End what can be ended; a call that hangs is left behind."""
        self._stop.set()
        self._events.ask_to_stop()
        with self._guard:
            workers = list(self._workers.values())
        for worker in workers:
            worker.ask_to_stop()
        threads = [worker for worker in workers if not worker.is_hung] + [self._events]
        ended = [each.join(_JOIN_SECONDS) for each in threads]
        self._thread.join(_JOIN_SECONDS)
        if (
            all(ended)
            and len(ended) == len(workers) + 1
            and not self._thread.is_alive()
            and self._is_initialised
        ):
            self._shut_down()

    @property
    def is_alive(self) -> bool:
        """Return whether the thread runs."""
        return self._thread.is_alive()

    def problem(self) -> str:
        """Return why no device can be read right now, or an empty text."""
        for name, since in (("", self._busy_since), (" for events", self._events.busy_since)):
            if since is not None and self._monotonic() - since > self._call_timeout + _TURN_SECONDS:
                return f"NVML does not answer{name}"
        return self._problem

    def watch(self) -> None:
        """Look which calls hang, and which have returned; call it every second."""
        now = self._monotonic()
        with self._guard:
            workers = list(self._workers.values())
        for worker in workers:
            since = worker.busy_since
            hangs = since is not None and now - since > self._call_timeout
            if hangs and not worker.is_hung:
                self.hung_calls += 1
                _LOG.error("GPU %s: a call has not returned for %.1f s", worker.gpu.uuid, self._call_timeout)
                self._tell(EventKind.HUNG, worker, f"a call has not returned for {self._call_timeout:g} s")
                self._board.set_state(worker.gpu.uuid, State.HUNG)
            elif worker.is_hung and not hangs:
                self._tell(EventKind.RETURNED, worker, "the call returned")
                self._board.set_state(worker.gpu.uuid, State.LOST if worker.is_lost else State.OK)
            worker.is_hung = hangs

    def _run(self) -> None:
        rest_seconds = 0.0
        while not self._stop.wait(rest_seconds):
            rest_seconds = _TURN_SECONDS
            self._busy_since = self._monotonic()
            try:
                self._turn()
            except (self._nvml.NVMLError, DriverAway) as error:
                if isinstance(error, DriverAway) or code_of(error) in AWAY:
                    self._lose_driver(sentence_of(error))
                else:
                    self._problem = sentence_of(error)
            except Exception as error:  # noqa: BLE001 - it is shown, and tried again
                _LOG.exception("GPUs could not be looked for, in an unexpected way")
                self._problem = f"in an unexpected way: {type(error).__name__}"
            finally:
                self._busy_since = None

    def _turn(self) -> None:
        away = next((worker.driver_away for worker in self._workers.values() if worker.driver_away), "")
        if away:
            self._lose_driver(away)
        now = self._monotonic()
        if now < self._looks_at:
            return
        self._looks_at = now + self._look_for_devices_seconds
        if not self._is_initialised:
            self._nvml.nvmlInit()
            self._is_initialised = True
            if self._was_away:
                self._tell(EventKind.DRIVER_BACK, None, driver_version(self._nvml))
        self._look_for_devices()
        self._problem = ""
        self._was_away = False

    def _look_for_devices(self) -> None:
        driver = driver_version(self._nvml)
        seen: set[str] = set()
        unreadable = 0
        for index in range(self._nvml.nvmlDeviceGetCount()):
            self._busy_since = self._monotonic()
            try:
                handle = self._nvml.nvmlDeviceGetHandleByIndex(index)
                uuid = uuid_of(self._nvml, handle)
                if uuid not in self._workers:
                    gpu = gpu_of(self._nvml, handle, index=index, host=self._host, driver=driver)
                    self._begin(handle, gpu)
                seen.add(uuid)
            except (self._nvml.NVMLError, DeviceLost) as error:  # the others are there all the same
                if code_of(error) in AWAY:
                    raise
                unreadable += 1
        for uuid, worker in list(self._workers.items()):
            # a lost device may be listed or not; it stays known until the driver is loaded anew
            if uuid not in seen and not worker.is_lost and not worker.is_hung and not unreadable:
                self._end(worker)
        self._events.watch({
            uuid: worker.handle for uuid, worker in self._workers.items() if not worker.is_lost and uuid in seen
        })  # fmt: skip

    def _begin(self, handle: Any, gpu: Any) -> None:
        worker = DeviceWorker(
            self._nvml, handle, gpu, self._board, samples_per_second=self._samples_per_second,
            now_us=self._now_us, monotonic=self._monotonic,
        )  # fmt: skip
        with self._guard:
            self._workers[gpu.uuid] = worker
        self._tell(EventKind.ADDED, worker, gpu.name)
        worker.start()

    def _end(self, worker: DeviceWorker) -> None:
        worker.ask_to_stop()
        worker.join(_JOIN_SECONDS)  # what it still writes would bring the device back
        with self._guard:
            del self._workers[worker.gpu.uuid]
        for gpu, _ in self._board.devices():
            if worker.gpu.uuid in (gpu.uuid, gpu.parent):
                self._board.forget(gpu.uuid)
        self._tell(EventKind.REMOVED, worker, worker.gpu.name)

    def _lose_driver(self, problem: str) -> None:
        self._problem = problem
        self._looks_at = self._monotonic() + self._look_for_devices_seconds
        if self._was_away:
            return
        self._was_away = True
        if not self._is_initialised:
            return
        self.driver_losses += 1
        _LOG.error("the NVIDIA driver is away: %s", problem)
        self._events.watch({})
        with self._guard:
            workers, self._workers = list(self._workers.values()), {}
        for worker in workers:
            worker.ask_to_stop()
            self._board.set_state(worker.gpu.uuid, State.UNREACHABLE)
        self._tell(EventKind.DRIVER_AWAY, None, problem)
        self._stuck = [each for each in (*self._stuck, *workers) if not each.join(_JOIN_SECONDS)]
        if self._events.rests(_JOIN_SECONDS) and not self._stuck:
            self._shut_down()
        self._is_initialised = False

    def _shut_down(self) -> None:
        try:
            self._nvml.nvmlShutdown()
        except self._nvml.NVMLError as error:
            _LOG.debug("NVML was not shut down: %s", error)

    def _tell(self, kind: EventKind, worker: DeviceWorker | None, detail: str) -> None:
        self._board.tell(
            GpuEvent(
                kind=kind, at_us=self._now_us(), gpu="" if worker is None else worker.gpu.uuid, detail=detail,
            )
        )  # fmt: skip
