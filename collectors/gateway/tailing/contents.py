"""Own how the bytes of one file are reached: a file that may grow, or a gzip of one that no longer does."""

from __future__ import annotations

import fcntl
import os
import stat
import sys
from typing import TYPE_CHECKING, Protocol

from collectors.byte_streams import CHUNK_BYTES, Truncated, inflated

if TYPE_CHECKING:
    from collections.abc import Iterator

_GZIP_MAGIC = b"\x1f\x8b"
_OTHER_COMPRESSIONS = {
    b"\x28\xb5\x2f\xfd": "zstd",
    b"BZh": "bzip2",
    b"\xfd7zXZ": "xz",
    b"PK\x03\x04": "zip",
    b"\x04\x22\x4d\x18": "lz4",
}
_MAGIC_BYTES = 6
_GZIP_SIZE_BYTES = 4
_GZIP_SIZE_MODULUS = 1 << 32
_GET_VERSION = 0x8008_7601  # FS_IOC_GETVERSION of linux/fs.h: _IOR('v', 1, long)


class Unreadable(Exception):  # noqa: N818 - a state of a file, said once in the log by whoever follows it
    """A file whose bytes cannot be had; the text says why."""


class Content(Protocol):
    """The bytes of one open file."""

    @property
    def grows(self) -> bool:
        """Whether somebody may still write to it."""
        ...

    def stat(self) -> os.stat_result:
        """Return what the open file is now, whatever its name leads to."""
        ...

    def version(self) -> int | None:
        """Return what tells the file from others that had its inode before; None where nothing does."""
        ...

    def read_at(self, offset: int, size: int) -> bytes:
        """Return `size` bytes from `offset` on, or fewer where they end."""
        ...

    def ended_early(self) -> bool:
        """Return whether the last read met an end that is none: a compressed stream that breaks off."""
        ...

    def has_size(self, size: int) -> bool:
        """Return whether the content is `size` bytes long, as far as can be seen without reading it all."""
        ...

    def again(self) -> Content:
        """Return a second view, which reads other parts without slowing the first."""
        ...

    def close(self) -> None:
        """Let the file go."""
        ...


class PlainContent:
    """A file that is read where it lies."""

    grows = True

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def stat(self) -> os.stat_result:
        """Return the file's state."""
        return os.fstat(self._descriptor)

    def version(self) -> int | None:
        """Return the number of the inode's use."""
        return _version_of(self._descriptor)

    def read_at(self, offset: int, size: int) -> bytes:
        """Return bytes as they lie there."""
        return os.pread(self._descriptor, size, offset)

    def ended_early(self) -> bool:
        """Return False: what is not there yet may come."""
        return False

    def has_size(self, size: int) -> bool:
        """Return whether the file is exactly that long."""
        return self.stat().st_size == size

    def again(self) -> PlainContent:
        """Return the same: reading at an offset moves nothing."""
        return self

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)


class InflatedContent:
    """What a gzip file holds; read forwards, and from its beginning when an earlier part is wanted."""

    grows = False

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._restart()

    def _restart(self) -> None:
        self._pieces = inflated(self._compressed())
        self._start = 0
        self._held = b""
        self._ended_early = False
        self._seen_bytes = self.stat().st_size

    def _compressed(self) -> Iterator[bytes]:
        position = 0
        while chunk := os.pread(self._descriptor, CHUNK_BYTES, position):
            position += len(chunk)
            yield chunk

    def stat(self) -> os.stat_result:
        """Return the state of the compressed file."""
        return os.fstat(self._descriptor)

    def version(self) -> int | None:
        """Return the number of the compressed file's inode's use."""
        return _version_of(self._descriptor)

    def read_at(self, offset: int, size: int) -> bytes:
        """Return bytes of the content; a stream that broke off is tried anew once its file has grown."""
        if offset < self._start or (self._ended_early and self.stat().st_size != self._seen_bytes):
            self._restart()
        while len(self._held) < offset - self._start + size:
            try:
                piece = next(self._pieces, None)
            except Truncated:
                self._ended_early = True
                break
            if piece is None:
                break
            skipped = min(len(self._held), max(0, offset - self._start))
            self._held = self._held[skipped:] + piece
            self._start += skipped
        begin = offset - self._start
        return self._held[begin : begin + size]

    def ended_early(self) -> bool:
        """Return whether the stream broke off where it was last read."""
        return self._ended_early

    def has_size(self, size: int) -> bool:
        """Compare with the size that gzip notes at a file's end."""
        end = self.stat().st_size
        noted = os.pread(self._descriptor, _GZIP_SIZE_BYTES, max(0, end - _GZIP_SIZE_BYTES))
        return int.from_bytes(noted, "little") == size % _GZIP_SIZE_MODULUS

    def again(self) -> InflatedContent:
        """Return a view that begins at the beginning; it must not outlive this one."""
        return InflatedContent(self._descriptor)

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)


def _version_of(descriptor: int) -> int | None:
    """Return how often an inode was given to a file, as Linux's file systems count it; None where they do not."""
    try:
        return int.from_bytes(fcntl.ioctl(descriptor, _GET_VERSION, bytes(8))[:4], sys.byteorder)
    except OSError:
        return None


def open_plain(path: str) -> PlainContent:
    """Open a log that is followed; raises `Unreadable`."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise Unreadable(error.strerror) from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise Unreadable("not a regular file")
    return PlainContent(descriptor)


def open_earlier(path: str) -> Content:
    """Open a rotated log, inflated where it is gzip; raises `Unreadable`."""
    plain = open_plain(path)
    try:
        head = plain.read_at(0, _MAGIC_BYTES)
    except OSError as error:
        plain.close()
        raise Unreadable(error.strerror) from error
    if any(magic.startswith(head) for magic in (_GZIP_MAGIC, *_OTHER_COMPRESSIONS) if magic != head):
        plain.close()
        raise Unreadable(
            "is being written"
        )  # begun anew since it was listed: what it holds cannot be told yet
    for magic, name in _OTHER_COMPRESSIONS.items():
        if head.startswith(magic):
            plain.close()
            raise Unreadable(f"compressed with {name}")
    if head.startswith(_GZIP_MAGIC):
        return InflatedContent(plain._descriptor)  # noqa: SLF001 - it changes hands
    return plain
