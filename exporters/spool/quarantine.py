"""Own the segments that were damaged: they are not deleted with the others, and what they lost is counted."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from exporters.spool.segments import Segment

_NAME = re.compile(r"(?P<number>\d{20})\.(?P<damaged>\d+)-damaged")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    path: Path
    size_bytes: int
    damaged_bytes: int


class Quarantine:
    """Remove delivered segments; move those with damage aside, up to `limit_bytes` in all, the oldest going first."""

    def __init__(self, folder: Path, *, limit_bytes: int) -> None:
        """Look at what is in `folder`; raises OSError."""
        self._folder = folder
        self._limit_bytes = limit_bytes
        self._kept: list[_Kept] = []
        for path in sorted(folder.iterdir()):
            match = _NAME.fullmatch(path.name)
            if match is not None:
                self._keep(path, int(match["damaged"]))

    @property
    def segments(self) -> int:
        """Return how many segments are in quarantine."""
        return len(self._kept)

    @property
    def damaged_bytes(self) -> int:
        """Return how many of their bytes could not be read."""
        return sum(kept.damaged_bytes for kept in self._kept)

    @property
    def size_bytes(self) -> int:
        """Return how much room they take."""
        return sum(kept.size_bytes for kept in self._kept)

    def remove(self, segment: Segment) -> None:
        """Delete `segment`, or move it here if it has damage; raises OSError."""
        if not segment.damage:
            segment.path.unlink(missing_ok=True)
            return
        damaged = sum(segment.damage.values())
        path = self._folder / f"{segment.number:020d}.{damaged}-damaged"
        try:
            segment.path.rename(path)
        except FileNotFoundError:
            return
        self._keep(path, damaged)
        while len(self._kept) > 1 and self.size_bytes > self._limit_bytes:
            self._kept.pop(0).path.unlink(missing_ok=True)

    def _keep(self, path: Path, damaged: int) -> None:
        self._kept.append(_Kept(path=path, size_bytes=path.stat().st_size, damaged_bytes=damaged))
