"""Own the collector of GPUs: one second after the other is closed, told, and kept until it is delivered."""

from __future__ import annotations

import logging
import uuid
from collections import deque
from threading import Event, Thread
from typing import TYPE_CHECKING, Protocol, Self

from collectors.gpu.devices import State
from collectors.gpu.events import EventKind, GpuEvent
from collectors.gpu.lines import FORMAT
from collectors.gpu.statistics import GpuStatistics
from fairclock.errors import SpoolError, StoreError
from fairclock.model import Frame

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType

    from collectors.gpu.board import Board

_LOG = logging.getLogger(__name__)
_US_PER_SECOND = 1_000_000
_GRACE_US = 200_000
_TURN_SECONDS = 0.25
_LIMIT_BYTES = 8 << 20
_MOST_SECONDS_AT_ONCE = 60
_SETTLING_SECONDS = 10
"""A driver that is loaded by the first who asks for it takes its time."""


class GpuSource(Protocol):
    """What writes on a board."""

    hung_calls: int
    driver_losses: int

    @property
    def is_alive(self) -> bool:
        """Return whether it goes on."""
        ...

    def start(self) -> None:
        """Begin."""
        ...

    def stop(self) -> None:
        """End."""
        ...

    def watch(self) -> None:
        """Look after itself; called several times a second."""
        ...

    def problem(self) -> str:
        """Return why nothing can be read right now, or an empty text."""
        ...


class GpuCollector:
    """Deliver what `source` writes on `board`, from ``with`` to its end.

    expect: how many GPUs there should be. What ends the thread is kept in `failure`.
    """

    def __init__(
        self,
        source: GpuSource,
        board: Board,
        deliver: Callable[[Sequence[Frame]], object],
        *,
        name: str,
        expect: int,
        now_us: Callable[[], int],
        limit_bytes: int = _LIMIT_BYTES,
        settling_seconds: int = _SETTLING_SECONDS,
    ) -> None:
        self._source = source
        self._board = board
        self._deliver = deliver
        self._name = name
        self._expect = expect
        self._now_us = now_us
        self._limit_bytes = limit_bytes
        self._settling_seconds = settling_seconds
        self._judges_from_us = 0
        self._generation = uuid.uuid4().hex
        self._offset = 0
        self._pending: deque[Frame] = deque()
        self._pending_bytes = 0
        self._next_second = 0
        self._has_too_few = False
        self._lines = self._dropped = 0
        self._paused = ""
        self._stop = Event()
        self.failure: Exception | None = None
        self._thread = Thread(target=self._run, name="gpu-collector", daemon=True)

    def __enter__(self) -> Self:
        """Start."""
        now_us = self._now_us()
        self._next_second = now_us // _US_PER_SECOND
        self._judges_from_us = now_us + self._settling_seconds * _US_PER_SECOND
        self._source.start()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop, and deliver what is there."""
        self._stop.set()
        self._thread.join()
        self._source.stop()

    @property
    def is_alive(self) -> bool:
        """Return whether it goes on."""
        return self._thread.is_alive() and self._source.is_alive

    def problem(self) -> str:
        """Return what keeps GPUs from being measured as they should be, or an empty text."""
        visible = self._board.visible()
        if visible < self._expect:
            found = f"{visible} of {self._expect} expected GPUs are visible"
            problem = self._source.problem()
            return f"{found}: {problem}" if problem else found
        return self._source.problem()

    def statistics(self) -> GpuStatistics:
        """Return the counts and the state right now."""
        devices = self._board.devices()
        states = [state for gpu, state in devices if not gpu.is_instance]
        return GpuStatistics(
            expected=self._expect,
            visible=states.count(State.OK),
            instances=len(devices) - len(states),
            lost=states.count(State.LOST),
            hung=states.count(State.HUNG),
            samples=self._board.samples,
            lines=self._lines,
            dropped=self._dropped + self._board.dropped_events,
            hung_calls=self._source.hung_calls,
            driver_losses=self._source.driver_losses,
            problem=self.problem() or self._paused,
        )

    def _run(self) -> None:
        try:
            while not self._stop.wait(_TURN_SECONDS):
                self._turn()
            self._turn(is_last=True)
        except Exception as failure:  # noqa: BLE001 - kept for whoever runs this
            self.failure = failure
            _LOG.exception("GPUs can no longer be measured")

    def _turn(self, *, is_last: bool = False) -> None:
        self._source.watch()
        now_us = self._now_us()
        end = (now_us if is_last else now_us - _GRACE_US) // _US_PER_SECOND
        if end < self._next_second - _MOST_SECONDS_AT_ONCE:  # the clock was set back
            self._next_second = end
        if end > self._next_second:
            self._count(now_us)
            # a machine that slept has not been measured meanwhile: its seconds are no rows, and not covered
            start = max(self._next_second, end - _MOST_SECONDS_AT_ONCE)
            self._next_second = end
            self._keep(self._board.close(range(start, end)), start, end)
        self._offer()

    def _count(self, now_us: int) -> None:
        """Tell once that there are too few GPUs, and once that there are enough again."""
        visible = self._board.visible()
        has_too_few = visible < self._expect and now_us >= self._judges_from_us
        if has_too_few != self._has_too_few:
            self._has_too_few = has_too_few
            kind = EventKind.TOO_FEW if has_too_few else EventKind.ENOUGH
            if has_too_few:
                _LOG.error("%s", self.problem())
            detail = f"{visible} of {self._expect} expected GPUs are visible"
            self._board.tell(GpuEvent(kind=kind, at_us=now_us, detail=detail, count=visible))

    def _keep(self, lines: Sequence[bytes], start: int, end: int) -> None:
        payload = b"".join(line + b"\n" for line in lines)
        # A source that shows nothing has been asked nothing: such a second is not covered.
        is_covered = bool(self._board.devices()) and not self._source.problem()
        if not payload and not is_covered:
            return
        self._pending.append(
            Frame(
                kind="gpu", format=FORMAT, source=self._name, generation=self._generation, offset=self._offset,
                payload=payload, covered=(start * _US_PER_SECOND, end * _US_PER_SECOND) if is_covered else None,
            )
        )  # fmt: skip
        self._offset += len(payload)
        self._pending_bytes += len(payload)
        while self._pending_bytes > self._limit_bytes and len(self._pending) > 1:
            lost = self._pending.popleft()
            self._pending_bytes -= len(lost.payload)
            self._dropped += lost.payload.count(b"\n")

    def _offer(self) -> None:
        if not self._pending:
            return
        try:
            self._deliver(list(self._pending))
        except (SpoolError, StoreError) as problem:
            if not self._paused:
                _LOG.warning("paused: %s", problem)
            self._paused = str(problem)
            return
        self._lines += sum(frame.payload.count(b"\n") for frame in self._pending)
        self._pending.clear()
        self._pending_bytes = 0
        if self._paused:
            self._paused = ""
            _LOG.info("delivering again")
