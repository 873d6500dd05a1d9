"""Own which files are followed: paths as they are given, and globs with what they match as time goes by."""

from __future__ import annotations

import fnmatch
import glob
import os
from typing import TYPE_CHECKING

from collectors.gateway.tailing.earlier_files import is_compressed, is_earlier_file_of
from fairclock.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence


class Patterns:
    """Say which paths are to be followed now."""

    def __init__(self, patterns: Sequence[str]) -> None:
        """Take paths and globs; raises `UsageError` for what can never be followed."""
        if not patterns:
            raise UsageError("collect gateway", "no log is named", remedy="name files or globs")
        absolute = [os.path.abspath(pattern) for pattern in patterns]  # noqa: PTH100 - links are not resolved
        self.literal = [each for each in absolute if not glob.has_magic(each) or os.path.exists(each)]  # noqa: PTH110
        self._globs = [each for each in absolute if each not in self.literal]
        for path in self.literal:
            if os.path.isdir(path):  # noqa: PTH112
                raise UsageError(
                    path, "is a folder, not a log", remedy=f"name its files, such as {path}/*.log"
                )
            if is_compressed(path):
                raise UsageError(
                    path, "is compressed and will not grow", remedy=f"use: fairclock ingest gateway {path}"
                )

    def paths(self) -> list[str]:
        """Return the paths given, and the files that globs match now without rotated and compressed ones."""
        matched = {
            path
            for pattern in self._globs
            for path in glob.glob(pattern, recursive=True)  # noqa: PTH207 - absolute patterns
        }
        logs = {path for path in matched if os.path.isfile(path) and not is_compressed(path)}  # noqa: PTH113
        logs -= {path for path in logs if is_earlier_file_of(path, logs.union(self.literal))}
        return list(dict.fromkeys([*self.literal, *sorted(logs)]))

    def include(self, path: str) -> bool:
        """Return whether `path` is one that these patterns ask for, be it there or not."""
        return path in self.literal or any(fnmatch.fnmatchcase(path, pattern) for pattern in self._globs)
