"""Own the import of gateway logs from files: nginx JSON as the shipped log_format writes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from collectors.byte_streams import Truncated, chunks_of
from collectors.file_reading import (
    FileReading,
    LineStore,
    LineWriter,
    broken_off,
    counted,
    number_of,
    read_files,
)
from collectors.gateway.occurrences import Occurrences
from collectors.gateway.recognition import recognised
from collectors.lines import LineSplitter
from fairclock.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from collectors.byte_streams import Progress
    from fairclock.model import Interval
    from fairclock.store import IngestCounts

BATCH_LINES = 100_000
_BATCH_BYTES = 64 << 20


def ingest_gateway_files(
    store: LineStore,
    paths: Sequence[str],
    *,
    source: str,
    covers: Interval | None = None,
    progress: Progress | None = None,
) -> IngestCounts:
    """Store the lines of `paths` (- is standard input) and return what became of them.

    Raises `InputError` where a path cannot be read (then nothing was begun), where a file breaks off, or
    where nothing in it is a request; whatever could be read is stored by then.
    """
    return counted(read_gateway_files(store, paths, source=source, covers=covers, progress=progress))


def read_gateway_files(
    store: LineStore,
    paths: Sequence[str],
    *,
    source: str,
    covers: Interval | None = None,
    progress: Progress | None = None,
) -> list[FileReading]:
    """Store the lines of `paths` and return what became of each file."""

    def read(path: str, writer: LineWriter) -> FileReading:
        return _FileImport(path, writer).run(progress)

    return read_files(store, paths, kind="gateway", source=source, covers=covers, read=read)


class _FileImport:
    """The import of one file: its lines, their occurrence numbers, the counts so far."""

    def __init__(self, path: str, writer: LineWriter) -> None:
        self._path = path
        self._writer = writer
        self._occurrences = Occurrences()
        self._again: dict[int, list[bytes]] = {}
        self._sample = b""

    def run(self, progress: Progress | None) -> FileReading:
        splitter = LineSplitter()
        pending: list[bytes] = []
        pending_bytes = 0
        broken: Truncated | InputError | None = None
        try:
            for chunk in chunks_of(self._path, progress):
                pending += splitter.feed(chunk)
                pending_bytes += len(chunk)
                if len(pending) >= BATCH_LINES or pending_bytes >= _BATCH_BYTES:
                    self._store_lines(pending)
                    pending, pending_bytes = [], 0
        except (Truncated, InputError) as problem:
            broken = problem
        self._store_lines(pending if broken else pending + splitter.finish())
        counts = self._committed()
        whole_lines = counts.read
        if broken is not None:  # what is left of a line may be all of it, or a piece
            self._store_lines(splitter.finish())
            rest = self._committed()
            counts += rest
            whole_lines += rest.stored + rest.duplicates
        return FileReading(
            path=self._path,
            counts=counts,
            problem=self._problem(counts, broken, whole_lines=whole_lines),
            complete=broken is None,
        )

    def _committed(self) -> IngestCounts:
        self._store_repeats()
        return self._writer.committed()

    def _store_lines(self, lines: list[bytes]) -> None:
        if not self._sample:
            self._sample = next((line for line in lines if line.strip()), b"")
        first, again = self._occurrences.split(lines)
        # A chunk of short lines can hold many more than a batch.
        for start in range(0, len(first), BATCH_LINES):
            self._writer.write(first[start : start + BATCH_LINES])
        for k, repeated in again.items():
            self._again.setdefault(k, []).extend(repeated)
        if sum(map(len, self._again.values())) >= BATCH_LINES:
            self._store_repeats()

    def _store_repeats(self) -> None:
        for k, lines in self._again.items():
            self._writer.write(lines, k)
        self._again = {}

    def _problem(
        self, counts: IngestCounts, broken: Truncated | InputError | None, *, whole_lines: int
    ) -> InputError | None:
        if broken is not None:
            read = number_of(whole_lines, "line") if whole_lines else "not one whole line"
            return broken_off(self._path, broken, read)
        if counts.stored or counts.duplicates:
            return None
        if not self._sample:
            found = "blank lines only" if counts.read else "an empty file"
            return InputError(self._path, "nothing could be read", found=found, remedy="check the path")
        looks, remedy = recognised(self._sample)
        return InputError(
            self._path, "nothing could be read as a gateway's requests", found=looks, remedy=remedy
        )
