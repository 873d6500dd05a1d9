"""Own how a stream of bytes becomes lines, whatever a rotated or broken file holds.

The lines are the same however the stream is cut into chunks.
"""

from __future__ import annotations

import re

LONGEST_LINE_BYTES = 1 << 20
"""A request's line is far shorter. Longer ones are cut to an excerpt that no parser takes for an event."""
_EXCERPT_BYTES = 1000
_CUT = b" [cut: the line is too long]"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_LATER_REMOVED_BYTES = len(_BYTE_ORDER_MARK) + 1  # and a CR that an LF may still follow
_REST_OF_A_CUT_LINE = b"x"
_NUL_RUN = re.compile(rb"\0+")
_SHOWN_BYTES = 60


class LineSplitter:
    """Cut a stream into lines without their ends.

    LF and CRLF end a line. A run of NULs (what copytruncate leaves in a file) ends one too, and is no line itself.
    """

    def __init__(self, longest_line_bytes: int = LONGEST_LINE_BYTES, *, from_the_start: bool = True) -> None:
        """`from_the_start` says whether the stream begins here, perhaps with a byte order mark."""
        self._longest_line_bytes = longest_line_bytes
        self._carry = b""
        self._cut_line: bytes | None = None
        self._at_start = from_the_start

    def feed(self, chunk: bytes) -> list[bytes]:
        """Return the lines that `chunk` completes."""
        data = self._carry + chunk
        if b"\r" in data:  # one byte is found many times faster than two
            data = data.replace(b"\r\n", b"\n")
        lines = data.split(b"\n")
        if b"\0" in data:
            lines = _without_nuls(lines)
        self._carry = lines.pop()
        lines = self._finished(lines)
        if self._cut_line is not None:
            self._carry = _REST_OF_A_CUT_LINE
        elif len(self._carry) > self._longest_line_bytes + _LATER_REMOVED_BYTES:
            self._cut_line = _excerpt(self._without_mark(self._carry))
            self._carry = _REST_OF_A_CUT_LINE
        return lines

    def finish(self) -> list[bytes]:
        """Return the last line, which no newline ended, if there is one."""
        line = self._carry.removesuffix(b"\r").strip(b"\0")
        self._carry = b""
        return self._finished([line] if line else [])

    def _finished(self, lines: list[bytes]) -> list[bytes]:
        if not lines:
            return lines
        if self._cut_line is not None:
            lines[0] = self._cut_line
            self._cut_line = None
        lines[0] = self._without_mark(lines[0])
        self._at_start = False
        if max(map(len, lines)) > self._longest_line_bytes:
            lines = [line if len(line) <= self._longest_line_bytes else _excerpt(line) for line in lines]
        return lines

    def _without_mark(self, line: bytes) -> bytes:
        return line.removeprefix(_BYTE_ORDER_MARK) if self._at_start else line


def is_cut(line: bytes) -> bool:
    """Return whether `line` is what became of one that is too long."""
    return len(line) == _EXCERPT_BYTES + len(_CUT) and line.endswith(_CUT)


def shape_of(line: bytes) -> str:
    """Return the start of `line` with letters and digits masked, to be shown to somebody: a line may hold secrets."""
    text = line[:_SHOWN_BYTES].decode("utf-8", "replace")
    masked = re.sub(r"[^\W\d_]", "x", re.sub(r"\d", "9", text))
    return repr(masked + ("…" if len(line) > _SHOWN_BYTES else ""))


def _excerpt(line: bytes) -> bytes:
    return line[:_EXCERPT_BYTES] + _CUT


def _without_nuls(lines: list[bytes]) -> list[bytes]:
    """Break lines at NULs; the last element stays what the next chunk goes on from."""
    whole: list[bytes] = []
    for line in lines[:-1]:
        if b"\0" in line:
            whole.extend(piece for piece in _NUL_RUN.split(line) if piece)
        else:
            whole.append(line)
    *ended, rest = _NUL_RUN.split(lines[-1])
    whole.extend(piece for piece in ended if piece)
    # A NUL is kept, so that the newline after it makes no empty line of its own.
    whole.append(b"\0" + rest if ended and rest in {b"", b"\r"} else rest)
    return whole
