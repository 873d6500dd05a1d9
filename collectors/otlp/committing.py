"""Own when a sender may be told that its spans are safe: after the store has committed them.

Requests that wait at the same time share one insert. One thread talks to the store, so a slow store makes
larger batches and not more of them.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from concurrent.futures import Future
from dataclasses import dataclass, field
from threading import Condition, Thread
from typing import TYPE_CHECKING

from collectors.otlp.coverage import ListeningCoverage
from fairclock.errors import FairclockError, StoreError, StoreReadOnly, StoreUnreachable
from fairclock.store import LineBatch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from collectors.file_reading import LineStore
    from collectors.otlp.engine_lines import EngineLines
    from fairclock.store import IngestCounts

_LOG = logging.getLogger(__name__)
_LARGEST_BATCH_LINES = 50_000
_ANSWER_SECONDS = 60.0
_COVER_EVERY_SECONDS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Waiting:
    lines: EngineLines
    rejected: Future[int] = field(default_factory=Future)


class SpanCommitter:
    """Commit the lines of many senders through one thread; `start` before the first `commit`, `stop` after the last.

    `monotonic` is the receiver's own clock, in seconds; coverage is written at most every `cover_every_seconds`.
    """

    def __init__(
        self,
        store: LineStore,
        *,
        source: str,
        monotonic: Callable[[], float] = time.monotonic,
        cover_every_seconds: float = _COVER_EVERY_SECONDS,
    ) -> None:
        self._store = store
        self._source = source
        self._monotonic = monotonic
        self._cover_every_seconds = cover_every_seconds
        self._coverage = ListeningCoverage()
        self._waiting: deque[_Waiting] = deque()
        self._changed = Condition()
        self._stopping = False
        self._started_at = 0.0
        self._covered_at = 0.0
        self._thread = Thread(target=self._run, name="otlp-committer", daemon=True)

    def start(self) -> None:
        """Begin to listen: event time counts as covered from here on."""
        self._started_at = self._covered_at = self._monotonic()
        self._thread.start()

    def stop(self) -> None:
        """Commit what waits, and the coverage; raises `StoreError` where that cannot be written."""
        with self._changed:
            self._stopping = True
            self._changed.notify()
        if self._thread.ident is not None:
            self._thread.join()
            self._write_coverage()

    def commit(self, lines: EngineLines) -> int:
        """Return how many spans were rejected, once the others are committed; raises `StoreError`."""
        if not lines.lines:
            return 0
        waiting = _Waiting(lines=lines)
        with self._changed:
            if self._stopping:
                raise StoreUnreachable("otlp", "the receiver is stopping", remedy="send again later")
            self._waiting.append(waiting)
            self._changed.notify()
        try:
            return waiting.rejected.result(timeout=_ANSWER_SECONDS)
        except TimeoutError as error:
            raise StoreUnreachable(
                "otlp", f"the store did not commit within {_ANSWER_SECONDS:.0f} s", remedy="send again later"
            ) from error

    def _run(self) -> None:
        while True:
            with self._changed:
                if not self._waiting and not self._stopping:
                    self._changed.wait(self._cover_every_seconds)
                group = self._take_group()
                done = self._stopping and not group
            if done:
                return
            if group:
                self._commit_group(group)
            if self._monotonic() - self._covered_at >= self._cover_every_seconds:
                try:
                    self._write_coverage()
                except Exception as error:  # noqa: BLE001 - senders must not wait for a thread that died
                    _LOG.warning("coverage is kept for the next try: %s", error)

    def _take_group(self) -> list[_Waiting]:
        group: list[_Waiting] = []
        lines = 0
        while self._waiting and (
            not group or lines + len(self._waiting[0].lines.lines) <= _LARGEST_BATCH_LINES
        ):
            group.append(self._waiting.popleft())
            lines += len(group[-1].lines.lines)
        return group

    def _commit_group(self, group: list[_Waiting]) -> None:
        try:
            counts = self._ingest([line for waiting in group for line in waiting.lines.lines])
        except Exception as error:  # noqa: BLE001 - handed to whoever waits
            if len(group) > 1 and not isinstance(error, StoreUnreachable | StoreReadOnly):
                self._commit_apart(group)
            else:
                self._fail(group, error)
            return
        if counts.dead_letters and len(group) > 1:
            # Whose were they? Storing again adds nothing, and each request gets its own count.
            self._commit_apart(group)
            return
        for waiting in group:
            self._succeed(waiting, counts.dead_letters)

    def _commit_apart(self, group: list[_Waiting]) -> None:
        for waiting in group:
            try:
                counts = self._ingest(waiting.lines.lines)
            except Exception as error:  # noqa: BLE001 - handed to whoever waits
                self._fail([waiting], error)
            else:
                self._succeed(waiting, counts.dead_letters)

    def _ingest(self, lines: Sequence[bytes]) -> IngestCounts:
        return self._store.ingest(LineBatch(kind="engine", source=self._source, lines=lines, k=0))

    def _succeed(self, waiting: _Waiting, rejected: int) -> None:
        listened = self._monotonic() - self._started_at
        self._coverage.observe(waiting.lines.ends_ns, listened_seconds=listened)
        waiting.rejected.set_result(rejected)

    def _fail(self, group: Sequence[_Waiting], error: Exception) -> None:
        if not isinstance(error, FairclockError):
            _LOG.error("the store failed in an unexpected way", exc_info=error)
            error = StoreError("otlp", "the store failed in an unexpected way", found=type(error).__name__)
        _LOG.warning("%d requests wait for the store and were told to send again: %s", len(group), error)
        for waiting in group:
            waiting.rejected.set_exception(error)

    def _write_coverage(self) -> None:
        self._covered_at = self._monotonic()
        intervals = self._coverage.take_new()
        if not intervals:
            return
        try:
            self._store.cover(kind="engine", source=self._source, intervals=intervals)
        except BaseException:
            self._coverage.give_back(intervals)
            raise
