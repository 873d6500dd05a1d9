"""Own how a finished document gets onto the disk: whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from fairclock.errors import DocumentError


def write_whole(path: Path, content: bytes) -> None:
    """Write `content` beside `path` and rename it there, so that no reader ever sees half of it."""
    temporary: Path | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".fairclock-", suffix=".part")
        temporary = Path(name)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    except OSError as error:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        raise DocumentError(
            str(path),
            "the document could not be written",
            found=error.strerror or str(error),
            remedy="choose another directory with -o",
        ) from error


def _umask() -> int:
    """Return the process's mask; the system only tells it while setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
