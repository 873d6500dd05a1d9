"""Own the system calls of the spool, one place to count them in and to let them fail in."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def write(descriptor: int, data: bytes, at: int) -> None:
    """Write all of `data` at the offset `at`."""
    written = os.pwrite(descriptor, data, at)
    view = memoryview(data)
    while written < len(data):
        written += os.pwrite(descriptor, view[written:], at + written)


def sync(descriptor: int) -> None:
    """Return once the file's bytes, and its length, are on the disk."""
    os.fdatasync(descriptor)


def sync_folder(folder: Path) -> None:
    """Return once the names in `folder` are on the disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def cut(descriptor: int, length: int) -> None:
    """Cut the file off after `length` bytes."""
    os.ftruncate(descriptor, length)


def read(descriptor: int, size: int, at: int) -> bytes:
    """Return `size` bytes from the offset `at`, fewer only where the file ends."""
    data = os.pread(descriptor, size, at)
    while len(data) < size:
        more = os.pread(descriptor, size - len(data), at + len(data))
        if not more:
            break
        data += more
    return data
