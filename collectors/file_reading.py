"""Own what is the same for every kind of file: checks before the first byte, coverage, what went wrong."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, Self

from collectors.byte_streams import check_paths
from fairclock.errors import InputError
from fairclock.model import Interval
from fairclock.store import IngestCounts, LineBatch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Future
    from types import TracebackType

    from collectors.byte_streams import Truncated
    from fairclock.store import Kind


class LineStore(Protocol):
    """What a collector needs of `fairclock.store.Store`."""

    def ingest(self, batch: LineBatch) -> IngestCounts:
        """Store a batch; returns once it is committed."""
        ...

    def cover(self, *, kind: Kind, source: str, intervals: Sequence[Interval]) -> None:
        """Note event time that was read through."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class FileReading:
    """What became of one file.

    With a `problem`, `counts` says how much of it was stored nevertheless; `complete` says whether it was read
    to its end.
    """

    path: str
    counts: IngestCounts
    problem: InputError | None = None
    complete: bool = True


class LineWriter:
    """Write batches in a thread of its own, so that the next one is read while the engine works on this one.

    At most one batch is being written and one waits for it.
    """

    def __init__(self, store: LineStore, *, kind: Kind, source: str) -> None:
        self._store = store
        self._kind: Kind = kind
        self._source = source
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="import")
        self._writing: Future[IngestCounts] | None = None
        self._counts = IngestCounts()

    def __enter__(self) -> Self:
        """Return the writer itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Wait for the batch that is being written."""
        self._thread.shutdown()

    def write(self, lines: Sequence[bytes], k: int = 0) -> None:
        """Write `lines`; raises what the batch before met."""
        if lines:
            self._wait()
            batch = LineBatch(kind=self._kind, source=self._source, lines=lines, k=k)
            self._writing = self._thread.submit(self._store.ingest, batch)

    def committed(self) -> IngestCounts:
        """Wait until everything is committed; return what became of it since the last call."""
        self._wait()
        counts, self._counts = self._counts, IngestCounts()
        return counts

    def _wait(self) -> None:
        if self._writing is not None:
            writing, self._writing = self._writing, None
            self._counts += writing.result()


def read_files(
    store: LineStore,
    paths: Sequence[str],
    *,
    kind: Kind,
    source: str,
    covers: Interval | None,
    read: Callable[[str, LineWriter], FileReading],
) -> list[FileReading]:
    """Read one file after the other; nothing is begun if one of `paths` cannot be opened (`InputError`).

    Each file covers its earliest to latest event time. `covers` replaces that, and counts only if every file
    was read to its end: what somebody declares complete must not have broken off.
    """
    check_paths(paths)
    readings = []
    with LineWriter(store, kind=kind, source=source) as writer:
        for path in paths:
            reading = read(path, writer)
            readings.append(reading)
            first, last = reading.counts.first_event, reading.counts.last_event
            if covers is None and first is not None and last is not None and first < last:
                store.cover(kind=kind, source=source, intervals=[Interval(start=first, end=last)])
    if covers is not None and all(reading.problem is None for reading in readings):
        store.cover(kind=kind, source=source, intervals=[covers])
    return readings


def counted(readings: Sequence[FileReading]) -> IngestCounts:
    """Return the sum of all files; raises the first problem."""
    for reading in readings:
        if reading.problem is not None:
            raise reading.problem
    return sum((reading.counts for reading in readings), IngestCounts())


def number_of(count: int, unit: str) -> str:
    """Return "1 line", "2,000 lines"."""
    return f"{count:,} {unit}" if count == 1 else f"{count:,} {unit}s"


def broken_off(path: str, broken: Truncated | InputError, read: str) -> InputError:
    """Say that `path` breaks off after what was `read` ("7 lines"), all of which is stored."""
    if isinstance(broken, InputError):
        return broken
    return InputError(
        path,
        str(broken),
        found=f"{read} could be read and stored before",
        remedy="get the whole file and read it again: nothing is counted twice",
    )
