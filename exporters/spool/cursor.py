"""Own how far the spool was delivered, as a note on the disk that is rewritten in place.

Two slots take turns, so that a torn write leaves the one before. In place, because a full disk must not keep
anybody from noting that something may be removed. A note that is lost costs a second delivery, nothing else.
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

import google_crc32c

from exporters.spool import disk
from exporters.spool.segments import HEAD_BYTES

if TYPE_CHECKING:
    from pathlib import Path

_MAGIC = b"FCCURSOR"
_SLOT = struct.Struct("<8sQQQQ")  # magic, serial number, segment, offset, frames before it in the segment
_CHECKSUM = struct.Struct("<I")
_SLOT_BYTES = _SLOT.size + _CHECKSUM.size
_SLOTS_AT = (0, 512)  # a sector each
_FILE_BYTES = 1024


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place between two records: segment, offset in it, and how many frames of the segment come before."""

    segment: int
    offset: int = HEAD_BYTES
    frames_before: int = 0


class Cursor:
    """The note of the position up to which everything was delivered; `intact` is false where a slot is damaged."""

    def __init__(self, path: Path) -> None:
        """Open the note, or begin one; raises OSError."""
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        slots = [disk.read(self._descriptor, _SLOT_BYTES, at) for at in _SLOTS_AT]
        self._serial, self.position = max(map(_noted, slots))
        self.intact = all(not any(slot) or _noted(slot)[0] for slot in slots)
        if self.position is _NOWHERE:
            disk.write(self._descriptor, bytes(_FILE_BYTES), 0)
            disk.sync(self._descriptor)

    def note(self, position: Position) -> None:
        """Return once `position` is on the disk; raises OSError."""
        fields = _SLOT.pack(
            _MAGIC, self._serial + 1, position.segment, position.offset, position.frames_before
        )
        data = fields + _CHECKSUM.pack(google_crc32c.value(fields))
        disk.write(self._descriptor, data, _SLOTS_AT[(self._serial + 1) % len(_SLOTS_AT)])
        disk.sync(self._descriptor)
        self._serial += 1
        self.position = position

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)


_NOWHERE = Position(0)


def _noted(data: bytes) -> tuple[int, Position]:
    whole = len(data) == _SLOT_BYTES
    if whole and _CHECKSUM.unpack_from(data, _SLOT.size)[0] == google_crc32c.value(data[: _SLOT.size]):
        magic, serial, segment, offset, frames_before = _SLOT.unpack_from(data)
        if magic == _MAGIC:
            return serial, Position(segment, offset, frames_before)
    return 0, _NOWHERE
