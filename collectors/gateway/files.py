"""Own the import of gateway logs from files, each in its own format."""

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
from collectors.gateway.formats import FORMATS, SHIPPED, FormatChoice, UnreadableLine, canonical_lines
from collectors.gateway.occurrences import Occurrences
from collectors.gateway.recognition import recognised
from collectors.lines import LineSplitter
from fairclock.errors import InputError
from fairclock.store import IngestCounts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from collectors.byte_streams import Progress
    from collectors.gateway.formats import Detected, GatewayFormat
    from collectors.gateway.tenants import Tenancy
    from fairclock.model import Interval

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
    choice: FormatChoice | None = None,
    tenancy: Tenancy | None = None,
    tell: Callable[[str, Detected], object] | None = None,
) -> list[FileReading]:
    """Store the lines of `paths` and return what became of each file.

    choice: the format, which is recognised file by file otherwise. tenancy: what tells a request's tenant.
    tell: called with a file and what format it is in, once that is known.
    """

    def read(path: str, writer: LineWriter) -> FileReading:
        try:
            return _FileImport(path, writer, choice or FormatChoice(), tenancy, tell).run(progress)
        except _InDoubt as doubt:
            return FileReading(path=path, counts=IngestCounts(), problem=doubt.problem, complete=False)

    return read_files(store, paths, kind="gateway", source=source, covers=covers, read=read)


class _InDoubt(Exception):  # noqa: N818 - a state of a file
    """A file that may be in several formats, of which nothing was read."""

    def __init__(self, problem: InputError) -> None:
        super().__init__(str(problem))
        self.problem = problem


class _FileImport:
    """The import of one file: its lines, their occurrence numbers, the counts so far."""

    def __init__(
        self,
        path: str,
        writer: LineWriter,
        choice: FormatChoice,
        tenancy: Tenancy | None,
        tell: Callable[[str, Detected], object] | None,
    ) -> None:
        self._path = path
        self._writer = writer
        self._choice = choice
        self._tenancy = tenancy
        self._tell = tell
        self._detected: Detected | None = None
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
        first, again = self._numbered(lines)
        # A chunk of short lines can hold many more than a batch.
        for start in range(0, len(first), BATCH_LINES):
            self._writer.write(first[start : start + BATCH_LINES])
        for k, repeated in again.items():
            self._again.setdefault(k, []).extend(repeated)
        if sum(map(len, self._again.values())) >= BATCH_LINES:
            self._store_repeats()

    def _numbered(self, lines: list[bytes]) -> tuple[list[bytes], dict[int, list[bytes]]]:
        """Return the canonical lines seen for the first time, and the others by k; raises `_InDoubt`."""
        if self._detected is None and self._sample:
            try:
                self._detected = self._choice.of(lines, where=self._path)
            except InputError as doubt:
                raise _InDoubt(doubt) from doubt
            self._occurrences = Occurrences(self._detected.form)
            if self._tell is not None:
                self._tell(self._path, self._detected)
        first, again = self._occurrences.split(lines)
        if self._detected is None or (self._detected.form.passes_through and self._tenancy is None):
            return first, again
        form = self._detected.form
        return canonical_lines(form, first, tenancy=self._tenancy), {
            k: canonical_lines(form, repeated, tenancy=self._tenancy) for k, repeated in again.items()
        }

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
        return self._unread(FORMATS[SHIPPED] if self._detected is None else self._detected.form)

    def _unread(self, form: GatewayFormat) -> InputError:
        """Say what is wrong with the first line of a file in which nothing is a request."""
        if not form.passes_through and form.recognise(self._sample) is not None:
            try:
                form.read(self._sample)
            except UnreadableLine as error:
                return InputError(
                    self._path,
                    f"nothing could be read as {form.title}",
                    found=error.reason,
                    remedy="log what is necessary (docs/gateways.md)",
                )
        looks, remedy = recognised(self._sample)
        title = "a gateway's requests" if form.passes_through else form.title
        return InputError(self._path, f"nothing could be read as {title}", found=looks, remedy=remedy)
