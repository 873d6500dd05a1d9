"""Own how bytes are read from files, pipes and standard input: plain or gzip, told apart by content."""

from __future__ import annotations

import os
import stat
import sys
import zlib
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, TypeAlias

from fairclock.errors import InputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

Progress: TypeAlias = "Callable[[int], None]"
"""Called with the number of bytes that were taken from the file since the last call."""

STANDARD_INPUT = "-"
CHUNK_BYTES = 1 << 20
_INFLATED_BYTES = 4 << 20
_GZIP_WINDOW = 31  # zlib's way of asking for a gzip header
_ZLIB_OR_GZIP_WINDOW = 47
_FLATE_NAMES = {_GZIP_WINDOW: "gzip", _ZLIB_OR_GZIP_WINDOW: "deflate"}
_GZIP_MAGIC = b"\x1f\x8b"
_OTHER_COMPRESSIONS = {
    b"\x28\xb5\x2f\xfd": ("zstd", "zstdcat"),
    b"BZh": ("bzip2", "bzcat"),
    b"\xfd7zXZ": ("xz", "xzcat"),
    b"PK\x03\x04": ("zip", "unzip -p"),
    b"\x04\x22\x4d\x18": ("lz4", "lz4cat"),
}
_MAGIC_BYTES = 6


class Truncated(Exception):  # noqa: N818 - a state of the input, turned into InputError by whoever knows its name
    """A compressed stream that ends, or turns to garbage, before its end; what came before was yielded."""


def check_paths(paths: Sequence[str]) -> None:
    """Refuse what cannot be read before anything is read; raises `InputError` or `UsageError`."""
    if paths.count(STANDARD_INPUT) > 1:
        raise UsageError("-", "standard input can be read once only", remedy="give - once")
    for path in paths:
        if path == STANDARD_INPUT:
            continue
        try:
            mode = os.stat(path).st_mode  # noqa: PTH116 - a path may be bytes that Path would normalise
        except OSError as error:
            raise InputError(path, "cannot be read", found=error.strerror, remedy="check the path") from error
        if stat.S_ISDIR(mode):
            raise InputError(path, "is a directory, not a file", remedy=f"name its files, such as {path}/*")
        if not os.access(path, os.R_OK):
            raise InputError(path, "may not be read by this user", remedy="check the file's permissions")


def size_of(paths: Sequence[str]) -> int | None:
    """Return how many bytes `paths` hold on disk, or None where one of them is no regular file."""
    total = 0
    for path in paths:
        if path == STANDARD_INPUT or not os.path.isfile(path):  # noqa: PTH113
            return None
        total += os.path.getsize(path)  # noqa: PTH202
    return total


def changed_us(path: str) -> int:
    """Return when the file was last changed, µs since 1970."""
    return os.stat(path).st_mtime_ns // 1_000  # noqa: PTH116 - a path may be bytes that Path would normalise


@contextmanager
def opened(path: str) -> Iterator[IO[bytes]]:
    """Open `path`, where - is standard input."""
    if path == STANDARD_INPUT:
        yield sys.stdin.buffer
        return
    try:
        file = open(path, "rb", buffering=0)  # noqa: SIM115, PTH123
    except OSError as error:
        raise InputError(path, "cannot be opened", found=error.strerror, remedy="check the path") from error
    with file:
        yield file


def chunks_of(path: str, progress: Progress | None = None) -> Iterator[bytes]:
    """Yield the content of `path`, inflated where it is gzip.

    A gzip stream that ends too early raises `Truncated` after everything readable has been yielded.
    """
    with opened(path) as file:
        raw = _raw_chunks(path, file, progress)
        head = b""
        for chunk in raw:
            head += chunk
            if len(head) >= _MAGIC_BYTES:
                break
        for magic, (name, command) in _OTHER_COMPRESSIONS.items():
            if head.startswith(magic):
                raise InputError(
                    path,
                    "neither plain nor gzip",
                    found=f"compressed with {name}",
                    remedy=f"pipe it in: {command} {path} | fairclock ingest … -",
                )
        whole = _with_head(head, raw)
        if head.startswith(_GZIP_MAGIC):
            yield from inflated(whole)
        else:
            yield from whole


def _raw_chunks(path: str, file: IO[bytes], progress: Progress | None) -> Iterator[bytes]:
    while True:
        try:
            chunk = file.read(CHUNK_BYTES)
        except OSError as error:
            raise InputError(path, "cannot be read any further", found=error.strerror) from error
        if not chunk:
            return
        if progress is not None:
            progress(len(chunk))
        yield chunk


def _with_head(head: bytes, rest: Iterable[bytes]) -> Iterator[bytes]:
    if head:
        yield head
    yield from rest


def inflated(chunks: Iterable[bytes], *, accept_zlib: bool = False) -> Iterator[bytes]:
    """Yield the content of a gzip stream of one or more members, at most 4 MiB at a time.

    Zeros after the last member are padding. `accept_zlib` also takes a zlib stream (HTTP's `deflate`).
    Raises `Truncated` with a sentence.
    """
    window = _ZLIB_OR_GZIP_WINDOW if accept_zlib else _GZIP_WINDOW
    name = _FLATE_NAMES[window]
    inflater = zlib.decompressobj(window)
    within = False
    for chunk in chunks:
        data = chunk
        while data:
            if not within:
                data = data.lstrip(b"\0")
                if not data:
                    break
                within = True
            before = inflater.copy()
            try:
                piece = inflater.decompress(data, _INFLATED_BYTES)
            except zlib.error as error:
                yield _up_to_the_damage(before, data)
                raise Truncated(f"the {name} data is damaged") from error
            if piece:
                yield piece
            if inflater.eof:
                data = inflater.unused_data
                inflater = zlib.decompressobj(window)
                within = False
            else:
                data = inflater.unconsumed_tail
    if within:
        yield inflater.flush()
        raise Truncated(f"the {name} data ends in the middle")


def _up_to_the_damage(inflater: zlib._Decompress, data: bytes) -> bytes:
    """Return what can still be had of `data`, a byte at a time."""
    pieces = []
    try:
        for position in range(len(data)):
            pieces.append(inflater.decompress(data[position : position + 1]))  # noqa: PERF401 - the last one raises
    except zlib.error:
        pass
    return b"".join(pieces)
