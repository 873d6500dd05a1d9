"""Own the spool: frames in at one end, out at the other, on the disk in between."""

from __future__ import annotations

import errno
import fcntl
import os
import time
from threading import Lock
from typing import TYPE_CHECKING, Self

from exporters.spool.appender import Appender
from exporters.spool.cursor import Cursor, Position
from exporters.spool.group_commit import Entry, GroupCommit
from exporters.spool.holdings import Holdings
from exporters.spool.quarantine import Quarantine
from exporters.spool.reading import oldest_appended_us, read_segment
from exporters.spool.records import END_BYTES, body_of, encode_frame
from exporters.spool.recovery import recover
from exporters.spool.segments import HEAD_BYTES
from exporters.spool.statistics import SpoolStatistics
from fairclock.errors import SpoolFull, SpoolUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path
    from types import TracebackType

    from exporters.spool.segments import Segment
    from fairclock.model import Frame

DEFAULT_SEGMENT_BYTES = 16 << 20
_US_PER_SECOND = 1_000_000
_NS_PER_US = 1_000
_REMEDIES = {
    errno.ENOSPC: "free space on its disk; collection goes on by itself",
    errno.EDQUOT: "free space on its disk; collection goes on by itself",
    errno.EWOULDBLOCK: "another process uses it: stop that one, or choose another folder",
    errno.EACCES: "let this user write there, or choose another folder",
    errno.EROFS: "choose a folder that takes writes",
}


