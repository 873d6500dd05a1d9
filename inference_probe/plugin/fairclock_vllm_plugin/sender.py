"""Own the way of records out of vLLM: a bounded queue, and a thread that empties it.

What vLLM's loop does is append to a queue, or add one to a count where the queue is full. Everything else (writing,
sending, waiting, giving up) is the thread's. While the collector is away the thread sends one request now and then, the
queue fills up to its limit, and what comes then is dropped and counted; the count is sent once the collector is back.
"""

from __future__ import annotations

import logging
import os
import random
import threading
import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from fairclock_vllm_plugin import records

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fairclock_vllm_plugin.encoding import Envelope
    from fairclock_vllm_plugin.transport import Answer

    Write = Callable[[float, Any, int], bytes]
    Entry = tuple[Write, float, Any]

_LOG = logging.getLogger("vllm.plugins.fairclock")
_BATCH_RECORDS = 512
_AT_ONCE = 32
_FIRST_BACK_OFF_SECONDS = 1.0
_LONGEST_BACK_OFF_SECONDS = 60.0
_FULL, _REFUSED, _UNREADABLE = "queue full", "refused by the collector", "record not readable"
_STEP = "step not readable"
_ENDING_TIMEOUT_SECONDS = 2.0


class Transport(Protocol):
    """What a sender needs of `transport.HttpTransport`."""

    def post(self, body: bytes, *, timeout_seconds: float) -> Answer:
        """Send `body`; raises nothing for what a network can do."""
        ...

    def close(self) -> None:
        """Close the connection."""
        ...


