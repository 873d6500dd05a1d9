"""Own how frames become batches: adapted, put together by what they become and where they came from."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Protocol, TypeAlias

from fairclock.model import Interval, from_us, merge
from fairclock.store import LineBatch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from fairclock.model import Frame
    from fairclock.store import IngestCounts, Kind

Adapter: TypeAlias = "Callable[[Frame], Sequence[LineBatch]]"
"""What makes canonical lines of a frame's payload."""

_LOG = logging.getLogger(__name__)
LARGEST_BATCH_ROWS = 100_000


class RowStore(Protocol):
    """What a writer needs of `fairclock.store.Store`."""

    def ingest(self, batch: LineBatch) -> IngestCounts:
        """Store a batch; returns once it is committed. Storing it again adds nothing."""
        ...

    def cover(self, *, kind: Kind, source: str, intervals: Sequence[Interval]) -> None:
        """Note event time that was read through."""
        ...

    def keep_dead_letters(self, batch: LineBatch, *, reason: str) -> None:
        """Keep lines that cannot be stored in any form."""
        ...


def lines_of(frame: Frame) -> list[LineBatch]:
    """Adapt a frame whose lines are canonical already: first occurrences, and the repeats by their number."""
    lines = frame.payload.split(b"\n")
    if not lines[-1]:
        lines.pop()
    by_k: dict[int, list[bytes]] = {}
    if frame.repeats:
        k_of = dict(frame.repeats)
        for index, line in enumerate(lines):
            by_k.setdefault(k_of.get(index, 0), []).append(line)
    elif lines:
        by_k[0] = lines
    return [
        LineBatch(kind=frame.kind, source=frame.source, lines=lines, k=k) for k, lines in sorted(by_k.items())
    ]


class Gathering:
    """Frames on their way into batches of at most 100,000 rows, one for each kind, source and occurrence number."""

    def __init__(self, adapters: Mapping[str, Adapter]) -> None:
        self._adapters = adapters
        self._lines: dict[tuple[Kind, str, int], list[bytes]] = {}
        self._covered: dict[tuple[Kind, str], list[Interval]] = {}
        self.rows = 0
        self.unreadable: list[tuple[LineBatch, str]] = []

    def add(self, frames: Iterable[Frame]) -> None:
        """Adapt `frames`; one that no adapter can read is set aside with its reason, and costs no other."""
        for frame in frames:
            try:
                batches = self._adapters[frame.format](frame) if frame.payload else []
            except Exception as error:  # noqa: BLE001 - whatever it is, it is this frame's alone
                reason = f"frame: not readable as {frame.format!r} ({type(error).__name__})"
                _LOG.error("%s of %s at %d: %s", frame.source, frame.generation, frame.offset, reason)
                lines = LineBatch(kind=frame.kind, source=frame.source, lines=[frame.payload])
                self.unreadable.append((lines, reason))
                continue
            for batch in batches:
                self._lines.setdefault((batch.kind, batch.source, batch.k), []).extend(batch.lines)
                self.rows += len(batch.lines)
            if frame.covered is not None:
                self._cover(frame.kind, frame.source, frame.covered)

    def _cover(self, kind: Kind, source: str, covered: tuple[int, int]) -> None:
        try:
            start, end = (from_us(instant) for instant in covered)
        except OverflowError:  # a time that no clock shows covers nothing
            return
        self._covered.setdefault((kind, source), []).append(Interval(start=start, end=end))

    def batches(self) -> list[LineBatch]:
        """Return the lines, cut into batches."""
        return [
            LineBatch(kind=kind, source=source, lines=lines[start : start + LARGEST_BATCH_ROWS], k=k)
            for (kind, source, k), lines in self._lines.items()
            for start in range(0, len(lines), LARGEST_BATCH_ROWS)
        ]

    def covered(self) -> dict[tuple[Kind, str], list[Interval]]:
        """Return what event time the frames cover, without overlaps."""
        merged = {key: merge(intervals) for key, intervals in self._covered.items()}
        return {key: intervals for key, intervals in merged.items() if intervals}
