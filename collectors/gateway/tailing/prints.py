"""Own how a generation is recognised by its content, under whatever name and number it lies.

A print is the beginning of a file and the bytes just before what was read: two files that agree in both, with
times in every line, agree in all between. What is kept on disk are digests, so that no log line lies in a
checkpoint.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collectors.gateway.tailing.contents import Content

PRINT_BYTES = 1024
_DIGEST_BYTES = 16


@dataclass(frozen=True, slots=True)
class Print:
    """A short stretch of bytes: how long, and their digest."""

    length: int = 0
    digest: str = ""

    @classmethod
    def of(cls, data: bytes) -> Self:
        """Return the print of `data`."""
        return cls(len(data), blake2b(data, digest_size=_DIGEST_BYTES).hexdigest() if data else "")

    def matches(self, data: bytes) -> bool:
        """Return whether `data` is what this was made of."""
        return self == Print.of(data)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prints:
    """The two prints of a generation of which `offset` bytes were read; the first may be known before any were."""

    offset: int = 0
    head: Print = Print()
    tail: Print = Print()

    def found_in(self, content: Content) -> tuple[bytes, bytes] | None:
        """Return the printed bytes of `content` if it begins with all that was read, else None.

        A generation of which nothing was ever seen is found nowhere.
        """
        if self.head.length == 0:
            return None
        head = content.read_at(0, self.head.length)
        if not self.head.matches(head):
            return None
        tail = content.read_at(self.offset - self.tail.length, self.tail.length)
        return (head, tail) if self.tail.matches(tail) else None

    def begins(self, content: Content) -> bool:
        """Return whether `content` begins as this generation does."""
        return self.offset > 0 and self.head.matches(content.read_at(0, self.head.length))
