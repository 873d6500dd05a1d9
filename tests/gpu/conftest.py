"""The stand-in for the driver's library, compiled here and loaded by the real binding; what runs on it."""

from __future__ import annotations

import ctypes
import json
import subprocess
import time
from pathlib import Path

import pytest

from collectors.gpu.board import Board

SOURCE = Path(__file__).with_name("standin.c")
GPU_0 = "GPU-00000000-aaaa-4000-8000-000000000000"
GPU_1 = "GPU-11111111-bbbb-4000-8000-000000000001"
GPU_2 = "GPU-22222222-cccc-4000-8000-000000000002"
MIG_0 = "MIG-33333333-dddd-4000-8000-000000000003"
MIG_1 = "MIG-44444444-eeee-4000-8000-000000000004"


_FASTER = 5
_STARTED_NS = time.time_ns()


def now_us() -> int:
    """A clock whose seconds are short, so that no test waits for whole ones."""
    return (_STARTED_NS + _FASTER * (time.time_ns() - _STARTED_NS)) // 1_000


class Ahead:
    """A monotonic clock that a test can put on."""

    def __init__(self):
        self.seconds = 0.0

    def __call__(self):
        return time.monotonic() + self.seconds


def eventually(condition, *, seconds=120.0, what="it"):
    """Wait for `condition` to hold and return what it returned."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.01)
    pytest.fail(f"{what} did not come within {seconds} s")


@pytest.fixture(scope="session")
def library(tmp_path_factory) -> Path:
    """The compiled library, under the name by which it is looked for."""
    path = tmp_path_factory.mktemp("nvml") / "libnvidia-ml.so.1"
    subprocess.run(
        [
            "gcc", "-O1", "-Wall", "-Werror", "-shared", "-fPIC", "-nostdlib", "-Wl,-soname,libnvidia-ml.so.1",
            "-o", str(path), str(SOURCE),
        ],
        check=True, timeout=120,
    )  # fmt: skip
    return path


@pytest.fixture(scope="session")
def loaded(library):
    """The library in this process: whoever asks for libnvidia-ml.so.1 from now on gets it."""
    loaded = ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)
    for name in ("throttle", "corrected", "energy"):
        getattr(loaded, f"standin_{name}").argtypes = [ctypes.c_ulonglong]
    return loaded


@pytest.fixture
def standin(loaded):
    """The hands of a test on the library."""
    loaded.standin_reset()
    yield loaded
    loaded.standin_reset()


@pytest.fixture
def nvml(standin):
    """The real binding, on the stand-in."""
    import pynvml

    return pynvml


def board(*, collector="nvml", is_steady=True) -> Board:
    return Board(collector=collector, host="node", is_steady=is_steady)


class Told:
    """What a board told, sorted into rows and events as they come."""

    def __init__(self, board: Board) -> None:
        self.board = board
        self.next_second = now_us() // 1_000_000
        self.rows: list[dict] = []
        self.events: list[dict] = []

    def take(self) -> Told:
        """Close every second that is over."""
        start, self.next_second = self.next_second, now_us() // 1_000_000
        for line in self.board.close(range(start, self.next_second)):
            said = json.loads(line)
            (self.events if "event" in said else self.rows).append(said)
        return self

    def of(self, gpu: str) -> list[dict]:
        return [row for row in self.take().rows if row["gpu"] == gpu]

    def kinds(self, gpu: str | None = None) -> list[str]:
        return [event["event"] for event in self.take().events if gpu is None or event["gpu"] == gpu]
