"""Own how a finished document gets onto the disk: whole or not at all."""

from __future__ import annotations

import os
import secrets
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from fairclock.errors import DocumentError

if TYPE_CHECKING:
    from collections.abc import Iterator

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL


def write_whole(path: Path, content: bytes) -> None:
    """Write `content` beside `path` and rename it there, so that no reader ever sees half of it."""
    temporary = path.parent / f".fairclock-{secrets.token_hex(8)}.part"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            # opened so, it has the permissions that the process's mask leaves
            with os.fdopen(os.open(temporary, _NEW, 0o666), "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise _unwritable(path, error) from error


@contextmanager
def folder_for_halves(directory: Path) -> Iterator[Path]:
    """Hold a hidden folder in `directory`, on its disk, for what isn't whole yet; it goes with all that is in it.

    Raises DocumentError where it cannot be made.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        halves = tempfile.TemporaryDirectory(dir=directory, prefix=".fairclock-", suffix=".part")
    except OSError as error:
        raise _unwritable(directory, error) from error
    with halves as name:
        yield Path(name)


def put_in_place(path: Path, directory: Path) -> Path:
    """Move a whole document into `directory` and return where it is now; raises DocumentError where it cannot."""
    place = directory / path.name
    try:
        path.replace(place)
    except OSError as error:
        raise _unwritable(place, error) from error
    return place


def _unwritable(path: Path, error: OSError) -> DocumentError:
    return DocumentError(
        str(path),
        "the document could not be written",
        found=error.strerror or str(error),
        remedy="choose another directory with -o",
    )
