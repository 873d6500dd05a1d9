"""Own the import of engine spans, and of the plugin's log records, from files of OTLP."""

from __future__ import annotations

from dataclasses import replace
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
from collectors.otlp.file_requests import requests_in
from collectors.otlp.problems import RequestProblem
from fairclock.errors import InputError
from fairclock.store import IngestCounts, LineBatch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from collectors.byte_streams import Progress
    from fairclock.model import Interval

_BATCH_LINES = 50_000
_REMEDY = "name a file that holds OTLP trace or log requests in JSON or protobuf"


def ingest_otlp_files(
    store: LineStore,
    paths: Sequence[str],
    *,
    source: str,
    covers: Interval | None = None,
    progress: Progress | None = None,
) -> IngestCounts:
    """Store vLLM's spans of `paths` (- is standard input) and return what became of all spans.

    Raises `InputError` where a path cannot be read (then nothing was begun), where a file breaks off, or
    where it is no OTLP; whatever could be read is stored by then.
    """
    return counted(read_otlp_files(store, paths, source=source, covers=covers, progress=progress))


def read_otlp_files(
    store: LineStore,
    paths: Sequence[str],
    *,
    source: str,
    covers: Interval | None = None,
    progress: Progress | None = None,
) -> list[FileReading]:
    """Store vLLM's spans of `paths` and return what became of each file."""

    def read(path: str, writer: LineWriter) -> FileReading:
        return _FileImport(path, writer, store, source).run(progress)

    return read_files(store, paths, kind="engine", source=source, covers=covers, read=read)


class _FileImport:
    """The import of one file: the lines that wait for a batch, the counts so far."""

    def __init__(self, path: str, writer: LineWriter, store: LineStore, source: str) -> None:
        self._path = path
        self._writer = writer
        self._store = store
        self._source = source
        self._states: list[bytes] = []
        self._state_counts = IngestCounts()
        self._pending: list[bytes] = []
        self._ignored = 0
        self._head = b""

    def run(self, progress: Progress | None) -> FileReading:
        broken: Truncated | RequestProblem | InputError | None = None
        requests = 0
        try:
            for request in requests_in(self._noted(progress)):
                requests += 1
                self._ignored += request.ignored
                self._pending += request.lines
                self._states += request.state_lines
                if len(self._pending) + len(self._states) >= _BATCH_LINES:
                    self._flush()
        except (Truncated, RequestProblem, InputError) as problem:
            broken = problem
        self._flush()
        counts = self._writer.committed() + IngestCounts(read=self._ignored, ignored=self._ignored)
        # what an engine says of itself covers no event time: its requests do
        counts += replace(self._state_counts, first_event=None, last_event=None)
        return FileReading(
            path=self._path,
            counts=counts,
            problem=self._problem(counts, broken, requests),
            complete=not isinstance(broken, Truncated | InputError),
        )

    def _noted(self, progress: Progress | None) -> Iterator[bytes]:
        for chunk in chunks_of(self._path, progress):
            self._head = self._head or chunk[:1000]
            yield chunk

    def _flush(self) -> None:
        for start in range(0, len(self._pending), _BATCH_LINES):
            self._writer.write(self._pending[start : start + _BATCH_LINES])
        self._pending = []
        for start in range(0, len(self._states), _BATCH_LINES):
            states = self._states[start : start + _BATCH_LINES]
            batch = LineBatch(kind="engine_state", source=self._source, lines=states)
            self._state_counts += self._store.ingest(batch)
        self._states = []

    def _problem(
        self, counts: IngestCounts, broken: Truncated | RequestProblem | InputError | None, requests: int
    ) -> InputError | None:
        if isinstance(broken, Truncated | InputError):
            return broken_off(self._path, broken, number_of(counts.read, "span"))
        if b'"request_time"' in self._head:
            return InputError(
                self._path,
                "is not OTLP",
                found="looks like a gateway's log",
                remedy="use: fairclock ingest gateway",
            )
        if broken is not None:
            return InputError(self._path, "is not OTLP", found=str(broken), remedy=_REMEDY)
        if not requests:
            found = "blank lines only" if self._head else "an empty file"
            return InputError(self._path, "nothing could be read", found=found, remedy="check the path")
        if counts.dead_letters == counts.read > 0:
            found = f"{number_of(counts.read, 'span')}, none with possible timings"
            return InputError(
                self._path, "nothing could be read", found=found, remedy="see the reasons in dead_letters"
            )
        return None