class Spool:
    """Keep frames on the disk until they are acknowledged; any number of threads append, one reads.

    What `append` returned for survives a kill or a loss of power at any instant, and is read at least once, in
    order. `limit_bytes` bounds the segments; of a damaged one a short note stays when it is delivered.

    Opening raises `SpoolUnavailable` where the folder cannot be used or another process has it, and
    `SpoolError` where a newer Fairclock wrote it.
    """

    def __init__(
        self,
        directory: Path,
        *,
        limit_bytes: int,
        segment_bytes: int = DEFAULT_SEGMENT_BYTES,
        now_us: Callable[[], int] = lambda: time.time_ns() // _NS_PER_US,
    ) -> None:
        """Open the spool in `directory`, made where it is not there; `now_us` dates what is appended."""
        if limit_bytes < 2 * segment_bytes:
            raise ValueError(
                f"a limit of {limit_bytes} bytes has no room for two segments of {segment_bytes}"
            )
        self._directory = directory
        self._limit_bytes = limit_bytes
        self._segment_bytes = segment_bytes
        self._now_us = now_us
        self._writing = Lock()
        self._pressed = False  # the last write found no room
        self._closed = False
        self._commits = GroupCommit(self._write)
        try:
            self._open()
        except OSError as error:
            raise self._unavailable(error) from error

    def _open(self) -> None:
        folder, quarantine = self._directory / "segments", self._directory / "quarantine"
        for each in (folder, quarantine):
            each.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock = os.open(self._directory / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._quarantine = Quarantine(quarantine)
            self._cursor = Cursor(self._directory / "delivered")
            found = recover(folder, self._cursor, self._quarantine)
            self._missing_segments = found.missing_segments
            self._holdings = Holdings(found.segments, found.position)
            last = found.segments[-1] if found.segments else None
            following = found.position.segment if last is None else last.number + 1
            self._appender = Appender(
                folder, segment_bytes=self._segment_bytes, next_number=max(following, 1)
            )
            if last is not None and not last.sealed and not last.damage:
                self._appender.resume(last)
                self._holdings.open(last)
        except BaseException:
            os.close(self._lock)
            raise

    def __enter__(self) -> Self:
        """Return the spool itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""
        self.close()

    def close(self) -> None:
        """Take no more frames and let another process open the folder; what was not acknowledged stays."""
        with self._writing, self._holdings.changed:
            if not self._closed:
                self._closed = True
                self._appender.forget()
                self._cursor.close()
                os.close(self._lock)
            self._holdings.changed.notify_all()

    def append(self, frames: Sequence[Frame]) -> None:
        """Return once all `frames` are on the disk; callers that wait at the same time share an fsync.

        Raises `SpoolFull` or `SpoolUnavailable`; then they may all be appended again.
        """
        if not frames:
            return
        now_us = self._now_us()
        bodies = [body_of(encode_frame(frame, appended_us=now_us)) for frame in frames]
        self._commits.commit(Entry(bodies=bodies, size_bytes=sum(body.record_bytes for body in bodies)))

    @property
    def position(self) -> Position:
        """Return up to where everything was acknowledged: where reading begins after a start."""
        with self._holdings.changed:
            return self._holdings.position

    def read(self, after: Position, *, max_bytes: int) -> tuple[list[Frame], Position]:
        """Return frames that follow `after`, and the position behind them, for `acknowledge`.

        Stops once `max_bytes` of records were read; without a frame there is nothing more to be read.
        Raises `SpoolUnavailable` where the disk fails.
        """
        frames: list[Frame] = []
        read_bytes = 0
        while read_bytes < max_bytes:
            with self._holdings.changed:
                segment, after = self._holdings.following(after)
                length = segment.length if segment is not None else 0
            if segment is None or after.offset >= length:
                break
            try:
                reading = read_segment(segment, after, end=length, max_bytes=max_bytes - read_bytes)
            except OSError as error:
                raise self._unavailable(error) from error
            with self._holdings.changed:
                self._holdings.note_damage(segment, reading.damage)
            frames += reading.frames
            read_bytes += reading.position.offset - after.offset
            after = reading.position
        return frames, after

    def acknowledge(self, position: Position) -> None:
        """Note that everything before `position` was delivered, and remove the segments that hold no more.

        Raises `SpoolUnavailable` where the disk fails or the spool is closed; then, or after a kill, some frames are read again.
        """
        try:
            with self._writing:
                self._require_open()
                self._remove_delivered(position)
        except OSError as error:
            raise self._unavailable(error) from error

    def _remove_delivered(self, position: Position) -> None:
        with self._holdings.changed:
            position = self._behind_delivered(position)
            if position <= self._holdings.position:
                return
        self._cursor.note(position)
        with self._holdings.changed:
            self._holdings.position = position
            delivered = [each for each in self._holdings.segments if each.number < position.segment]
        for segment in delivered:
            if segment is self._appender.segment:
                self._appender.forget()
            self._quarantine.remove(segment)
            with self._holdings.changed:
                self._holdings.remove(segment)

    def _behind_delivered(self, position: Position) -> Position:
        """Return the same place as the beginning of the next segment, where this one can go.

        That is the open segment, too: what was delivered does not lie on the disk for the next reader.
        """
        _, position = self._holdings.following(position)
        active = self._appender.segment
        if active is None or (position.segment, position.offset) != (active.number, active.length):
            return position
        return Position(active.number + 1) if active.length > HEAD_BYTES else position

    def unread_bytes(self, after: Position) -> int:
        """Return how many bytes of records follow `after`."""
        with self._holdings.changed:
            return self._holdings.unread_bytes(after)

    def wait(
        self,
        after: Position,
        *,
        timeout_seconds: float,
        at_least_bytes: int = 1,
        interrupted: Callable[[], bool] = lambda: False,
    ) -> None:
        """Return when as many bytes of records follow `after`, time is up, or `interrupted` is true after a `wake`."""
        holdings = self._holdings
        with holdings.changed:
            holdings.changed.wait_for(
                lambda: self._closed or interrupted() or holdings.unread_bytes(after) >= at_least_bytes,
                timeout_seconds,
            )

    def wake(self) -> None:
        """Let whoever waits look whether it is interrupted."""
        with self._holdings.changed:
            self._holdings.changed.notify_all()

    def statistics(self, now_us: int) -> SpoolStatistics:
        """Return how much waits and for how long; `now_us` is the present, µs since 1970."""
        with self._holdings.changed:
            segments, position = self._holdings.segments, self._holdings.position
            waiting, size_bytes = self._holdings.frames_waiting, self._holdings.size_bytes
            damage = [sum(segment.damage.values()) for segment in segments if segment.damage]
        appended = oldest_appended_us(segments, position) if waiting else None
        return SpoolStatistics(
            bytes=size_bytes,
            limit_bytes=self._limit_bytes,
            frames_waiting=waiting,
            oldest_unsent_seconds=None if appended is None else max(now_us - appended, 0) / _US_PER_SECOND,
            quarantined_segments=self._quarantine.segments + len(damage),
            quarantined_bytes=self._quarantine.damaged_bytes + sum(damage),
            missing_segments=self._missing_segments,
        )

    def _write(self, entries: Sequence[Entry]) -> None:
        """Write a group: as many entries at once as a segment takes, each chunk with one fsync."""
        waiting = list(entries)
        with self._writing:
            while waiting:
                chunk: list[Entry] = []
                try:
                    segment = self._opened()
                    chunk = self._chunk(segment, waiting)
                    self._write_chunk(segment, chunk)
                except OSError as error:
                    self._pressed = True
                    for entry in chunk + waiting:
                        entry.error = self._unavailable(error)
                    return

    def _require_open(self) -> None:
        """Touch no descriptor that was closed: its number may be another file's by now."""
        if self._closed:
            raise OSError(errno.ESHUTDOWN, "the spool is closed")

    def _opened(self) -> Segment:
        self._require_open()
        if self._pressed:
            self._remove_delivered(self._holdings.position)
        segment = self._appender.opened()
        with self._holdings.changed:
            self._holdings.open(segment)
        return segment

    def _chunk(self, segment: Segment, waiting: list[Entry]) -> list[Entry]:
        """Take from `waiting` what goes into `segment`; what the spool has no room for gets its error."""
        room = self._segment_bytes - segment.length
        with self._holdings.changed:
            left = self._limit_bytes - self._holdings.size_bytes
        chunk: list[Entry] = []
        while waiting and room > 0:
            entry = waiting.pop(0)
            if entry.size_bytes + END_BYTES + HEAD_BYTES > left:
                self._pressed = True
                entry.error = self._full()
                continue
            chunk.append(entry)
            room -= entry.size_bytes
            left -= entry.size_bytes
        return chunk

    def _write_chunk(self, segment: Segment, chunk: Sequence[Entry]) -> None:
        if not chunk:
            return
        bodies = [body for entry in chunk for body in entry.bodies]
        added = self._appender.write(segment, bodies)
        self._pressed = False
        with self._holdings.changed:
            segment.length += added
            segment.frames += len(bodies)
            for entry in chunk:
                entry.written = True
            self._holdings.changed.notify_all()

    def _full(self) -> SpoolFull:
        return SpoolFull(
            str(self._directory),
            "the spool is full",
            found=f"its limit is {self._limit_bytes} bytes",
            remedy="what it holds must be delivered first: see why the store does not take it",
        )

    def _unavailable(self, error: OSError) -> SpoolUnavailable:
        return SpoolUnavailable(
            str(self._directory),
            "the spool's folder cannot be used",
            found=error.strerror or str(error),
            remedy=_REMEDIES.get(error.errno or 0, "check the disk and the folder's permissions"),
        )
