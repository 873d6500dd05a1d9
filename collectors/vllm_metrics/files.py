"""Own the import of saved scrapes: each file is one answer of an exporter, at the time it was saved."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from collectors.byte_streams import STANDARD_INPUT, Truncated, changed_us, check_paths, chunks_of
from collectors.file_reading import FileReading, broken_off, number_of
from collectors.vllm_metrics.frames import Scrape
from collectors.vllm_metrics.lines import lines_of
from fairclock.errors import InputError, UsageError
from fairclock.model import to_us
from fairclock.store import IngestCounts, LineBatch

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from collectors.byte_streams import Progress
    from collectors.file_reading import LineStore
    from collectors.vllm_metrics.lines import Line, ScrapeLines
    from fairclock.model import Interval
    from fairclock.store import Kind

_BATCH_LINES = 50_000
_LARGEST_BYTES = 256 << 20
TARGET = "saved"
"""What saved scrapes are said to be of where nobody says it."""


def read_metrics_files(
    store: LineStore,
    paths: Sequence[str],
    *,
    source: str,
    at: datetime | None = None,
    target: str = TARGET,
    covers: Interval | None = None,
    progress: Progress | None = None,
) -> list[FileReading]:
    """Store the scrapes in `paths`, all of `target`, and return what became of each file.

    A scrape was taken `at`, or else when its file was last changed. It covers no time: a scrape is an instant. Counts
    are of lines of the exposition; those of files that were stored together are with the last of these.
    Raises `UsageError` for standard input without `at`, and `InputError` where a path cannot be opened.
    """
    del covers
    check_paths(paths)
    if STANDARD_INPUT in paths and at is None:
        raise UsageError(
            "--at", "standard input has no time of its own", remedy="say when it was scraped: --at T"
        )
    batches = _Batches(store, source)
    readings = []
    for path in paths:
        readings.append(_read(path, batches, at=at, target=target, progress=progress))
        if batches.lines >= _BATCH_LINES:
            readings[-1] = _with(readings[-1], batches.store())
    readings[-1] = _with(readings[-1], batches.store())
    counts = sum((reading.counts for reading in readings), IngestCounts())
    if counts.dead_letters and not counts.stored + counts.duplicates and readings[-1].problem is None:
        readings[-1] = replace(readings[-1], problem=_refused(paths[-1]))
    return readings


def _refused(path: str) -> InputError:
    """Return what is said where a scrape was understood and the store took nothing of it."""
    return InputError(
        path,
        "nothing of it could be stored",
        found="every sample is refused, as those before 2000 or more than a day in the future are",
        remedy="say when it was scraped: --at T",
    )


def _read(
    path: str, batches: _Batches, *, at: datetime | None, target: str, progress: Progress | None
) -> FileReading:
    content, broken = _content(path, progress)
    at_us = changed_us(path) if at is None else to_us(at)
    lines = lines_of(Scrape(target=target, at_us=at_us, content=content))
    good = sum(each.samples for each in (*lines.samples, *lines.histograms))
    batches.add(lines, with_figures=bool(good))
    counts = IngestCounts(read=lines.ignored, ignored=lines.ignored)
    problem = _problem(path, content, broken, good, len(lines.bad))
    return FileReading(path=path, counts=counts, problem=problem, complete=broken is None)


def _content(path: str, progress: Progress | None) -> tuple[bytes, Truncated | InputError | None]:
    held: list[bytes] = []
    size = 0
    try:
        for chunk in chunks_of(path, progress):
            held.append(chunk)
            size += len(chunk)
            if size > _LARGEST_BYTES:
                found = f"more than {_LARGEST_BYTES >> 20} MiB"
                return b"", InputError(
                    path, "is no scrape", found=found, remedy="name a saved answer of /metrics"
                )
    except (Truncated, InputError) as broken:
        return b"".join(held), broken
    return b"".join(held), None


def _problem(
    path: str, content: bytes, broken: Truncated | InputError | None, good: int, bad: int
) -> InputError | None:
    if broken is not None:
        return broken_off(path, broken, number_of(good, "sample"))
    if good:
        return None
    lines = [line for line in content.split(b"\n") if line.strip()]
    if not lines:
        found = "blank lines only" if content else "an empty file"
        return InputError(path, "nothing could be read", found=found, remedy="check the path")
    if not bad:
        found = "comments only"
        return InputError(
            path, "nothing could be read", found=found, remedy="save the whole answer of /metrics"
        )
    remedy = "name a saved answer of /metrics, in Prometheus's text format or OpenMetrics"
    if b'"request_time"' in lines[0]:
        remedy = "use: fairclock ingest gateway"
    elif b"esourceSpans" in lines[0] or b"resource_spans" in lines[0]:
        remedy = "use: fairclock ingest otlp"
    found = f"{number_of(len(lines), 'line')}, none of them a sample"
    return InputError(path, "nothing could be read", found=found, remedy=remedy)


def _with(reading: FileReading, counts: IngestCounts) -> FileReading:
    return FileReading(
        path=reading.path, counts=reading.counts + counts, problem=reading.problem, complete=reading.complete
    )


class _Batches:
    """Lines that wait, apart by how many lines of an exposition each stands for, so that what becomes of those is known."""

    def __init__(self, store: LineStore, source: str) -> None:
        self._store = store
        self._source = source
        self._waiting: defaultdict[tuple[Kind, int], list[bytes]] = defaultdict(list)
        self.lines = 0

    def add(self, lines: ScrapeLines, *, with_figures: bool) -> None:
        """Take the lines of a scrape; those about the scrape itself only `with_figures`."""
        for line in lines.samples if with_figures else ():
            self._add("sample", line)
        for line in lines.bad:
            self._add("sample", line)
        for line in lines.histograms:
            self._add("histogram", line)

    def _add(self, kind: Kind, line: Line) -> None:
        self._waiting[kind, line.samples].append(line.text)
        self.lines += 1

    def store(self) -> IngestCounts:
        """Store what waits and return what became of it, in lines of an exposition."""
        counts = IngestCounts()
        for (kind, samples), lines in self._waiting.items():
            for start in range(0, len(lines), _BATCH_LINES):
                batch = LineBatch(kind=kind, source=self._source, lines=lines[start : start + _BATCH_LINES])
                counts += _times(self._store.ingest(batch), samples)
        self._waiting.clear()
        self.lines = 0
        return counts


def _times(counts: IngestCounts, samples: int) -> IngestCounts:
    return IngestCounts(
        read=counts.read * samples,
        stored=counts.stored * samples,
        duplicates=counts.duplicates * samples,
        ignored=counts.ignored * samples,
        dead_letters=counts.dead_letters * samples,
        first_event=counts.first_event,
        last_event=counts.last_event,
    )
