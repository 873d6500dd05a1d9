"""Own the import of GPU readings from files: streams of nvidia-smi, saved scrapes of a DCGM exporter."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Literal

from collectors.byte_streams import STANDARD_INPUT, Truncated, changed_us, chunks_of
from collectors.file_reading import (
    FileReading,
    LineStore,
    LineWriter,
    broken_off,
    counted,
    number_of,
    read_files,
)
from collectors.gpu.board import Board
from collectors.gpu.dcgm.scrapes import read_scrape
from collectors.gpu.dcgm.xids import XidGauges
from collectors.gpu.lines import bad_line, parted
from collectors.gpu.nvidia_smi.rows import Look, SmiStream, Unreadable
from collectors.lines import LineSplitter, shape_of
from fairclock.errors import InputError, UsageError
from fairclock.model import to_us
from fairclock.store import LineBatch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime, tzinfo

    from collectors.byte_streams import Progress
    from fairclock.model import Interval
    from fairclock.store import IngestCounts

GpuFormat = Literal["nvidia-smi", "dcgm"]
_OPEN_SECONDS = 60
_BATCH_ROWS = 20_000


def ingest_gpu_files(
    store: LineStore,
    paths: Sequence[str],
    *,
    form: GpuFormat,
    source: str,
    zone: tzinfo | None = None,
    at: datetime | None = None,
    host: str | None = None,
    covers: Interval | None = None,
    progress: Progress | None = None,
) -> IngestCounts:
    """Store what `paths` (- is standard input) say of GPUs and return what became of the rows.

    zone: of nvidia-smi's times. at: when scrapes of DCGM were made, else when each file was last changed. host: what the machine is called in the rows.
    Raises `UsageError` where one of these is needed, else `InputError` as `ingest_gateway_files` does.
    """
    return counted(
        read_gpu_files(
            store, paths, form=form, source=source, zone=zone, at=at, host=host, covers=covers,
            progress=progress,
        )
    )  # fmt: skip


def read_gpu_files(
    store: LineStore,
    paths: Sequence[str],
    *,
    form: GpuFormat,
    source: str,
    zone: tzinfo | None = None,
    at: datetime | None = None,
    host: str | None = None,
    covers: Interval | None = None,
    progress: Progress | None = None,
) -> list[FileReading]:
    """Store what `paths` say of GPUs and return what became of each file."""
    if form == "nvidia-smi" and zone is None:
        raise UsageError(
            "--format nvidia-smi",
            "its times name no zone",
            remedy="say in which zone the program ran, for example --zone UTC",
        )
    if form == "dcgm" and at is None and STANDARD_INPUT in paths:
        raise UsageError(
            "--format dcgm",
            "a scrape does not say when it was made, and standard input has no time",
            remedy="say it with --at 2026-10-07T03:00:00Z",
        )
    here = host or socket.gethostname()

    def read(path: str, writer: LineWriter) -> FileReading:
        board = Board(collector=form, host=here, is_steady=False)
        reader = _FileImport(path, writer, store, board, source)
        if form == "dcgm":
            at_us = changed_us(path) if at is None else to_us(at)
            return reader.read_scrape(at_us, here, progress)
        return reader.read_stream(SmiStream(host=here, zone=zone), progress)

    return read_files(store, paths, kind="gpu", source=source, covers=covers, read=read)


class _FileImport:
    """The import of one file: lines become rows second by second, and rows become batches."""

    def __init__(self, path: str, writer: LineWriter, store: LineStore, board: Board, source: str) -> None:
        self._path = path
        self._writer = writer
        self._store = store
        self._board = board
        self._source = source
        self._rows: list[bytes] = []
        self._first = b""

    def read_stream(self, stream: SmiStream, progress: Progress | None) -> FileReading:
        """Store a stream of nvidia-smi."""
        broken: Truncated | InputError | None = None
        try:
            for number, line in enumerate(self._lines(progress), start=1):
                self._take(stream, line.decode("utf-8", "replace"), number)
        except (Truncated, InputError) as problem:
            broken = problem
        return self._finished(broken)

    def read_scrape(self, at_us: int, host: str, progress: Progress | None) -> FileReading:
        """Store one scrape."""
        broken: Truncated | InputError | None = None
        content = bytearray()
        try:
            for chunk in chunks_of(self._path, progress):
                content += chunk
        except (Truncated, InputError) as problem:
            broken = problem
        scrape = read_scrape(bytes(content), host=host)
        self._first = next((bytes(line) for line in content.split(b"\n") if line.strip()), b"")
        xids = XidGauges()
        for scraped in scrape.devices.values():
            when = scraped.at_us or at_us
            self._board.add(scraped.gpu, when, scraped.readings)
            event = None if scraped.xid is None else xids.read(scraped.gpu, scraped.xid, at_us=when)
            if event is not None:
                self._board.tell(event)
        self._rows += [bad_line(bad.reason, bad.text, number=bad.number) for bad in scrape.bad_lines]
        return self._finished(broken)

    def _lines(self, progress: Progress | None) -> Iterator[bytes]:
        splitter = LineSplitter()
        for chunk in chunks_of(self._path, progress):
            yield from splitter.feed(chunk)
        yield from splitter.finish()

    def _take(self, stream: SmiStream, line: str, number: int) -> None:
        said = stream.read(line)
        self._first = self._first or line.strip().encode("utf-8", "replace")
        if isinstance(said, Look):
            assert said.at_us is not None  # noqa: S101 - the stream has a zone
            self._board.add(said.gpu, said.at_us, said.readings)
            seconds = self._board.open_seconds()
            if len(seconds) > _OPEN_SECONDS:
                self._close(seconds[: -_OPEN_SECONDS // 2])
        elif isinstance(said, Unreadable):
            self._rows.append(bad_line(f"{said.reason}", said.text, number=number))
            if len(self._rows) >= _BATCH_ROWS:
                self._flush()

    def _close(self, seconds: Sequence[int]) -> None:
        rows, events = parted(self._board.close(seconds))
        self._rows += rows
        if events:
            # they follow from the rows, which alone are counted
            self._store.ingest(LineBatch(kind="gpu_event", source=self._source, lines=events))
        if len(self._rows) >= _BATCH_ROWS:
            self._flush()

    def _flush(self) -> None:
        self._writer.write(self._rows)
        self._rows = []

    def _finished(self, broken: Truncated | InputError | None) -> FileReading:
        self._close(self._board.open_seconds())
        self._flush()
        counts = self._writer.committed()
        return FileReading(
            path=self._path, counts=counts, problem=self._problem(counts, broken), complete=broken is None
        )

    def _problem(self, counts: IngestCounts, broken: Truncated | InputError | None) -> InputError | None:
        if broken is not None:
            return broken_off(self._path, broken, number_of(counts.read, "row"))
        if counts.stored or counts.duplicates:
            return None
        return InputError(
            self._path,
            "nothing could be read of GPUs",
            found=f"lines such as {shape_of(self._first)}" if self._first else "an empty file",
            remedy="see what was written: a stream needs its header, with uuid and timestamp among its columns",
        )
