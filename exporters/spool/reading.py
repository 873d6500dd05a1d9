"""Own the reading of a segment: frames, and where there is damage instead."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from exporters.spool.cursor import Position
from exporters.spool.records import Found, appended_us, decode_frame, walk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exporters.spool.segments import Segment
    from fairclock.model import Frame


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What was read up to `position`; `damage` is where (offset: bytes) nothing could be."""

    frames: list[Frame]
    position: Position
    damage: dict[int, int] = field(default_factory=dict)


def read_segment(segment: Segment, after: Position, *, end: int, max_bytes: int) -> Reading:
    """Return what follows `after` in `segment`, which is safe up to `end`, until `max_bytes` were read; raises OSError."""
    frames: list[Frame] = []
    damage: dict[int, int] = {}
    offset, frames_before = after.offset, after.frames_before
    descriptor = os.open(segment.path, os.O_RDONLY)
    try:
        for step in walk(descriptor, segment=segment.number, start=offset, end=end):
            offset = step.end
            frames_before += 1
            if step.found is Found.FRAME:
                try:
                    frames.append(decode_frame(step.body))
                except ValueError:
                    damage[step.start] = step.end - step.start
            else:
                damage[step.start] = step.end - step.start
                if step.found is not Found.DAMAGED:
                    offset, frames_before = end, segment.frames
            if offset - after.offset >= max_bytes:
                break
    finally:
        os.close(descriptor)
    return Reading(frames=frames, position=Position(after.segment, offset, frames_before), damage=damage)


def oldest_appended_us(segments: Sequence[Segment], position: Position) -> int | None:
    """Return when the first frame behind `position` was appended; None where there is none, or it is unreadable."""
    for segment in segments:
        start = Position(segment.number)
        if segment.number == position.segment:
            start = position
        try:
            descriptor = os.open(segment.path, os.O_RDONLY)
        except FileNotFoundError:  # delivered and removed meanwhile
            continue
        try:
            for step in walk(descriptor, segment=segment.number, start=start.offset, end=segment.length):
                if step.found is Found.FRAME:
                    return appended_us(step.body)
        finally:
            os.close(descriptor)
    return None
