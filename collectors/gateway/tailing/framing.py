"""Own how a piece of a log becomes frames: numbered lines, with the event time that they cover."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING

from collectors.gateway.tailing.event_times import event_times, extended
from fairclock.model import Frame

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from collectors.gateway.formats import GatewayFormat
    from collectors.gateway.tailing.numbering import Numbering, ReadAgain
    from collectors.gateway.tailing.pieces import Piece

PAYLOAD_BYTES = 256 << 10


def frames_of(
    piece: Piece,
    *,
    numbering: Numbering,
    read_again: ReadAgain,
    source: str,
    form: GatewayFormat,
    generation: str,
    through_us: int | None,
    now_us: int,
) -> tuple[list[Frame], int | None]:
    """Return the frames of `piece`, and how far in event time the log is read through after them.

    A payload is lines each ended by one LF, as an import of the file would read them. Where the file has other
    ends or NULs, the offsets of all but a piece's first frame lie a little before the true ones.
    """
    lines = piece.lines
    times = event_times(lines, form)
    repeats = numbering.number(lines, times.buckets, start=piece.start, read_again=read_again)
    frames: list[Frame] = []
    offset = piece.start
    for begin, end in cuts(lines):
        payload = b"\n".join(lines[begin:end]) + b"\n"
        covered = extended(through_us, times.times_us[begin:end], now_us=now_us)
        through_us = through_us if covered is None else covered[1]
        frames.append(
            Frame(
                kind="gateway",
                format=form.full_name,
                source=source,
                generation=generation,
                offset=offset,
                payload=payload,
                repeats=tuple((at - begin, k) for at, k in repeats if begin <= at < end) if repeats else (),
                covered=covered if covered is not None and covered[0] < covered[1] else None,
            )
        )
        offset += len(payload)
    return frames, through_us


def cuts(lines: Sequence[bytes]) -> Iterator[tuple[int, int]]:
    """Yield where to cut `lines`, so that none but a single long line is over the size of a payload."""
    ends = list(accumulate([len(line) + 1 for line in lines]))
    begin = 0
    while begin < len(lines):
        before = ends[begin - 1] if begin else 0
        end = max(begin + 1, bisect_right(ends, before + PAYLOAD_BYTES))
        yield begin, end
        begin = end
