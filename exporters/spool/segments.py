"""Own the files of the spool: their names, their heads, and what is found in one when the spool is opened."""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import google_crc32c

from exporters.spool import disk
from exporters.spool.records import END_BYTES, Found, end_of, walk
from fairclock.errors import SpoolError

if TYPE_CHECKING:
    from pathlib import Path

_MAGIC = b"FCSPOOL"
_VERSION = 1
_HEAD = struct.Struct("<7sBQ")  # magic, version, number
_CHECKSUM = struct.Struct("<I")
HEAD_BYTES = _HEAD.size + _CHECKSUM.size
_SUFFIX = ".segment"
_DIGITS = 20


@dataclass(slots=True, kw_only=True)
class Segment:
    """One file of records; all of it but `damage` can be read up to `length`.

    length: where the records that are safe on the disk end, the closing one not counted.
    frames: how many there are, or were before the damage.
    sealed: whether the closing record is there, so that nothing is missing at the end.
    damage: where what cannot be read begins, and how many bytes it is.
    """

    number: int
    path: Path
    length: int = HEAD_BYTES
    frames: int = 0
    sealed: bool = False
    damage: dict[int, int] = field(default_factory=dict)

    @property
    def size_bytes(self) -> int:
        """Return the file's length."""
        return self.length + (END_BYTES if self.sealed else 0)


def path_of(folder: Path, number: int) -> Path:
    """Return where segment `number` lies in `folder`."""
    return folder / f"{number:0{_DIGITS}d}{_SUFFIX}"


def numbers_in(folder: Path) -> list[int]:
    """Return the numbers of the segments in `folder`, in order; other files are nobody's business."""
    stems = (path.name.removesuffix(_SUFFIX) for path in folder.iterdir() if path.name.endswith(_SUFFIX))
    return sorted(int(stem) for stem in stems if len(stem) == _DIGITS and stem.isascii() and stem.isdigit())


def head(number: int, version: int = _VERSION) -> bytes:
    """Return the first bytes of segment `number`."""
    fields = _HEAD.pack(_MAGIC, version, number)
    return fields + _CHECKSUM.pack(google_crc32c.value(fields))


def examine(folder: Path, number: int, *, last: bool, thoroughly: bool = False) -> Segment | None:
    """Find out what can be read in segment `number`; None for a `last` one that was never begun.

    Cuts off what a killed writer left at the end of the `last` segment. Of the others only the end is read
    where it is as it should be, unless `thoroughly`. Raises `SpoolError` for a segment of a newer Fairclock, OSError where the disk
    fails.
    """
    path = path_of(folder, number)
    descriptor = os.open(path, os.O_RDWR if last else os.O_RDONLY)
    try:
        size = os.fstat(descriptor).st_size
        segment = Segment(number=number, path=path)
        begin = disk.read(descriptor, HEAD_BYTES, 0)
        if begin != head(number):
            _refuse_newer(path, begin)
            if last and head(number).startswith(begin):
                path.unlink()
                return None
            segment.damage[0] = min(size, HEAD_BYTES)
        if last or thoroughly or not _read_end(descriptor, segment, size):
            _read_all(descriptor, segment, size, last=last)
        return segment
    finally:
        os.close(descriptor)


def _refuse_newer(path: Path, begin: bytes) -> None:
    if len(begin) == HEAD_BYTES and begin.startswith(_MAGIC):
        _, version, number = _HEAD.unpack_from(begin)
        if version > _VERSION and begin == head(number, version):
            raise SpoolError(
                str(path),
                "was written by a newer Fairclock",
                remedy="install that version, or let it empty the spool",
            )


def _read_end(descriptor: int, segment: Segment, size: int) -> bool:
    """Take length and count from the closing record, if the file ends with one."""
    at = size - END_BYTES
    if at < HEAD_BYTES:
        return False
    step = next(walk(descriptor, segment=segment.number, start=at, end=size))
    if step.found is not Found.END:
        return False
    frames, begins = end_of(step.body)
    if begins != at:
        return False
    segment.length, segment.frames, segment.sealed = at, frames, True
    return True


def _read_all(descriptor: int, segment: Segment, size: int, *, last: bool) -> None:
    """Go through every record, and note what is damaged."""
    segment.length = HEAD_BYTES
    for step in walk(descriptor, segment=segment.number, start=HEAD_BYTES, end=size):
        if step.found is Found.END:
            segment.sealed = True
            if step.end < size:
                segment.damage[step.end] = size - step.end
            return
        if step.found is Found.TORN and last:
            disk.cut(descriptor, step.start)
            disk.sync(descriptor)
            return
        if step.found is not Found.FRAME:
            segment.damage[step.start] = step.end - step.start
        segment.frames += step.found in {Found.FRAME, Found.DAMAGED}
        segment.length = step.end
    if not last:  # its end is missing, even if the records before are whole
        segment.damage.setdefault(segment.length, 0)
