"""Own the note from which a receiver that was killed goes on with its coverage.

It is rewritten in place with every group of requests, which costs microseconds, and not forced to the disk:
after a loss of power it may be old or useless, and then a gap stays open, which flatters nobody.
"""

from __future__ import annotations

import json
import os
import zlib
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_LONGEST_QUIET_SECONDS = 366 * 86_400.0
_LONGEST_NOTE_BYTES = 1 << 16
_HEADER_BYTES = len("00000000 00000000\n")


class ListeningNote:
    """The latest covered pieces, and how long the receiver had listened since the last of their spans."""

    def __init__(self, path: Path | None) -> None:
        """Use the file at `path`; None for a receiver that begins anew with every start."""
        self._descriptor: int | None = None
        if path is not None:
            with suppress(OSError):  # without a note a restart leaves a gap, and costs no span
                self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)

    def read(self) -> tuple[list[tuple[int, int]], float]:
        """Return (pieces, quiet seconds); nothing where there is no note, or one that cannot be used."""
        if self._descriptor is None:
            return [], 0.0
        try:
            data = os.pread(self._descriptor, _LONGEST_NOTE_BYTES, 0)
            checksum, length = data[: _HEADER_BYTES - 1].split(b" ")
            text = data[_HEADER_BYTES : _HEADER_BYTES + int(length)]
            note = json.loads(text)
            pieces = [(int(start), int(end)) for start, end in note["pieces"]]
            quiet_seconds = float(note["quiet_seconds"])
            is_whole = int(checksum, 16) == zlib.crc32(text)
        except (OSError, ValueError, TypeError, KeyError):
            return [], 0.0
        in_order = sorted(pieces) == pieces and all(start <= end for start, end in pieces)
        if not (is_whole and in_order and 0 <= quiet_seconds <= _LONGEST_QUIET_SECONDS):
            return [], 0.0
        return pieces, quiet_seconds

    def write(self, pieces: Sequence[tuple[int, int]], *, quiet_seconds: float) -> None:
        """Replace the note; where the disk does not take it, a kill may leave a gap."""
        if self._descriptor is None:
            return
        text = json.dumps({"pieces": pieces, "quiet_seconds": round(quiet_seconds, 3)}).encode()
        with suppress(OSError):
            os.pwrite(self._descriptor, b"%08x %08d\n" % (zlib.crc32(text), len(text)) + text, 0)

    def close(self) -> None:
        """Close the file."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
