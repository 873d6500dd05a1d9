"""Own the tail as a whole: all logs, one delivery at a time, the checkpoint behind it."""

from __future__ import annotations

import logging
import math
from typing import TYPE_CHECKING, Self

from collectors.gateway.formats import AUTO, FormatChoice
from collectors.gateway.tailing.checkpoints import CheckpointFile
from collectors.gateway.tailing.logs import FollowedLog
from collectors.gateway.tailing.patterns import Patterns
from collectors.gateway.tailing.restoring import restored
from collectors.gateway.tailing.shared_coverage import Share, Told, told
from collectors.gateway.tailing.statistics import TailStatistics
from fairclock.errors import SpoolError, StoreError

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence
    from pathlib import Path
    from threading import Event
    from types import TracebackType

    from collectors.gateway.tailing.generations import Generation, Reading
    from collectors.gateway.tailing.records import LogRecord
    from fairclock.model import Frame

_LOG = logging.getLogger(__name__)
_US_PER_SECOND = 1_000_000
_NS_PER_US = 1_000
DELIVERY_BYTES = 8 << 20
_EXPAND_EVERY_US = 5 * _US_PER_SECOND
_CHECKPOINT_EVERY_US = _US_PER_SECOND // 2
_FIRST_RETRY_US = _US_PER_SECOND // 4
_LAST_RETRY_US = 5 * _US_PER_SECOND
_BUSY_SECONDS = 0.2
_WITHOUT_LINES = "nginx-json"  # the format of frames that only cover
_IDLE_SECONDS = 1.0
_IDLE_AFTER_US = 10 * _US_PER_SECOND
_SLACK_NS = 1_000_000_000


