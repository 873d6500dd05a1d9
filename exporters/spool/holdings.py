"""Own what the spool holds in memory about its segments: which there are, how far they go, how far delivered."""

from __future__ import annotations

import logging
from threading import Condition
from typing import TYPE_CHECKING

from exporters.spool.cursor import Position
from exporters.spool.recovery import damage_of
from exporters.spool.segments import HEAD_BYTES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exporters.spool.segments import Segment

_LOG = logging.getLogger(__name__)


class Holdings:
    """The segments in order, and the position up to which everything was delivered.

    Hold `changed` around every call; it is notified of what is appended.
    """

    def __init__(self, segments: Sequence[Segment], position: Position) -> None:
        self.changed = Condition()
        self.position = position
        self._segments = {segment.number: segment for segment in segments}
        self._open: Segment | None = None

    @property
    def segments(self) -> list[Segment]:
        """Return all segments, the oldest first."""
        return list(self._segments.values())

    @property
    def size_bytes(self) -> int:
        """Return what they take on the disk."""
        return sum(segment.size_bytes for segment in self._segments.values())

    @property
    def frames_waiting(self) -> int:
        """Return how many frames lie behind the position."""
        frames = sum(segment.frames for segment in self._segments.values())
        return frames - (self.position.frames_before if self.position.segment in self._segments else 0)

    def open(self, segment: Segment | None) -> None:
        """Take note of the segment that is being written; None while there is none."""
        self._open = segment
        if segment is not None:
            self._segments.setdefault(segment.number, segment)

    def remove(self, segment: Segment) -> None:
        """Forget `segment`."""
        del self._segments[segment.number]

    def following(self, position: Position) -> tuple[Segment | None, Position]:
        """Return the segment in which reading goes on behind `position`, and where in it."""
        for number, segment in self._segments.items():
            if number < position.segment:
                continue
            if number > position.segment:
                position = Position(number)
            if position.offset < segment.length or (segment is self._open and not segment.sealed):
                return segment, position
        if position.segment in self._segments:  # the last one there is, and closed
            return None, Position(position.segment + 1)
        return None, position

    def unread_bytes(self, position: Position) -> int:
        """Return how many bytes of records lie behind `position`."""
        return sum(
            segment.length - (position.offset if number == position.segment else HEAD_BYTES)
            for number, segment in self._segments.items()
            if number >= position.segment
        )

    def note_damage(self, segment: Segment, damage: dict[int, int]) -> None:
        """Take note of where (offset: bytes) `segment` cannot be read, loudly the first time."""
        is_new = bool(damage.keys() - segment.damage.keys())
        segment.damage.update(damage)
        if is_new:
            _LOG.error("%s", damage_of(segment))
