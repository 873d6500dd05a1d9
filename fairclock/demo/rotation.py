"""Own the files that simulated logs are written to: one a local day, compressed once they are rotated."""

from __future__ import annotations

import gzip
import io
from contextlib import contextmanager
from math import inf
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from fairclock.demo.month import Month

_LEVEL = 1
"""Logs compress well at any level; what counts is that nobody waits for it."""

_BUFFER_BYTES = 1 << 18


def write_daily(
    lines: Iterable[tuple[int, bytes]], *, name: str, month: Month, folder: Path
) -> tuple[Path, ...]:
    """Write `lines` (Unix milliseconds, line), in order of time, as ``NAME-2026-10-01.jsonl.gz`` and so on.

    A line belongs to the local day of its time; the month's last day takes all that comes later and stays
    plain, like the file that a server still writes to. A day without lines has no file. Equal lines give
    equal bytes.
    """
    starts_ms: list[float] = [
        (month.epoch_seconds + month.seconds_at(day, 0, 0)) * 1000 for day in month.days[1:]
    ]
    rest = iter(lines)
    upcoming = next(rest, None)
    paths = []
    for day, end_ms in zip(month.days, [*starts_ms, inf], strict=True):
        if upcoming is None or upcoming[0] >= end_ms:
            continue
        rotated = ".gz" if day != month.days[-1] else ""
        path = folder / f"{name}-{day.isoformat()}.jsonl{rotated}"
        with _opened(path) as file:
            while upcoming is not None and upcoming[0] < end_ms:
                file.write(upcoming[1] + b"\n")
                upcoming = next(rest, None)
        paths.append(path)
    return tuple(paths)


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    """Open `path` for writing; neither its name nor the time enters a compressed file."""
    with path.open("wb") as raw:
        if path.suffix != ".gz":
            yield raw
            return
        with (
            gzip.GzipFile(filename="", mode="wb", compresslevel=_LEVEL, fileobj=raw, mtime=0) as packed,
            io.BufferedWriter(packed, _BUFFER_BYTES) as buffered,
        ):
            yield buffered