class Tailer:
    """Follow logs and hand their lines to `deliver`, at least once, in frames that count each line once.

    patterns: paths and globs. A log that is seen for the first time is read from its beginning; rotated files
    beside it are not, unless it is rotated later.
    deliver: returns once the frames are safe. `SpoolError` and `StoreError` pause the tail, which offers the
    same frames again; anything else ends it.
    log_format: "auto", or a format's name; each file is recognised for itself.
    checkpoint_directory: where it is kept how far each log was read; one process may use it at a time.
    """

    def __init__(
        self,
        patterns: Sequence[str],
        *,
        source: str,
        checkpoint_directory: Path,
        deliver: Callable[[Sequence[Frame]], None],
        log_format: str = AUTO,
    ) -> None:
        """Take the checkpoint; raises `UsageError` and `InputError`. Nothing is opened before the first `poll`."""
        self._patterns = Patterns(patterns)
        self._source = source
        self._deliver = deliver
        self._choice = FormatChoice(log_format)
        self._checkpoint = CheckpointFile(checkpoint_directory)
        try:
            self._known = {record.path: record for record in self._checkpoint.load()}
        except BaseException:
            self._checkpoint.close()
            raise
        self._logs: dict[str, FollowedLog] = {}
        self._expanded_us: int | None = None
        self._undelivered: list[tuple[FollowedLog, Generation, Reading]] = []
        self._told = Told()
        self._retry_us = 0
        self._retry_after_us = _FIRST_RETRY_US
        self._paused = ""
        self._saved: list[LogRecord] | None = None
        self._saved_us: int | None = None
        self._save_problem = ""
        self._delivered_us: int | None = None
        self._statistics = TailStatistics()
        self._lines = self._payload_bytes = self._frames = self._lost = 0

    def __enter__(self) -> Self:
        """Return the tail itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""
        self.close()

    def close(self) -> None:
        """Write the checkpoint and let all files go; what was read and not delivered is read again next time."""
        if self._logs:
            self._save()
        for log in self._logs.values():
            log.close()
        self._checkpoint.close()

    def run(self, stop: Event, *, now_us: Callable[[], int]) -> None:
        """Follow until `stop` is set; `now_us` tells the present in µs since 1970."""
        while not stop.is_set():
            now = now_us()
            if not self.poll(now):
                quiet = self._delivered_us is None or now - self._delivered_us > _IDLE_AFTER_US
                stop.wait(_IDLE_SECONDS if quiet else _BUSY_SECONDS)

    def poll(self, now_us: int) -> bool:
        """Look at all logs once, read and deliver what is there up to a few MB; return whether any was."""
        self._expand(now_us)
        for log in self._logs.values():
            log.look(now_us, may_give_up=not self._undelivered)
        if not self._undelivered:
            self._gather(now_us)
            self._told = self._to_be_told()
        delivered = bool(self._undelivered or self._told.frames) and self._try_to_deliver(now_us)
        if self._saved_us is None or not 0 <= now_us - self._saved_us < _CHECKPOINT_EVERY_US:
            self._saved_us = now_us
            self._save()
        self._statistics = self._counted()
        return delivered

    def statistics(self) -> TailStatistics:
        """Return the counts and the state after the latest `poll`; any thread may ask."""
        return self._statistics

    def _counted(self) -> TailStatistics:
        logs = self._logs.values()
        generations = [each for log in logs for each in log.followed]
        through = [each.through_us for log in logs for each in log.generations if each.through_us is not None]
        return TailStatistics(
            lines=self._lines,
            payload_bytes=self._payload_bytes,
            frames=self._frames,
            files=len(generations),
            missing=sum(log.is_missing for log in logs),
            unread_bytes=sum(max(0, each.largest_size - each.offset) for each in generations),
            lost_files=self._lost + sum(log.lost for log in logs),
            paused=self._paused,
            through_us=max(through, default=None),
        )

    def _expand(self, now_us: int) -> None:
        """Begin with logs that are new, and forget those of globs that are gone and read to their end."""
        if self._expanded_us is not None and 0 <= now_us - self._expanded_us < _EXPAND_EVERY_US:
            return
        first = self._expanded_us is None
        self._expanded_us = now_us
        paths = self._patterns.paths()
        if first:
            paths += [path for path in self._known if path not in paths and self._patterns.include(path)]
        for path in paths:
            if path not in self._logs:
                self._logs[path] = self._followed(path, now_us)
        for path, log in list(self._logs.items()):
            if (
                log.is_missing
                and path not in paths
                and not any(log.followed)
                and not log.is_searching(now_us)
                and not log.coverage.held
            ):
                del self._logs[path]
                self._lost += log.lost

    def _followed(self, path: str, now_us: int) -> FollowedLog:
        record = self._known.pop(path, None)
        if record is not None:
            since_ns, generations, coverage = (
                record.since_ns,
                list(map(restored, record.generations)),
                record.coverage,
            )
        elif self._checkpoint.was_damaged:
            since_ns, generations, coverage = 0, [], None
        else:
            since_ns, generations, coverage = now_us * _NS_PER_US - _SLACK_NS, None, None
        return FollowedLog(
            path,
            since_ns=since_ns,
            generations=generations,
            coverage=coverage,
            is_held=self._is_held,
            now_us=now_us,
        )

    def _is_held(self, stat: os.stat_result) -> bool:
        return any(each.is_file(stat) for log in self._logs.values() for each in log.followed)

    def _gather(self, now_us: int) -> None:
        """Read a piece of each log, as far as one delivery goes; the next round begins where this one ends."""
        total = 0
        for path in list(self._logs):
            log = self._logs[path] = self._logs.pop(path)  # behind the others
            found = log.read(source=self._source, choice=self._choice, now_us=now_us)
            if found is not None:
                self._undelivered.append((log, *found))
                total += sum(len(frame.payload) for frame in found[1].frames)
                if total >= DELIVERY_BYTES:
                    return

    def _to_be_told(self) -> Told:
        """Return the frames of what was gathered, with what the source covers by them."""
        if not self._undelivered and not any(log.coverage.held for log in self._logs.values()):
            return Told()
        readings = {generation: reading for _, generation, reading in self._undelivered}
        frames: dict[str, list[Frame]] = {}
        for log, _, reading in self._undelivered:
            frames.setdefault(log.path, []).extend(reading.frames)
        is_alone = len(self._logs) == 1
        shares = {
            path: Share(
                coverage=log.coverage,
                unread_from_us=math.inf if is_alone else log.unread_from_us(readings),
                frames=frames.get(path, ()),
            )
            for path, log in self._logs.items()
        }
        return told(shares, source=self._source, log_format=_WITHOUT_LINES)

    def _try_to_deliver(self, now_us: int) -> bool:
        if self._paused and 0 <= self._retry_us - now_us <= _LAST_RETRY_US:
            return False
        frames = self._told.frames
        try:
            if frames:
                self._deliver(frames)
        except (SpoolError, StoreError) as problem:
            self._pause(str(problem), now_us)
            return False
        if self._paused:
            _LOG.info("delivering again")
            self._paused, self._retry_after_us = "", _FIRST_RETRY_US
        for _, generation, reading in self._undelivered:
            generation.committed(reading)
            self._lines += reading.lines
        for path, coverage in self._told.coverage.items():
            if path in self._logs:
                self._logs[path].coverage = coverage
        self._frames += len(frames)
        self._payload_bytes += sum(len(frame.payload) for frame in frames)
        self._undelivered = []
        self._told = Told()
        self._delivered_us = now_us
        return True

    def _pause(self, problem: str, now_us: int) -> None:
        if problem != self._paused:
            _LOG.warning("paused: %s", problem)
        self._paused = problem
        self._retry_us = now_us + self._retry_after_us
        self._retry_after_us = min(2 * self._retry_after_us, _LAST_RETRY_US)

    def _save(self) -> None:
        """Write the checkpoint where it says something new; a disk that is full for it now may not be later."""
        records = [*self._known.values(), *(log.to_record() for log in self._logs.values())]
        if records == self._saved:
            return
        try:
            self._checkpoint.save(records)
        except OSError as error:
            if self._save_problem != str(error.strerror):
                self._save_problem = str(error.strerror)
                _LOG.warning("the checkpoint cannot be written: %s; it is tried again", error.strerror)
            return
        self._save_problem = ""
        self._saved = records
