"""Own which files beside a log are earlier generations of it, by what rotation programs call them."""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

_STAMP = r"(?:\d[\d.T:_+-]*|old|prev|bak)"
_COMPRESSION = re.compile(r"\.(?:gz|bz2|xz|zst|lz4|Z)$")
_COMPRESSED = r"(?:\.(?:gz|bz2|xz|zst|lz4|Z))?"
_AT_THE_END = re.compile(rf"[.-]{_STAMP}$")
_NUMBER_AT_THE_END = re.compile(r"[.-](\d{1,3})$")
_NUMBER_BEFORE_THE_EXTENSION = re.compile(r"[.-](\d{1,3})(?=\.[^./]*$)")
_BEFORE_THE_EXTENSION = re.compile(rf"[.-]{_STAMP}(?=\.[^./]*$)")


FileKey = tuple[int, int, int, int]


def file_key(stat: os.stat_result) -> FileKey:
    """Return what is another for another file, and for the same one once it was written to; not its name."""
    return stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierFile:
    """A file that may hold an earlier generation."""

    path: str
    stat: os.stat_result

    @property
    def key(self) -> FileKey:
        """Return what changes when the file does."""
        return file_key(self.stat)


def earlier_names(path: str) -> re.Pattern[str]:
    """Return what names the rotated files of `path` have, in its folder.

    access.log.1, access.log-20261007.gz, access.log.old; where the extension stays last, access-20261007.log.
    """
    base = os.path.basename(path)  # noqa: PTH119 - names may be bytes that Path would normalise
    stem, extension = os.path.splitext(base)  # noqa: PTH122
    names = [rf"{re.escape(base)}[.-]{_STAMP}"]
    if extension:
        names.append(rf"{re.escape(stem)}[.-]{_STAMP}{re.escape(extension)}")
    return re.compile(f"(?:{'|'.join(names)}){_COMPRESSED}")


def is_compressed(path: str) -> bool:
    """Return whether `path` is called as a compressed file is."""
    return _COMPRESSION.search(path) is not None


def is_earlier_file_of(path: str, logs: Container[str]) -> bool:
    """Return whether `path` is called as a rotated file of one of `logs` is."""
    return any(
        base != path and base in logs
        for base in (_AT_THE_END.sub("", path), _BEFORE_THE_EXTENSION.sub("", path))
    )


def _names_of_a_shape(base: str) -> re.Pattern[str] | None:
    """Return the names that differ from `base` in their digits only, or None where it has no digits."""
    if not re.search(r"\d", base):
        return None
    shape = r"\d+".join(re.escape(part) for part in re.split(r"\d+", base))
    return re.compile(shape + _COMPRESSED)


def earlier_files(path: str) -> list[EarlierFile]:
    """Return the rotated files of `path` that have content, the one written first in front.

    Where `path` is a symbolic link, also those beside its target that differ from it in digits only. A
    compressed file whose original is still there is left out: it is being written.
    """
    places = [(os.path.dirname(path) or ".", earlier_names(path))]  # noqa: PTH120
    if os.path.islink(path):  # noqa: PTH114
        target = os.path.realpath(path)
        folder, base = os.path.split(target)
        places.append((folder, earlier_names(target)))
        shape = _names_of_a_shape(base)
        if shape is not None:
            places.append((folder, shape))
    found = {file.path: file for folder, names in places for file in _matching(folder, names)}
    ready = [
        file
        for file in found.values()
        if not is_compressed(file.path) or _COMPRESSION.sub("", file.path) not in found
    ]
    return sorted(ready, key=lambda file: (file.stat.st_mtime_ns, -_number_of(file.path), file.path))


def _number_of(path: str) -> int:
    """Return the number of access.log.3 or access.3.log, where a higher one is older; 0 for dates, which grow."""
    name = _COMPRESSION.sub("", path)
    numbered = _NUMBER_AT_THE_END.search(name) or _NUMBER_BEFORE_THE_EXTENSION.search(name)
    return int(numbered[1]) if numbered else 0


def _matching(folder: str, names: re.Pattern[str]) -> Iterator[EarlierFile]:
    try:
        entries = os.listdir(folder)  # noqa: PTH208
    except OSError:
        return
    for name in entries:
        if not names.fullmatch(name):
            continue
        path = os.path.join(folder, name)  # noqa: PTH118
        try:
            status = os.stat(path)  # noqa: PTH116
        except OSError:  # renamed meanwhile
            continue
        if stat.S_ISREG(status.st_mode) and status.st_size > 0:
            yield EarlierFile(path=path, stat=status)
