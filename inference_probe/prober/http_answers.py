"""Own the reading of one HTTP/1.1 answer as its bytes come, so that each byte can be given its instant."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

_LARGEST_HEAD_BYTES = 65_536
_LENGTH_DIGITS = 15
_FIRST_FINAL_STATUS = 200
_NO_BODY = frozenset({204, 304})
_HEX = frozenset(b"0123456789abcdefABCDEF")
_STATUS = re.compile(r"HTTP/1\.\d [1-9]\d\d(?: .*)?", re.ASCII)

_State = Literal["head", "length", "size", "chunk", "trailer", "to_the_end", "whole"]


class NotHttp(ValueError):  # noqa: N818 - it says what happened
    """What came is not an HTTP/1.1 answer."""


class HttpAnswer:
    """One answer; `take` gets the body's bytes, without their framing.

    `status` is None until the head is there. `is_whole` once the body has ended as its head says it ends.
    """

    def __init__(self, take: Callable[[bytes], None]) -> None:
        self.status: int | None = None
        self.headers: dict[str, str] = {}
        self.keeps_open = False
        self._take = take
        self._state: _State = "head"
        self._left = 0
        self._buffer = bytearray()

    @property
    def is_whole(self) -> bool:
        """Say whether the answer is complete."""
        return self._state == "whole"

    def feed(self, data: bytes) -> None:
        """Take bytes as they came; raises `NotHttp`."""
        self._buffer += data
        while self._step():
            pass

    def end(self) -> None:
        """Take note that no more bytes come: what runs to the connection's end is whole now."""
        if self._state == "to_the_end":
            self._state = "whole"

    def _step(self) -> bool:
        if self._state == "whole":
            if self._buffer:
                self.keeps_open = False  # something came that nobody asked for
            return False
        if self._state == "to_the_end":
            return self._pass_on(len(self._buffer))
        if self._state in {"length", "chunk"}:
            return self._measured()
        return self._lines()

    def _measured(self) -> bool:
        moved = self._pass_on(min(self._left, len(self._buffer)))
        if self._left:
            return moved
        if self._state == "length":
            self._state = "whole"
            return True
        if len(self._buffer) < len(b"\r\n"):
            return False
        if not self._buffer.startswith(b"\r\n"):
            raise NotHttp("a chunk does not end where it says")
        del self._buffer[:2]
        self._state = "size"
        return True

    def _pass_on(self, size: int) -> bool:
        if not size:
            return False
        piece = bytes(self._buffer[:size])
        del self._buffer[:size]
        if self._state != "to_the_end":
            self._left -= size
        self._take(piece)
        return True

    def _lines(self) -> bool:
        mark = b"\r\n\r\n" if self._state == "head" else b"\r\n"
        end = self._buffer.find(mark)
        if end < 0:
            if len(self._buffer) > _LARGEST_HEAD_BYTES:
                raise NotHttp("no end of the head")
            return False
        text = bytes(self._buffer[:end])
        del self._buffer[: end + len(mark)]
        if self._state == "head":
            self._head(text)
        elif self._state == "size":
            self._size(text)
        elif not text:
            self._state = "whole"
        return True

    def _size(self, text: bytes) -> None:
        size = text.partition(b";")[0].strip()
        if not size or not _HEX.issuperset(size):
            raise NotHttp("a chunk has no size")
        self._left = int(size, 16)
        self._state = "chunk" if self._left else "trailer"

    def _head(self, text: bytes) -> None:
        first, *lines = text.decode("latin-1").split("\r\n")
        if _STATUS.fullmatch(first) is None:
            raise NotHttp("no HTTP/1.1 status line")
        version, number = first.split(" ", 2)[:2]
        status = int(number)
        if status < _FIRST_FINAL_STATUS:
            return  # an informational answer; the final one follows
        self.status = status
        for line in lines:
            name, _, value = line.partition(":")
            self.headers[name.strip().lower()] = value.strip()
        self._frame(version=version)

    def _frame(self, *, version: str) -> None:
        said = self.headers.get("connection", "").lower()
        self.keeps_open = "close" not in said and (version != "HTTP/1.0" or "keep-alive" in said)
        if self.status in _NO_BODY:
            self._state = "whole"
        elif "chunked" in self.headers.get("transfer-encoding", "").lower():
            self._state = "size"
        elif "content-length" in self.headers:
            length = self.headers["content-length"]
            if not (length.isascii() and length.isdigit() and len(length) <= _LENGTH_DIGITS):
                raise NotHttp("the length is no number")
            self._left = int(length)
            self._state = "length"
        else:
            self._state, self.keeps_open = "to_the_end", False
