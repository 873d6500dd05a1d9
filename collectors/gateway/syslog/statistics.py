"""Own what a syslog receiver can say about itself."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SyslogStatistics:
    """Counts since the start, and the state right now.

    lines: lines that were delivered; frames: in how many frames.
    lost: datagrams that came and could not be kept, here or by the system, as far as that is known.
    waiting_bytes: bytes of lines that are not delivered yet; connections: those that are open.
    paused: why nothing is delivered right now, or an empty string.
    """

    lines: int = 0
    frames: int = 0
    lost: int = 0
    waiting_bytes: int = 0
    connections: int = 0
    paused: str = ""
