"""Own how a content is cut into pieces that end with a line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from collectors.lines import LineSplitter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from collectors.gateway.tailing.contents import Content

PIECE_BYTES = 4 << 20
RAW_BYTES = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Whole lines of a content, which lie in its bytes [start, end)."""

    start: int
    end: int
    lines: list[bytes]
    raw: bytes
    """The piece's last bytes as they lie there; all of them, unless it has more than `RAW_BYTES`."""


class PieceReader:
    """Read a content piece by piece; what follows the last newline waits for its own."""

    def __init__(self, content: Content, *, piece_bytes: int = PIECE_BYTES) -> None:
        self._content = content
        self._piece_bytes = piece_bytes
        self._searched = 0

    def next_piece(self, start: int, *, end: int | None = None) -> Piece | None:
        """Return the lines from `start` on, or None where no line is complete yet.

        Nothing at or behind `end` is read. However long a line is, no more than a piece of it is held.
        """
        position = self._searched = max(start, self._searched)
        while True:
            size = self._piece_bytes if end is None else min(self._piece_bytes, end - position)
            window = self._content.read_at(position, size) if size > 0 else b""
            if not window:
                return None
            newline = window.rfind(b"\n")
            if newline >= 0:
                self._searched = 0
                return self._piece(start, position, window[: newline + 1])
            written = window.rstrip(b"\0")
            if written:  # NULs at the end may be bytes that are on their way to the disk
                self._searched = position + len(written)
            position += len(window)

    def last_piece(self, start: int) -> Piece | None:
        """Return the line that no newline ended, once nobody will end it; None where there is none."""
        splitter = LineSplitter(from_the_start=start == 0)
        position = start
        lines: list[bytes] = []
        while raw := self._content.read_at(position, self._piece_bytes):
            lines += splitter.feed(raw)
            position += len(raw)
        lines += splitter.finish()
        if not lines:
            return None
        return Piece(start=start, end=position, lines=lines, raw=self._raw_before(start, position))

    def _piece(self, start: int, position: int, window: bytes) -> Piece:
        splitter = LineSplitter(from_the_start=start == 0)
        lines: list[bytes] = []
        at = start
        while at < position:  # a line longer than a window, or a run of NULs
            part = self._content.read_at(at, min(self._piece_bytes, position - at))
            if not part:
                break
            lines += splitter.feed(part)
            at += len(part)
        lines += splitter.feed(window)
        end = position + len(window)
        raw = window if start == position else self._raw_before(start, end)
        return Piece(start=start, end=end, lines=lines, raw=raw)

    def _raw_before(self, start: int, end: int) -> bytes:
        begin = max(start, end - RAW_BYTES)
        return self._content.read_at(begin, end - begin)


def lines_between(content: Content, start: int, end: int) -> Iterator[tuple[int, list[bytes]]]:
    """Yield the lines in the bytes [start, end) of `content`, each list with where it begins."""
    reader = PieceReader(content)
    while start < end:
        piece = reader.next_piece(start, end=end)
        if piece is None:
            return
        yield piece.start, piece.lines
        start = piece.end
