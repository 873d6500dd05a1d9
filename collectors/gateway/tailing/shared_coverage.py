"""Own what several logs of one source cover together: event time that none of them is known to lack.

One log's lines cover the time between them, for that log. Where another log of the same source has lines that are not
read yet, or lost some, the source as a whole is not read through there; so what the one covers is held back until the
other was read as far, and cut where the other has a gap. A log that was read to its end holds nobody back.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from fairclock.model import Frame

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Span = tuple[int, int]
"""Event time [from, to), µs since 1970."""
_MOST_GAPS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class LogCoverage:
    """What one log covers as far as others depend on it, or it on others.

    through_us: up to where it was read. held: what it covers and is not told yet. gaps: what it lost or may have lost.
    """

    through_us: int | None = None
    held: tuple[Span, ...] = ()
    gaps: tuple[Span, ...] = ()

    def after(self, spans: Iterable[Span]) -> LogCoverage:
        """Return what is true when `spans`, each where the one before ends or behind a gap, were read too."""
        through_us, gaps, held = self.through_us, list(self.gaps), list(self.held)
        for start, end in spans:
            gaps = _cut(gaps, [(start, end)])  # a file that was found after all
            if through_us is not None and start > through_us:  # now it is known how far a loss can reach
                gaps = [*(gap for gap in gaps if gap[0] < through_us), (through_us, start)]
            through_us = end if through_us is None else max(through_us, end)
            held.append((start, end))
        return LogCoverage(through_us=through_us, held=_merged(held), gaps=tuple(gaps[-_MOST_GAPS:]))

    def without(self, from_us: int | None, to_us: int) -> LogCoverage:
        """Return what is true when lines behind `from_us` were lost, the last of them written before `to_us`.

        Where later lines were read already, the gap in front of them is known.
        """
        start = self.through_us if from_us is None else from_us
        if start is None or start >= to_us or (self.through_us is not None and self.through_us > start):
            return self
        return replace(self, gaps=(*self.gaps, (start, to_us))[-_MOST_GAPS:])


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """One log in one delivery: what it covered before, where it is unread from, the frames that it adds."""

    coverage: LogCoverage
    unread_from_us: float = math.inf
    frames: Sequence[Frame] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """The frames of a delivery, telling what the source covers, and what is true of each log once they are safe."""

    frames: list[Frame] = field(default_factory=list)
    coverage: dict[str, LogCoverage] = field(default_factory=dict)


def told(shares: Mapping[str, Share], *, source: str, log_format: str) -> Told:
    """Put the frames of all logs, by their paths, together."""
    result = Told()
    after = {path: each.coverage.after(_spans(each.frames)) for path, each in shares.items()}
    for path, share in shares.items():
        others = [other for other in shares if other != path]
        limit = min((shares[other].unread_from_us for other in others), default=math.inf)
        gaps = [gap for other in others for gap in after[other].gaps]
        now, held = _parted(after[path].held, limit)
        tellable = _cut(now, gaps)
        result.coverage[path] = replace(after[path], held=held)
        for frame in share.frames:
            pieces = [] if frame.covered is None else _within(tellable, frame.covered)
            tellable = tellable if frame.covered is None else _cut(tellable, [frame.covered])
            covered = pieces[0] if pieces else None
            result.frames.append(frame if frame.covered == covered else replace(frame, covered=covered))
            tellable = [*pieces[1:], *tellable]
        result.frames.extend(
            Frame(
                kind="gateway", format=log_format, source=source, generation="", offset=0, payload=b"", covered=piece
            )
            for piece in tellable
        )  # fmt: skip
    return result


def _spans(frames: Iterable[Frame]) -> list[Span]:
    return [frame.covered for frame in frames if frame.covered is not None]


def _merged(spans: Iterable[Span]) -> tuple[Span, ...]:
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return tuple(merged)


def _parted(spans: Iterable[Span], at: float) -> tuple[list[Span], tuple[Span, ...]]:
    """Return what lies before `at`, and what lies behind it."""
    if at == math.inf:
        return list(spans), ()
    before = [(start, int(min(end, at))) for start, end in spans if start < at]
    return before, tuple((int(max(start, at)), end) for start, end in spans if end > at)


def _cut(spans: Iterable[Span], gaps: Iterable[Span]) -> list[Span]:
    left = list(spans)
    for gap_start, gap_end in gaps:
        left = [
            piece
            for start, end in left
            for piece in ((start, min(end, gap_start)), (max(start, gap_end), end))
            if piece[0] < piece[1]
        ]
    return left


def _within(spans: Iterable[Span], window: Span) -> list[Span]:
    return [
        (max(start, window[0]), min(end, window[1]))
        for start, end in spans
        if max(start, window[0]) < min(end, window[1])
    ]
