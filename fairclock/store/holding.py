"""Own the question who works on an embedded folder: this process, or another one that serves it."""

from __future__ import annotations

import fcntl
import json
import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairclock.errors import StoreError, StoreReadOnly
from fairclock.store.front import FRONT_FILE

if TYPE_CHECKING:
    from pathlib import Path

LOCK_FILE = "fairclock.lock"
PATIENCE_SECONDS = 120.0  # a busy machine takes its time to start a holder, and others may come before us
_POLL_SECONDS = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontNote:
    """Where the holder of a folder serves it."""

    port: int
    token: str
    pid: int


def read_note(folder: Path) -> FrontNote | None:
    """Return what the holder wrote, or None where nobody holds the folder."""
    try:
        note = json.loads((folder / FRONT_FILE).read_text(encoding="utf-8"))
        return FrontNote(port=int(note["port"]), token=str(note["token"]), pid=int(note["pid"]))
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None
    except PermissionError as error:
        raise StoreError(
            f"chdb://{folder}",
            "another user's process holds this folder, and its token is not readable",
            remedy="run this command as that user",
        ) from error


class Hold:
    """The exclusive right to a folder, kept by a lock that the kernel drops when the process dies."""

    def __init__(self, descriptor: int) -> None:
        """Keep the locked `descriptor` open."""
        self._descriptor = descriptor

    def release(self) -> None:
        """Let the next process in."""
        os.close(self._descriptor)


def _try_lock(folder: Path) -> Hold | None:
    path = folder / LOCK_FILE
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except (FileExistsError, NotADirectoryError) as error:
        raise StoreError(
            f"chdb://{folder}",
            "a file stands where the folder should be",
            remedy="name another folder with --dsn",
        ) from error
    except OSError as error:
        raise StoreReadOnly(
            f"chdb://{folder}",
            "the folder cannot be written",
            found=os.strerror(error.errno or 0),
            remedy="make it writable for this user, or name another folder with --dsn",
        ) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return Hold(descriptor)


def hold_or_find(folder: Path) -> Hold | FrontNote:
    """Take the folder, or return where its holder serves it; a holder that died is no holder.

    Raises StoreError when a process holds the folder but does not serve it in time.
    """
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        hold = _try_lock(folder)
        if hold is not None:
            return hold
        note = read_note(folder)
        if note is not None:
            return note
        if time.monotonic() > deadline:
            raise StoreError(
                f"chdb://{folder}",
                "another process holds this folder but does not serve it",
                remedy="wait until it ends, or stop it",
            )
        time.sleep(_POLL_SECONDS)
