"""Own the program nvidia-smi, run in a loop and read line by line; one that ends is run again."""

from __future__ import annotations

import logging
import os
import re
import subprocess
from threading import Event, Thread
from typing import IO, TYPE_CHECKING

from collectors.gpu.devices import State
from collectors.gpu.events import EventKind, GpuEvent
from collectors.gpu.nvidia_smi.columns import QUERY
from collectors.gpu.nvidia_smi.rows import Look, SmiStream, Unreadable

if TYPE_CHECKING:
    from collections.abc import Callable

    from collectors.gpu.board import Board
    from collectors.gpu.devices import Gpu

_LOG = logging.getLogger(__name__)
_REST_SECONDS = 5.0
_LONGEST_LINE = 64 << 10
_UNKNOWN_FIELD = re.compile(r'Field "([^"]*)" is not a valid field')
_NEEDED = frozenset({"uuid"})


class NvidiaSmiSource:
    """Write what the program prints on `board`."""

    driver_losses = 0

    def __init__(
        self,
        board: Board,
        *,
        command: str,
        host: str,
        samples_per_second: int,
        call_timeout: float,
        now_us: Callable[[], int],
        monotonic: Callable[[], float],
        rest_seconds: float = _REST_SECONDS,
    ) -> None:
        self._board = board
        self._command = command
        self._columns = list(QUERY)
        self._options = ("--format=csv", f"-lms={1000 // samples_per_second}")
        self._host = host
        self._call_timeout = call_timeout
        self._interval_seconds = 1 / samples_per_second
        self._now_us = now_us
        self._monotonic = monotonic
        self._rest_seconds = rest_seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._heard_at = monotonic()
        self._problem = ""
        self._is_silent = False
        self._heard: dict[str, float] = {}
        self._stop = Event()
        self.hung_calls = 0
        self._thread = Thread(target=self._run, name="gpu-nvidia-smi", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End the program and the thread."""
        self._stop.set()
        self._kill()
        self._thread.join(self._call_timeout)

    @property
    def is_alive(self) -> bool:
        """Return whether the thread runs."""
        return self._thread.is_alive()

    def problem(self) -> str:
        """Return why nothing can be read right now, or an empty text."""
        return self._problem

    def watch(self) -> None:
        """End a program that prints nothing any more; it is run again."""
        silent = self._monotonic() - self._heard_at
        is_silent = self._process is not None and silent > self._call_timeout + self._interval_seconds
        if is_silent and not self._is_silent:
            self.hung_calls += 1
            self._set_states(State.HUNG, EventKind.HUNG, f"it has printed nothing for {silent:.0f} s")
            self._kill()
        self._is_silent = is_silent
        if not is_silent:
            self._miss()

    def _miss(self) -> None:
        """Note which devices the program has left out for a while."""
        now = self._monotonic()
        for gpu, state in self._board.devices():
            silent = now - self._heard.get(gpu.uuid, now)
            if state is State.OK and silent > self._call_timeout + self._interval_seconds:
                self._lose(gpu, f"it has been left out for {silent:.0f} s")

    def _lose(self, gpu: Gpu, detail: str) -> None:
        self._board.set_state(gpu.uuid, State.LOST)
        self._board.tell(GpuEvent(kind=EventKind.LOST, at_us=self._now_us(), gpu=gpu.uuid, detail=detail))

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self._listen()
            except OSError as error:
                self._problem = f"{self._command} cannot be run: {error.strerror}"
            if not self._stop.is_set():
                if not self._problem:
                    self._problem = f"{self._command} has ended"
                self._set_states(State.UNREACHABLE, EventKind.DRIVER_AWAY, self._problem)
                self._stop.wait(self._rest_seconds)

    def _listen(self) -> None:
        # its times name no zone, and lines are stamped when they come; the zone is set all the same
        environment = {**os.environ, "TZ": "UTC", "LC_ALL": "C"}
        self._heard_at = self._monotonic()
        with subprocess.Popen(
            [self._command, f"--query-gpu={','.join(self._columns)}", *self._options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
            env=environment,
        ) as process:  # fmt: skip
            self._process = process
            try:
                assert process.stdout is not None  # noqa: S101 - it is a pipe
                if not self._stop.is_set():
                    self._read(process.stdout)
            finally:
                self._kill()
                self._process = None

    def _read(self, output: IO[bytes]) -> None:
        stream = SmiStream(host=self._host, zone=None)
        while line := output.readline(_LONGEST_LINE):
            self._heard_at = self._monotonic()
            said = stream.read(line.decode("utf-8", "replace"))
            if isinstance(said, Look):
                self._keep(said)
            elif isinstance(said, Unreadable):
                self._leave_out(said.text)
                if said.text[:200] not in self._problem:
                    _LOG.warning("%s: %s: %s", self._command, said.reason, said.text[:200])
                self._problem = said.text[:200]
                for gpu, state in self._board.devices():
                    if gpu.bus and _bus_in(gpu.bus, said.text) and state is not State.LOST:
                        self._lose(gpu, said.text[:200])

    def _leave_out(self, text: str) -> None:
        """Ask no more for a column that this driver does not know: it would answer nothing else."""
        unknown = _UNKNOWN_FIELD.search(text)
        if unknown is not None and unknown[1] in self._columns and unknown[1] not in _NEEDED:
            self._columns.remove(unknown[1])

    def _keep(self, look: Look) -> None:
        self._problem = ""
        now_us = self._now_us()
        is_new = look.gpu.uuid not in self._heard
        self._heard[look.gpu.uuid] = self._monotonic()
        if is_new:
            self._board.tell(
                GpuEvent(kind=EventKind.ADDED, at_us=now_us, gpu=look.gpu.uuid, detail=look.gpu.name)
            )
        self._board.see(look.gpu)
        self._board.set_state(look.gpu.uuid, State.OK)
        self._board.add(look.gpu, now_us, look.readings)

    def _set_states(self, state: State, kind: EventKind, detail: str) -> None:
        changed = [gpu for gpu, before in self._board.devices() if before is not state]
        if changed or not self._board.devices():
            self._board.tell(GpuEvent(kind=kind, at_us=self._now_us(), detail=detail))
        for gpu in changed:
            self._board.set_state(gpu.uuid, state)

    def _kill(self) -> None:
        process = self._process
        if process is not None:
            process.kill()


def _bus_in(bus: str, text: str) -> bool:
    """Return whether a message names the place of a GPU, whose domain has four digits there and eight here."""
    return bus.lower()[-len("0000:00:00.0") :] in text.lower()
