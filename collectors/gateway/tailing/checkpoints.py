"""Own the checkpoint file: how far each log was read, replaced as a whole or not at all.

It is written after the bytes it speaks of are safe elsewhere, so an old one costs a second reading and no more.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
from hashlib import blake2b
from typing import TYPE_CHECKING

from collectors.gateway.tailing.records import LogRecord
from fairclock.errors import InputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_LOG = logging.getLogger(__name__)
_SCHEMA = "fairclock.tail/1"
_NAME = "tail.json"
_DIGEST_BYTES = 16


class CheckpointFile:
    """Keep the checkpoint in `directory`, which one process may use at a time."""

    def __init__(self, directory: Path) -> None:
        """Take the directory, made where it is not there; raises `UsageError` where another process has it."""
        self._path = directory / _NAME
        self.was_damaged = False
        try:
            directory.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(directory / "tail.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise UsageError(
                str(directory),
                "cannot hold the checkpoint",
                found=error.strerror,
                remedy="choose another folder",
            ) from error
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._lock)
            raise UsageError(
                str(directory),
                "another collector keeps its checkpoint here",
                remedy="stop that one, or choose another folder",
            ) from error

    def close(self) -> None:
        """Let another process have the directory."""
        os.close(self._lock)

    def load(self) -> list[LogRecord]:
        """Return what was saved last.

        A damaged file is set aside and sets `was_damaged`: then everything that can be found is to be read.
        Raises `InputError` where a newer Fairclock wrote it.
        """
        try:
            text = self._path.read_bytes()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise InputError(str(self._path), "cannot be read", found=error.strerror) from error
        digest, _, body = text.partition(b"\n")
        if digest != _digest(body):
            self._set_aside("its digest is of something else")
            return []
        try:
            document = json.loads(body)
            schema = document["schema"]
            logs = [LogRecord.from_json(value) for value in document["logs"]] if schema == _SCHEMA else None
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            self._set_aside(repr(error))
            return []
        if logs is None:
            raise InputError(
                str(self._path),
                "was written by another version",
                found=str(schema),
                remedy="update this program, or remove the file and read everything again",
            )
        return logs

    def _set_aside(self, problem: str) -> None:
        self.was_damaged = True
        aside = self._path.with_suffix(".damaged")
        os.replace(self._path, aside)  # noqa: PTH105 - as in save
        _LOG.error(
            "%s is damaged (%s): moved to %s; every log and rotated log is read again, nothing is counted twice",
            self._path,
            problem,
            aside,
        )

    def save(self, logs: Sequence[LogRecord]) -> None:
        """Replace what was saved; raises `OSError`, and then the old one stands."""
        body = json.dumps({"schema": _SCHEMA, "logs": [log.to_json() for log in logs]}).encode()
        fresh = self._path.with_suffix(".new")
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(_digest(body) + b"\n" + body)
                file.flush()
                os.fsync(file.fileno())
            os.replace(fresh, self._path)  # noqa: PTH105 - the call that is atomic
        except OSError:
            fresh.unlink(missing_ok=True)
            raise


def _digest(body: bytes) -> bytes:
    return blake2b(body, digest_size=_DIGEST_BYTES).hexdigest().encode()
