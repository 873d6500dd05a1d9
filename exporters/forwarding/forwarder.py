"""Own a sidecar's delivery: from its spool to ``fairclock up``, in order, until it is acknowledged.

Nothing ends it but being stopped: whatever the other side says, the frames stay in the spool, and it tries
again.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from threading import Event, Thread
from typing import TYPE_CHECKING, Protocol

from exporters.back_off import BackOff
from exporters.forwarding.batches import encode_batch
from exporters.forwarding.destination import Answer, Outcome
from fairclock.errors import SpoolError

if TYPE_CHECKING:
    from collections.abc import Callable

    from exporters.spool import Spool
    from fairclock.model import Frame

_LOG = logging.getLogger(__name__)
BATCH_BYTES = 4 << 20
_LINGER_SECONDS = 0.5
_IDLE_SECONDS = 60.0
_FIRST_RETRY_SECONDS = 0.5
_LAST_RETRY_SECONDS = 30.0
_SAY_AGAIN_SECONDS = 300.0
_STOP_SECONDS = 5.0
_AT_ONCE_SECONDS = 0.001
_GROW_AGAIN_SECONDS = 300.0
_LOUD = frozenset({Outcome.UNAUTHORISED, Outcome.MISUNDERSTOOD, Outcome.TOO_LARGE})


_NOTHING_TO_SEND = Answer(outcome=Outcome.TAKEN)


class Delivery(Protocol):
    """Where batches go."""

    url: str

    def deliver(self, body: bytes, *, frames: int) -> Answer:
        """Send a body that holds so many frames, and say what became of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForwarderStatistics:
    """Counts since the start; `problem` is why nothing goes through right now, or an empty string."""

    frames: int = 0
    batches: int = 0
    body_bytes: int = 0
    failures: int = 0
    problem: str = ""


class Forwarder:
    """Deliver what is in `spool` through a thread, from `start` until `stop`.

    `monotonic` counts seconds, `now_us` is the present in µs since 1970, `random` returns numbers in [0, 1).
    """

    def __init__(
        self,
        spool: Spool,
        destination: Delivery,
        *,
        monotonic: Callable[[], float],
        now_us: Callable[[], int],
        random: Callable[[], float],
    ) -> None:
        self._spool = spool
        self._destination = destination
        self._monotonic = monotonic
        self._now_us = now_us
        self._back_off = BackOff(
            first_seconds=_FIRST_RETRY_SECONDS, most_seconds=_LAST_RETRY_SECONDS, random=random
        )
        self._stopping = Event()
        self._stop_at = 0.0
        self._position = spool.position
        self._batch_bytes = BATCH_BYTES
        self._grow_at = 0.0
        self._failing_since: float | None = None
        self._said_at = 0.0
        self._said: Outcome | None = None
        self.statistics = ForwarderStatistics()
        self._thread = Thread(target=self._run, name="forwarder", daemon=True)

    @property
    def is_alive(self) -> bool:
        """Return whether the thread runs."""
        return self._thread.is_alive()

    def start(self) -> None:
        """Begin to deliver."""
        self._thread.start()

    def stop(self) -> None:
        """Deliver what waits, for some seconds and as long as that succeeds, then end; the rest stays in the spool."""
        self._stop_at = self._monotonic() + _STOP_SECONDS
        self._stopping.set()
        self._spool.wake()
        if self._thread.ident is not None:
            self._thread.join()

    def _run(self) -> None:
        while True:
            stopping = self._stopping.is_set()  # asked first: what was kept before the stop goes out, too
            before = self._position
            wait_seconds = self._deliver_batch()
            if wait_seconds:
                if self._stopping.wait(wait_seconds):
                    return
                continue
            is_done = self._position == before or self._monotonic() >= self._stop_at
            if stopping and is_done:
                return
            self._linger()

    def _linger(self) -> None:
        """Wait until there is something, and then a little longer for more of it."""
        stopping = self._stopping.is_set
        self._spool.wait(self._position, timeout_seconds=_IDLE_SECONDS, interrupted=stopping)
        self._spool.wait(
            self._position,
            timeout_seconds=_LINGER_SECONDS,
            at_least_bytes=self._batch_bytes,
            interrupted=stopping,
        )

    def _deliver_batch(self) -> float:
        """Deliver what follows, up to a batch; return for how long to wait before the next try, 0 after a success."""
        try:
            frames, following = self._spool.read(self._position, max_bytes=self._batch_bytes)
            answer = self._deliver(frames) if frames else _NOTHING_TO_SEND
            if answer.outcome is not Outcome.TAKEN:
                return self._failed(answer, len(frames))
            self._position = following
            self._spool.acknowledge(following)
        except SpoolError as error:
            return self._failed(Answer(outcome=Outcome.LATER, problem=str(error)), 0)
        except Exception as error:  # noqa: BLE001 - frames wait in the spool for whatever it is to pass
            problem = f"an unexpected {type(error).__name__}: {error}"
            return self._failed(Answer(outcome=Outcome.MISUNDERSTOOD, problem=problem), 0)
        self._succeeded()
        return 0.0

    def _deliver(self, frames: list[Frame]) -> Answer:
        body = encode_batch(frames, sent_us=self._now_us())
        answer = self._destination.deliver(body, frames=len(frames))
        if answer.outcome is Outcome.TAKEN:
            self.statistics = replace(
                self.statistics,
                frames=self.statistics.frames + len(frames),
                batches=self.statistics.batches + 1,
                body_bytes=self.statistics.body_bytes + len(body),
            )
        return answer

    def _failed(self, answer: Answer, frames: int) -> float:
        """Say so, though not every time; return for how long to wait."""
        if answer.outcome is Outcome.TOO_LARGE and frames > 1:
            self._shrink(answer)
            return _AT_ONCE_SECONDS
        now = self._monotonic()
        if self._failing_since is None:
            self._failing_since = now
        if answer.outcome is not self._said or now - self._said_at >= _SAY_AGAIN_SECONDS:
            self._said, self._said_at = answer.outcome, now
            level = logging.ERROR if answer.outcome in _LOUD else logging.WARNING
            _LOG.log(
                level,
                "%s: not delivered: %s; what is collected stays in the spool, and it is tried again",
                self._destination.url,
                answer.problem,
            )
        self.statistics = replace(
            self.statistics, failures=self.statistics.failures + 1, problem=answer.problem
        )
        return max(self._back_off.failed(), answer.wait_seconds or 0.0)

    def _shrink(self, answer: Answer) -> None:
        """Send less at once for some time: whoever set the limit may lift it."""
        self._batch_bytes = max(self._batch_bytes // 2, 1)
        self._grow_at = self._monotonic() + _GROW_AGAIN_SECONDS
        _LOG.info(
            "%s: %s; batches are of %d bytes now", self._destination.url, answer.problem, self._batch_bytes
        )
        self.statistics = replace(self.statistics, failures=self.statistics.failures + 1)

    def _grow(self) -> None:
        """Send twice as much at once where nothing was too large for some time."""
        if self._batch_bytes < BATCH_BYTES and self._monotonic() >= self._grow_at:
            self._batch_bytes = min(self._batch_bytes * 2, BATCH_BYTES)
            self._grow_at = self._monotonic() + _GROW_AGAIN_SECONDS

    def _succeeded(self) -> None:
        self._grow()
        if self._failing_since is None:
            return
        _LOG.info(
            "%s: delivers again, after %.0f s",
            self._destination.url,
            self._monotonic() - self._failing_since,
        )
        self._failing_since = self._said = None
        self._back_off.succeeded()
        self.statistics = replace(self.statistics, problem="")
