"""Own invented GPUs, to try dashboards with where there is none; every row of them says that it is simulated."""

from __future__ import annotations

import math
from threading import Event, Thread
from typing import TYPE_CHECKING

from collectors.gpu.devices import Gpu
from collectors.gpu.events import EventKind, GpuEvent
from collectors.gpu.readings import Process, Readings

if TYPE_CHECKING:
    from collections.abc import Callable

    from collectors.gpu.board import Board

_US_PER_SECOND = 1_000_000
_GIB = 1 << 30
_TOTAL_BYTES = 80 * _GIB
_RESERVED_BYTES = _GIB // 2
_WEIGHTS_BYTES = 36 * _GIB
_CACHE_BYTES = 40 * _GIB
_PERIOD_SECONDS = 180
_XID_EVERY_SECONDS = 600
_POWER_CAP = 1 << 2
_HOT_LOAD = 0.96


def simulated_gpu(index: int, host: str) -> Gpu:
    """Return the invented GPU with this number."""
    return Gpu(
        uuid=f"GPU-5151ca7e-0000-4000-8000-{index:012d}", host=host, index=index, name="Simulated 80GB GPU",
        bus=f"00000000:{index + 1:02X}:00.0", driver="simulated", is_simulated=True,
    )  # fmt: skip


def load_at(index: int, at_us: int) -> float:
    """Return how busy a GPU is, 0 to 1: waves of three minutes with a ripple, no two GPUs in step."""
    turn = (at_us / _US_PER_SECOND) / _PERIOD_SECONDS + index / 3
    wave = 0.55 + 0.4 * math.sin(2 * math.pi * turn)
    ripple = 0.06 * math.sin(2 * math.pi * turn * 37)
    return min(max(wave + ripple, 0.0), 1.0)


def readings_at(index: int, at_us: int) -> Readings:
    """Return what an invented GPU shows: the same for the same instant."""
    load = load_at(index, at_us)
    used = int(_WEIGHTS_BYTES + _CACHE_BYTES * load)
    readings = Readings(processes=(Process(pid=4000 + index, used_bytes=used),))
    for name, value in {
        "utilization_ratio": load,
        "memory_utilization_ratio": 0.7 * load,
        "engine_active_ratio": 0.95 * load,
        "memory_used_bytes": used,
        "memory_reserved_bytes": _RESERVED_BYTES,
        "memory_free_bytes": _TOTAL_BYTES - _RESERVED_BYTES - used,
        "memory_total_bytes": _TOTAL_BYTES,
        "power_milliwatts": 90_000 + 600_000 * load,
        "power_limit_milliwatts": 700_000,
        "temperature_celsius": 35 + 40 * load,
        "memory_temperature_celsius": 40 + 45 * load,
        "sm_clock_mhz": 1980 - 200 * load,
        "memory_clock_mhz": 2619,
        "throttle_reasons": _POWER_CAP if load > _HOT_LOAD else 0,
        "performance_state": 0,
        "pcie_generation": 5,
        "pcie_width": 16,
        "pcie_sent_bytes_per_second": 2e9 * load,
        "pcie_received_bytes_per_second": 3e9 * load,
        "pcie_replays": 0,
        "nvlinks_active": 18,
        "nvlinks_inactive": 0,
        "ecc_corrected_volatile": 0,
        "ecc_uncorrected_volatile": 0,
    }.items():
        readings.take(name, value)
    return readings


class DemoSource:
    """Write invented GPUs on `board`."""

    hung_calls = 0
    driver_losses = 0

    def __init__(
        self, board: Board, *, host: str, gpus: int, samples_per_second: int, now_us: Callable[[], int]
    ) -> None:
        self._board = board
        self._gpus = [simulated_gpu(index, host) for index in range(gpus)]
        self._interval_seconds = 1 / samples_per_second
        self._now_us = now_us
        self._last_second = now_us() // _US_PER_SECOND
        self._stop = Event()
        self._thread = Thread(target=self._run, name="gpu-demo", daemon=True)

    def start(self) -> None:
        """Begin."""
        for gpu in self._gpus:
            self._board.see(gpu)
        self._thread.start()

    def stop(self) -> None:
        """End."""
        self._stop.set()
        self._thread.join()

    @property
    def is_alive(self) -> bool:
        """Return whether the thread runs."""
        return self._thread.is_alive()

    def watch(self) -> None:
        """Nothing of it can hang."""

    def problem(self) -> str:
        """Return nothing: it is always there."""
        return ""

    def _run(self) -> None:
        while not self._stop.wait(self._interval_seconds):
            now_us = self._now_us()
            for index, gpu in enumerate(self._gpus):
                self._board.add(gpu, now_us, readings_at(index, now_us))
            second = now_us // _US_PER_SECOND
            if second // _XID_EVERY_SECONDS != self._last_second // _XID_EVERY_SECONDS:
                gpu = self._gpus[second // _XID_EVERY_SECONDS % len(self._gpus)]
                self._board.tell(
                    GpuEvent(
                        kind=EventKind.XID, at_us=now_us, gpu=gpu.uuid, code=31, detail="invented",
                        is_simulated=True,
                    )
                )  # fmt: skip
            self._last_second = second
