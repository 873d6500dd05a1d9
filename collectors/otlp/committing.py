"""Own when a sender may be told that its spans are safe: after its frame was delivered.

A frame holds the canonical lines of one request, and the event time that its delivery covers. Where frames go
is not known here: into a spool, or straight into a store. One thread hands them over, all that wait at once,
so that a slow disk or store makes larger groups and not more of them.
"""

from __future__ import annotations

import logging
import time
import uuid
from collections import deque
from concurrent.futures import Future
from dataclasses import dataclass, field
from threading import Condition, Thread
from typing import TYPE_CHECKING, Protocol

from collectors.otlp.coverage import ListeningCoverage
from collectors.otlp.engine_lines import is_bad
from collectors.otlp.engine_states import STATE_FORMAT
from collectors.otlp.listening_note import ListeningNote
from fairclock.errors import FairclockError, SpoolError, StoreError, StoreReadOnly, StoreUnreachable
from fairclock.model import Frame

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from collectors.otlp.engine_lines import EngineLines

_LOG = logging.getLogger(__name__)
FORMAT = "engine-json"
"""The format of these frames: canonical engine lines, each with its newline."""
_LARGEST_GROUP_LINES = 50_000
_ANSWER_SECONDS = 60.0
_NOTE_EVERY_SECONDS = 10.0
_MOST_NOTED_PIECES = 16


class Deliver(Protocol):
    """Keep frames, and return once they are safe; raises `FairclockError`, and then none of them need be."""

    def __call__(self, frames: Sequence[Frame], /) -> Sequence[int] | None:
        """Return how many lines of each frame were set aside, or None where that is not known yet."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class _Waiting:
    lines: EngineLines
    rejected: Future[int] = field(default_factory=Future)

    @property
    def size(self) -> int:
        return len(self.lines.lines) + len(self.lines.state_lines)


class SpanCommitter:
    """Deliver the lines of many senders through one thread; `start` before the first `commit`, `stop` after the last.

    `monotonic` is the receiver's own clock, in seconds. What it covered, and every `note_every_seconds` that it still
    listens, is noted in the file `note`, so that a kill and a new start leave no gap.
    """

    def __init__(
        self,
        deliver: Deliver,
        *,
        source: str,
        note: Path | None = None,
        monotonic: Callable[[], float] = time.monotonic,
        note_every_seconds: float = _NOTE_EVERY_SECONDS,
    ) -> None:
        self._deliver = deliver
        self._source = source
        self._monotonic = monotonic
        self._note = ListeningNote(note)
        self._note_every_seconds = note_every_seconds
        pieces, self._listened_before = self._note.read()
        self._coverage = ListeningCoverage(pieces)
        self._generation = uuid.uuid4().hex
        self._offset = 0
        self.ignored = 0
        self._waiting: deque[_Waiting] = deque()
        self._changed = Condition()
        self._stopping = False
        self._started_at = self._heard_at = self._noted_at = 0.0
        self._thread = Thread(target=self._run, name="otlp-committer", daemon=True)

    def start(self) -> None:
        """Begin to listen: event time counts as covered from here on."""
        self._started_at = self._noted_at = self._monotonic()
        self._heard_at = self._started_at - self._listened_before
        self._thread.start()

    def stop(self) -> None:
        """Deliver what waits, and note what is covered."""
        with self._changed:
            self._stopping = True
            self._changed.notify()
        if self._thread.ident is not None:
            self._thread.join()
            self._write_note()
        self._note.close()

    def commit(self, lines: EngineLines) -> int:
        """Return how many spans are known to be rejected, once the others are safe; raises `FairclockError`."""
        with self._changed:
            self.ignored += lines.ignored
        if not lines.lines and not lines.state_lines:
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
                "otlp", f"the spans were not safe within {_ANSWER_SECONDS:.0f} s", remedy="send again later"
            ) from error

    def _run(self) -> None:
        while True:
            with self._changed:
                if not self._waiting and not self._stopping:
                    self._changed.wait(self._note_every_seconds)
                group = self._take_group()
                done = self._stopping and not group
            if done:
                return
            if group:
                self._commit_group(group)
            if self._monotonic() - self._noted_at >= self._note_every_seconds:
                self._write_note()

    def _take_group(self) -> list[_Waiting]:
        group: list[_Waiting] = []
        lines = 0
        while self._waiting and (not group or lines + self._waiting[0].size <= _LARGEST_GROUP_LINES):
            group.append(self._waiting.popleft())
            lines += group[-1].size
        return group

    def _commit_group(self, group: Sequence[_Waiting]) -> None:
        coverage = self._coverage.copy()
        now = self._monotonic()
        listened_seconds = self._listened_before + now - self._started_at
        offset = self._offset
        frames: list[Frame] = []
        firsts: list[int] = []
        for waiting in group:
            firsts.append(len(frames))
            coverage.lose(waiting.lines.lost_ns)
            covered = coverage.observe(waiting.lines.ends_ns, listened_seconds=listened_seconds)
            frames += self._frames(waiting.lines, covered, offset)
            offset += sum(len(frame.payload) for frame in frames[firsts[-1] :])
        try:
            set_aside = self._deliver(frames)
        except Exception as error:  # noqa: BLE001 - handed to whoever waits
            if len(group) > 1 and not isinstance(error, StoreUnreachable | StoreReadOnly | SpoolError):
                for waiting in group:  # one of them may be to blame, and shall cost nobody else
                    self._commit_group([waiting])
            else:
                self._fail(group, error)
            return
        self._coverage, self._offset, self._heard_at = coverage, offset, now
        self._write_note()
        for first, end, waiting in zip(firsts, [*firsts[1:], len(frames)], group, strict=True):
            known = sum(map(is_bad, waiting.lines.lines)) if set_aside is None else sum(set_aside[first:end])
            waiting.rejected.set_result(known)

    def _frames(self, lines: EngineLines, covered: Sequence[tuple[int, int]], offset: int) -> list[Frame]:
        """Return the frame of a request, and one without lines for each further piece of event time that it covers."""
        frames = [self._frame(FORMAT, _payload(lines.lines), offset, covered[0] if covered else None)]
        frames += [self._frame(FORMAT, b"", offset, piece) for piece in covered[1:]]
        if lines.state_lines:
            payload = _payload(lines.state_lines)
            frames.append(self._frame(STATE_FORMAT, payload, offset + len(frames[0].payload), None))
        return [frame for frame in frames if frame.payload or frame.covered is not None]

    def _frame(self, format_name: str, payload: bytes, offset: int, covered: tuple[int, int] | None) -> Frame:
        return Frame(
            kind="engine", format=format_name, source=self._source, generation=self._generation,
            offset=offset, payload=payload, covered=covered,
        )  # fmt: skip

    def _fail(self, group: Sequence[_Waiting], error: Exception) -> None:
        if not isinstance(error, FairclockError):
            _LOG.error("spans could not be delivered, in an unexpected way", exc_info=error)
            error = StoreError(
                "otlp", "the spans could not be delivered, in an unexpected way", found=type(error).__name__
            )
        _LOG.warning("%d requests were told to send again: %s", len(group), error)
        for waiting in group:
            self._coverage.refuse(waiting.lines.ends_ns)
            waiting.rejected.set_exception(error)

    def _write_note(self) -> None:
        self._noted_at = self._monotonic()
        self._note.write(
            self._coverage.latest(_MOST_NOTED_PIECES), quiet_seconds=self._noted_at - self._heard_at
        )


def _payload(lines: Sequence[bytes]) -> bytes:
    return b"\n".join(lines) + b"\n" if lines else b""