class _Losses:
    """How many records of which time were lost for one reason, and not reported yet."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        self.total = 0  # only ever added to, by one thread, so that no lock is needed
        self.first_at: float | None = None
        self.last_at = 0.0
        self.reported = 0

    def add(self, at: float, count: int = 1) -> None:
        if self.first_at is None:
            self.first_at = at
        self.last_at = at
        self.total += count

    def take(self) -> tuple[int, tuple[float, float]] | None:
        total, first_at, last_at = self.total, self.first_at, self.last_at
        if total == self.reported:
            return None
        self.first_at = None
        count, self.reported = total - self.reported, total
        return count, (last_at if first_at is None else first_at, last_at)

    def give_back(self, count: int, first_at: float) -> None:
        self.reported -= count
        self.first_at = first_at if self.first_at is None else min(first_at, self.first_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Batch:
    """A request that was written: its records, the times they are of, and the losses that it reports."""

    body: bytes
    records: int
    between: tuple[float, float]
    reports: tuple[tuple[_Losses, int, float], ...]


class Sender:
    """Take records from vLLM's loop and post them; `put` never blocks and never raises for a full queue."""

    def __init__(
        self,
        transport: Transport,
        envelope: Envelope,
        *,
        queue_records: int,
        flush_seconds: float,
        timeout_seconds: float,
        monotonic: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._transport = transport
        self._envelope = envelope
        self._limit = queue_records
        self._flush_seconds = flush_seconds
        self._timeout_seconds = timeout_seconds
        self._monotonic = monotonic
        self._now = now
        self._jitter = jitter
        self._samplers: list[Callable[[], Entry | None]] = []
        self._number = 0
        self._begin()
        os.register_at_fork(after_in_child=self._begin)

    def _begin(self) -> None:
        """Begin with nothing; in a forked child too, where what waits is the parent's to send."""
        self._queue: deque[Entry] = deque()
        self._losses = {reason: _Losses(reason) for reason in (_FULL, _STEP, _REFUSED, _UNREADABLE)}
        self._full = self._losses[_FULL]
        self._pending: _Batch | None = None
        self._transport.close()
        self._wake = threading.Event()
        self._stopping = False
        self._thread: threading.Thread | None = None
        self._failures = 0
        self._retry_at = 0.0
        self.delivered = 0

    @property
    def waiting(self) -> int:
        """Return how many records wait in the queue."""
        return len(self._queue)

    @property
    def lost(self) -> dict[str, int]:
        """Return how many records were lost, by reason."""
        return {losses.reason: losses.total for losses in self._losses.values()}

    def sample(self, sampler: Callable[[], Entry | None]) -> None:
        """Ask `sampler` in the sending thread, every time before it sends, for a record that is due."""
        self._samplers.append(sampler)

    def put(self, write: Write, at: float, values: Sequence[Any]) -> None:
        """Queue a record of each of `values`; `write` makes its bytes, in the sending thread."""
        if self._thread is None:
            self._start()
        queue = self._queue
        for value in values:
            if len(queue) >= self._limit:
                self._full.add(at)
                continue
            queue.append((write, at, value))
            if len(queue) == _BATCH_RECORDS:
                self._wake.set()

    def count_unreadable_step(self, at: float) -> None:
        """Count a step whose statistics could not be read in vLLM's loop."""
        self._losses[_STEP].add(at)

    def close(self, *, timeout_seconds: float) -> None:
        """Send what waits, for `timeout_seconds` at most, and end; what is left then is lost, and the log says so."""
        thread = self._thread
        if thread is None:
            return
        self._stopping = True
        self._wake.set()
        thread.join(timeout_seconds)
        left = len(self._queue) + (self._pending.records if self._pending else 0)
        if left:
            _LOG.warning("Fairclock: %d records were not sent before the end", left)

    def _start(self) -> None:
        self._thread = threading.Thread(target=self._run, name="fairclock-sender", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        ending = False
        while not ending:
            self._wake.wait(self._flush_seconds)
            self._wake.clear()
            ending = self._stopping  # before the turn: what was put before the end is sent in it
            try:
                self._turn()
            except Exception:  # the thread must outlive what nobody thought of
                _LOG.exception("Fairclock: an unexpected failure; going on")
                self._pending = None
        self._transport.close()

    def _turn(self) -> None:
        """Send what waits, until less than a batch does or something is in the way; the rest waits for the next turn."""
        while True:
            self._ask_for_states()
            if not self._stopping and self._monotonic() < self._retry_at:
                return
            self._pending = self._pending or self._next_batch()
            if self._pending is None or not self._send(self._pending):
                return
            if not self._stopping and len(self._queue) < _BATCH_RECORDS:
                return

    def _ask_for_states(self) -> None:
        for sampler in self._samplers:
            if (
                len(self._queue) * 2 < self._limit
            ):  # a state that waits is overtaken by the next; a request is not
                entry = sampler()
                if entry is not None:
                    self._queue.append(entry)

    def _next_batch(self) -> _Batch | None:
        written: list[bytes] = []
        times: list[float] = []
        queue = self._queue
        while queue and len(written) < _BATCH_RECORDS:
            write, at, value = queue.popleft()
            try:
                written.append(write(at, value, self._number))
                times.append(at)
                self._number += 1
            except Exception:
                if not self._losses[_UNREADABLE].total:
                    _LOG.exception(
                        "Fairclock: a record of this vLLM cannot be read; more of them are only counted"
                    )
                self._losses[_UNREADABLE].add(at)
            if not len(written) % _AT_ONCE:
                time.sleep(0)  # lets vLLM's loop have the interpreter
        count = len(written)
        reports = []
        for losses in self._losses.values():
            taken = losses.take()
            if taken is not None:
                lost, between = taken
                written.append(records.lost(self._now(), lost, losses.reason, between, self._number))
                self._number += 1
                reports.append((losses, lost, between[0]))
                times += between
        if not written:
            return None
        return _Batch(
            body=self._envelope.request(written), records=count,
            between=(min(times), max(times)), reports=tuple(reports),
        )  # fmt: skip

    def _send(self, batch: _Batch) -> bool:
        """Return whether the next batch may follow at once."""
        timeout_seconds = self._timeout_seconds
        if self._stopping:
            timeout_seconds = min(timeout_seconds, _ENDING_TIMEOUT_SECONDS)
        answer = self._transport.post(batch.body, timeout_seconds=timeout_seconds)
        if not answer.problem:
            if self._failures:
                _LOG.warning("Fairclock: the collector takes records again")
            self._failures = 0
            self.delivered += batch.records
            self._pending = None
            return True
        if answer.again:
            if not self._failures:
                _LOG.warning("Fairclock: the collector is away, records wait (%s)", answer.problem)
        else:
            self._pending = None
            self._give_up(batch, answer)
        self._back_off(answer)  # after a refusal too, else a wrong address would cost a request a turn
        return False

    def _give_up(self, batch: _Batch, answer: Answer) -> None:
        _LOG.error("Fairclock: the collector refused %d records for good (%s)", batch.records, answer.problem)
        if batch.records:
            refused = self._losses[_REFUSED]
            refused.add(batch.between[0], batch.records)
            refused.add(batch.between[1], 0)
        for losses, count, first_at in batch.reports:
            losses.give_back(count, first_at)

    def _back_off(self, answer: Answer) -> None:
        seconds = min(_FIRST_BACK_OFF_SECONDS * 2**self._failures, _LONGEST_BACK_OFF_SECONDS)
        self._failures = min(self._failures + 1, 16)
        seconds = min(max(seconds, answer.after_seconds), _LONGEST_BACK_OFF_SECONDS)
        self._retry_at = self._monotonic() + seconds * (0.5 + self._jitter() / 2)
