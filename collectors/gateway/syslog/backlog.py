"""Own what was received and is not delivered: bounded, and handed over by one thread.

Where it is full, connections are read no further, which holds up their senders. Datagrams cannot be held up: they
are dropped, counted, and no time is covered for them.
"""

from __future__ import annotations

import logging
from threading import Condition, Thread
from typing import TYPE_CHECKING

from collectors.gateway.syslog.statistics import SyslogStatistics
from collectors.gateway.syslog.streams import Framing, Loss, Received, Stream
from fairclock.errors import SpoolError, StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fairclock.model import Frame

_LOG = logging.getLogger(__name__)
LIMIT_BYTES = 16 << 20
_GATHER_SECONDS = 0.05
_FIRST_RETRY_SECONDS = 0.25
_LAST_RETRY_SECONDS = 5.0
_GIVE_UP_SECONDS = 10.0


class Backlog:
    """Keep messages until `deliver` has taken the frames of them; `SpoolError` and `StoreError` let it wait."""

    def __init__(
        self,
        deliver: Callable[[Sequence[Frame]], object],
        framing: Framing,
        *,
        now_us: Callable[[], int],
        monotonic: Callable[[], float],
        drained: Callable[[], None],
        limit_bytes: int = LIMIT_BYTES,
    ) -> None:
        """`drained` is called from the delivering thread when there is room again."""
        self._deliver = deliver
        self._framing = framing
        self._now_us = now_us
        self._monotonic = monotonic
        self._drained = drained
        self._limit_bytes = limit_bytes
        self._changed = Condition()
        self._waiting: list[Received | Loss] = []
        self._waiting_bytes = 0
        self._losing = self._holding_up = False
        self._stopping = False
        self._lines = self._frames = self._lost = 0
        self._paused = ""
        self.failure: Exception | None = None
        self._thread = Thread(target=self._run, name="syslog-delivery", daemon=True)

    @property
    def is_alive(self) -> bool:
        """Return whether the delivering thread runs."""
        return self._thread.is_alive()

    @property
    def is_full(self) -> bool:
        """Return whether no more should be received."""
        return self._waiting_bytes >= self._limit_bytes

    def start(self) -> None:
        """Begin to deliver."""
        self._thread.start()

    def stop(self) -> None:
        """Deliver what is there, and wait for that a little; what cannot be delivered is lost with the process."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        if self._thread.ident is not None:
            self._thread.join(_GIVE_UP_SECONDS)

    def add(self, stream: Stream, messages: Sequence[bytes], *, covers: bool = True) -> None:
        """Keep `messages`; `covers` is False where some may be missing among them."""
        with self._changed:
            self._waiting.append(Received(stream=stream, messages=messages, covers=covers))
            self._waiting_bytes += sum(map(len, messages))
            self._changed.notify_all()

    def lose(self, messages: int) -> None:
        """Note that as many messages came here and were not kept."""
        with self._changed:
            if not self._losing:
                _LOG.warning("datagrams are lost: more come than can be kept")
            self._losing = True
            self._lost += messages
            if not self._waiting or not isinstance(self._waiting[-1], Loss):
                self._waiting.append(Loss())

    def hold_up(self) -> bool:
        """Return whether connections are to wait; then `drained` is called once they need not."""
        with self._changed:
            self._holding_up = self._holding_up or self.is_full
            return self._holding_up

    def statistics(self, connections: int) -> SyslogStatistics:
        """Return the counts and the state right now."""
        return SyslogStatistics(
            lines=self._lines,
            frames=self._frames,
            lost=self._lost,
            waiting_bytes=self._waiting_bytes,
            connections=connections,
            paused=self._paused,
        )

    def _run(self) -> None:
        try:
            while self._wait():
                self._deliver_waiting()
        except Exception as failure:  # noqa: BLE001 - kept for whoever runs this
            self.failure = failure
            _LOG.exception("received lines can no longer be delivered")

    def _wait(self) -> bool:
        """Return True once something waits, False once nothing more will."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._stopping)
            if not self._stopping:  # a moment more makes one frame of many lines
                self._changed.wait_for(lambda: self._stopping or self.is_full, _GATHER_SECONDS)
            return bool(self._waiting)

    def _deliver_waiting(self) -> None:
        with self._changed:
            waiting, self._waiting = self._waiting, []
            taken_bytes = self._waiting_bytes
        frames = self._framing.frames(waiting, now_us=self._now_us(), monotonic_seconds=self._monotonic())
        if not self._offer(frames):
            return
        with self._changed:
            self._lines += sum(frame.payload.count(b"\n") for frame in frames)
            self._frames += len(frames)
            self._waiting_bytes -= taken_bytes
            held_up, self._holding_up = self._holding_up, False
            self._losing = False
        if held_up:
            self._drained()

    def _offer(self, frames: Sequence[Frame]) -> bool:
        """Offer `frames` until they are taken; return False where the receiver stops before."""
        retry_seconds = _FIRST_RETRY_SECONDS
        while frames:
            try:
                self._deliver(frames)
            except (SpoolError, StoreError) as problem:
                if not self._paused:
                    _LOG.warning("paused: %s", problem)
                self._paused = str(problem)
                with self._changed:
                    if self._changed.wait_for(lambda: self._stopping, retry_seconds):
                        _LOG.error("stopped with %d frames that could not be delivered", len(frames))
                        return False
                retry_seconds = min(2 * retry_seconds, _LAST_RETRY_SECONDS)
            else:
                break
        if self._paused:
            self._paused = ""
            _LOG.info("delivering again")
        return True
