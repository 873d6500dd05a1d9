"""Own where in a file the lines of a time bucket can lie, in a few numbers a block.

The file itself is the memory of which lines it holds; this index says which parts of it to read again.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Iterable

BLOCK_BYTES = 16 << 20
_MOST_RANGES = 32
_NEAR = 6  # buckets; a gap shorter than that is not worth a range of its own

Stored = list[list[int]]
"""One list a block: its first byte, then the ends of its ranges in pairs."""


@dataclass(slots=True)
class _Block:
    start: int
    ranges: list[list[int]] = field(default_factory=list)

    def may_hold(self, bucket: int) -> bool:
        after = bisect_right(self.ranges, bucket, key=lambda each: each[0])
        return after > 0 and bucket <= self.ranges[after - 1][1]

    def note(self, bucket: int) -> None:
        at = bisect_left(self.ranges, bucket, key=lambda each: each[1])
        if at < len(self.ranges) and self.ranges[at][0] <= bucket:
            return
        if at > 0 and bucket - self.ranges[at - 1][1] <= _NEAR:
            self.ranges[at - 1][1] = bucket
        elif at < len(self.ranges) and self.ranges[at][0] - bucket <= _NEAR:
            self.ranges[at][0] = bucket
        else:
            insort(self.ranges, [bucket, bucket])
            if len(self.ranges) > _MOST_RANGES:
                self._join_the_nearest()

    def _join_the_nearest(self) -> None:
        gaps = [later[0] - earlier[1] for earlier, later in zip(self.ranges, self.ranges[1:], strict=False)]
        at = gaps.index(min(gaps))
        self.ranges[at : at + 2] = [[self.ranges[at][0], self.ranges[at + 1][1]]]


class KeyIndex:
    """Say which parts of a generation can hold lines of given buckets."""

    def __init__(self, block_bytes: int = BLOCK_BYTES) -> None:
        self._block_bytes = block_bytes
        self._blocks: list[_Block] = []

    @classmethod
    def restored(cls, stored: Stored, *, below: int) -> Self:
        """Return the index that `to_stored` wrote, without blocks that begin at `below` or later."""
        index = cls()
        index._blocks = [
            _Block(start, [list(pair) for pair in zip(ends[::2], ends[1::2], strict=True)])
            for start, *ends in stored
        ]
        index.cut(below)
        return index

    def to_stored(self) -> Stored:
        """Return plain lists of numbers for a checkpoint."""
        return [[block.start, *(end for ends in block.ranges for end in ends)] for block in self._blocks]

    @property
    def is_empty(self) -> bool:
        """Return whether nothing was noted."""
        return not self._blocks

    def copy(self, *, below: int) -> Self:
        """Return an index of its own, of what lies before `below`."""
        return self.restored(self.to_stored(), below=below)

    def cut(self, below: int) -> None:
        """Forget the blocks that begin at `below` or later."""
        self._blocks = [block for block in self._blocks if block.start < below]

    def note(self, start: int, buckets: Iterable[int]) -> None:
        """Note that lines of `buckets` lie in a piece that begins at `start`; pieces come in order."""
        if not self._blocks or start - self._blocks[-1].start >= self._block_bytes:
            self._blocks.append(_Block(start))
        for bucket in sorted(buckets):
            self._blocks[-1].note(bucket)

    def may_hold(self, bucket: int) -> bool:
        """Return whether any part can hold lines of `bucket`."""
        return any(block.may_hold(bucket) for block in self._blocks)

    def parts(self, buckets: Iterable[int], end: int) -> list[tuple[int, int]]:
        """Return the parts [from, to), up to `end`, that can hold lines of any of `buckets`."""
        wanted = list(buckets)
        ends = [*(block.start for block in self._blocks[1:]), end]
        return [
            (block.start, min(block_end, end))
            for block, block_end in zip(self._blocks, ends, strict=True)
            if block.start < end and any(map(block.may_hold, wanted))
        ]
