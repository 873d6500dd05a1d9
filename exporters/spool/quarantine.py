"""Own what is kept of damaged segments: which bytes could not be read, counted across restarts, and no byte of them.

A segment holds log lines as they came, query strings among them, and those must not outlive delivery.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from exporters.spool.segments import Segment

_NAME = re.compile(r"(?P<number>\d{20})\.(?P<damaged>\d+)-damaged")


_MOST_NOTES = 1_000
_MOST_PLACES = 100
_NOTE = "a segment of"


class Quarantine:
    """Remove delivered segments; of those with damage a note stays, of the latest 1,000 at most."""

    def __init__(self, folder: Path) -> None:
        """Look at what is in `folder`; raises OSError."""
        self._folder = folder
        self._kept: list[tuple[Path, int]] = []
        for path in sorted(folder.iterdir()):
            match = _NAME.fullmatch(path.name)
            if match is not None:
                self._keep(path, int(match["damaged"]))
                _empty(path)

    @property
    def segments(self) -> int:
        """Return how many segments are in quarantine."""
        return len(self._kept)

    @property
    def damaged_bytes(self) -> int:
        """Return how many of their bytes could not be read."""
        return sum(damaged for _, damaged in self._kept)

    def remove(self, segment: Segment) -> None:
        """Delete `segment`, and leave a note if it has damage; raises OSError."""
        if not segment.damage:
            segment.path.unlink(missing_ok=True)
            return
        damaged = sum(segment.damage.values())
        path = self._folder / f"{segment.number:020d}.{damaged}-damaged"
        try:
            segment.path.rename(path)  # at no instant is it gone and not counted
        except FileNotFoundError:
            return
        path.write_text(_note_of(segment.size_bytes, segment.damage))
        self._keep(path, damaged)

    def _keep(self, path: Path, damaged: int) -> None:
        self._kept.append((path, damaged))
        if len(self._kept) > _MOST_NOTES:
            self._kept.pop(0)[0].unlink(missing_ok=True)


def _note_of(size_bytes: int, damage: Mapping[int, int]) -> str:
    places = [f"{size} bytes at {at}" for at, size in sorted(damage.items())]
    shown = places[:_MOST_PLACES] + ["and so on"] * (len(places) > _MOST_PLACES)
    return f"{_NOTE} {size_bytes} bytes; not readable: {', '.join(shown)}\n"


def _empty(path: Path) -> None:
    """Make a note of a segment that a kill left as it was."""
    with path.open("rb") as file:
        begins = file.read(len(_NOTE))
    if begins != _NOTE.encode():
        path.write_text(
            f"{_NOTE} {path.stat().st_size} bytes; which were not readable is not known any more\n"
        )
