"""Own the figures by which the spool is watched."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SpoolStatistics:
    """What the spool holds at one instant.

    bytes, limit_bytes: what the segments take on the disk, and may take.
    frames_waiting: appended and not acknowledged.
    oldest_unsent_seconds: the age of the first of them; None where none waits.
    quarantined_segments, quarantined_bytes: segments with damage, and how much in them could not be read.
    missing_segments: segments that were gone when the spool was opened, with all that was in them.
    """

    bytes: int
    limit_bytes: int
    frames_waiting: int
    oldest_unsent_seconds: float | None
    quarantined_segments: int
    quarantined_bytes: int
    missing_segments: int
