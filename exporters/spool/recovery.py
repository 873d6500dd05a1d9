"""Own what a spool's folder is found to hold when it is opened, after whatever happened to it."""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exporters.spool.cursor import Position
from exporters.spool.records import Found, walk
from exporters.spool.segments import HEAD_BYTES, examine, numbers_in

if TYPE_CHECKING:
    from pathlib import Path

    from exporters.spool.cursor import Cursor
    from exporters.spool.quarantine import Quarantine
    from exporters.spool.segments import Segment

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovered:
    """The segments in order, where delivery goes on, and how many segments are gone that should be there."""

    segments: list[Segment]
    position: Position
    missing_segments: int


def recover(folder: Path, cursor: Cursor, quarantine: Quarantine) -> Recovered:
    """Examine every segment in `folder`; raises `SpoolError`, or OSError where the disk fails."""
    numbers = numbers_in(folder)
    delivered = [number for number in numbers if number < cursor.position.segment]
    for number in delivered:  # a kill came between the note and the removal
        segment = examine(folder, number, last=number == numbers[-1], thoroughly=True)
        if segment is not None:
            quarantine.remove(segment)
    waiting = numbers[len(delivered) :]
    found = (examine(folder, number, last=number == waiting[-1]) for number in waiting)
    segments = [segment for segment in found if segment is not None]
    for segment in segments:
        if segment.damage:
            _LOG.error("%s", damage_of(segment))
    missing = _missing([segment.number for segment in segments], cursor)
    if missing:
        _LOG.error("%s: %d segments are gone; their frames are lost", folder, missing)
    return Recovered(
        segments=segments, position=_position(segments, cursor.position), missing_segments=missing
    )


def damage_of(segment: Segment) -> str:
    """Say what is wrong with `segment`."""
    places = ", ".join(f"{size} bytes at {at}" for at, size in sorted(segment.damage.items()) if size)
    return f"{segment.path}: damaged ({places or 'its end is missing'}); what cannot be read is lost, the rest goes on"


def _missing(numbers: list[int], cursor: Cursor) -> int:
    if not numbers:
        return int(cursor.position.offset > HEAD_BYTES)
    noted = cursor.position.segment
    first = noted if cursor.intact and 0 < noted <= numbers[0] else numbers[0]
    return numbers[-1] - first + 1 - len(numbers)


def _position(segments: list[Segment], noted: Position) -> Position:
    """Return `noted` where a record begins there, else the beginning of what is there."""
    if not segments:
        return Position(noted.segment + (noted.offset > HEAD_BYTES))
    segment = segments[0]
    if segment.number == noted.segment and _is_boundary(segment, noted.offset):
        return noted
    return Position(segment.number)


def _is_boundary(segment: Segment, offset: int) -> bool:
    if offset == segment.length:
        return True
    descriptor = os.open(segment.path, os.O_RDONLY)
    try:
        step = next(walk(descriptor, segment=segment.number, start=offset, end=segment.length), None)
        return step is not None and step.found in {Found.FRAME, Found.DAMAGED}
    finally:
        os.close(descriptor)
