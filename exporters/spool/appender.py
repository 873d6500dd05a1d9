"""Own the end of the spool: the segment that is being written, its growth, its closing, and failing disks."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from exporters.spool import disk
from exporters.spool.records import Type, end_body, header
from exporters.spool.segments import HEAD_BYTES, Segment, head, path_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from exporters.spool.records import Body


class Appender:
    """Write bodies at the end of one segment after the other; every method may raise OSError, and be called again.

    Not for several threads at once. `segment` is the one that is being written, None before the first.
    """

    def __init__(self, folder: Path, *, segment_bytes: int, next_number: int) -> None:
        self._folder = folder
        self._segment_bytes = segment_bytes
        self._next_number = next_number
        self._descriptor = -1
        self._uncut = False
        self.segment: Segment | None = None

    def resume(self, segment: Segment) -> None:
        """Go on at the end of `segment`, which was found whole and not closed."""
        self._descriptor = os.open(segment.path, os.O_RDWR)
        self.segment = segment

    def opened(self) -> Segment:
        """Return the segment that the next body goes to; close a full one and begin another where it is time."""
        if self.segment is not None and self.segment.length >= self._segment_bytes:
            self._seal(self.segment)
        if self.segment is None:
            self.segment = self._begin()
        return self.segment

    def write(self, segment: Segment, bodies: Sequence[Body]) -> int:
        """Return how many bytes were added to the `opened` segment, once they are on the disk.

        Its length is for the caller to change. After an error the segment is as it was before.
        """
        self._cut_rest(segment)
        pieces = [
            piece
            for body in bodies
            for piece in (header(Type.FRAME, body, segment=segment.number), body.data)
        ]
        data = b"".join(pieces)
        self._put(segment, data)
        return len(data)

    def forget(self) -> None:
        """Leave the segment as it is; the next body goes to another."""
        if self.segment is not None:
            os.close(self._descriptor)
            self.segment = None

    def _put(self, segment: Segment, data: bytes) -> None:
        self._uncut = True
        try:
            disk.write(self._descriptor, data, segment.length)
            disk.sync(self._descriptor)
        except OSError:
            self._cut_rest(segment)
            raise
        self._uncut = False

    def _cut_rest(self, segment: Segment) -> None:
        """Remove what a failed write left; what is behind the last whole record must not pass for one."""
        if self._uncut:
            disk.cut(self._descriptor, segment.length)
            self._uncut = False

    def _begin(self) -> Segment:
        path = path_of(self._folder, self._next_number)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            disk.write(descriptor, head(self._next_number), 0)
            disk.sync(descriptor)
            disk.sync_folder(self._folder)
        except BaseException:
            os.close(descriptor)
            path.unlink(missing_ok=True)
            raise
        self._descriptor, self._uncut = descriptor, False
        self._next_number += 1
        return Segment(number=self._next_number - 1, path=path, length=HEAD_BYTES)

    def _seal(self, segment: Segment) -> None:
        self._cut_rest(segment)
        body = end_body(frames=segment.frames, at=segment.length)
        self._put(segment, header(Type.END, body, segment=segment.number) + body.data)
        segment.sealed = True
        self.forget()
