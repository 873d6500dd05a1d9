"""Own what a tail can say about itself."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class TailStatistics:
    """Counts since the start, and the state right now.

    files: files that are open; missing: logs that are not there (yet).
    unread_bytes: bytes of the open files that were not delivered yet, unfinished lines among them.
    lost_files: files that were gone, or broke off, before they were read to their end.
    paused: why nothing is delivered right now, or an empty string.
    through_us: up to which event time the log that is furthest is read through, µs since 1970.
    """

    lines: int = 0
    payload_bytes: int = 0
    frames: int = 0
    files: int = 0
    missing: int = 0
    unread_bytes: int = 0
    lost_files: int = 0
    paused: str = ""
    through_us: int | None = None
