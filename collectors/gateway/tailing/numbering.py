"""Own k of followed lines: how often exactly the same line came before in one generation, in bounded memory.

The numbers are those that an import of the whole file gives (`collectors.gateway.occurrences`). An import may
remember every line of its file; a tail runs for months. Equal lines have equal times, and a log is nearly in
order of time, so it is enough to remember the lines of the latest few buckets of ten seconds. When a line of a
forgotten bucket comes, that bucket is read again from the file.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING

from collectors.gateway.occurrences import LARGEST_K, repeated_too_often
from collectors.gateway.tailing.event_times import event_times
from collectors.gateway.tailing.key_index import KeyIndex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from collectors.gateway.formats import GatewayFormat

    ReadAgain = Callable[[int, int], Iterable[tuple[int, list[bytes]]]]

MOST_REMEMBERED_LINES = 200_000
"""About 80 bytes each."""
_FEWEST_BUCKETS = 2


@dataclass(slots=True)
class _Bucket:
    seen: set[int] = field(default_factory=set)
    latest_k: dict[int, int] = field(default_factory=dict)

    def count(self, hashes: Sequence[int]) -> list[int]:
        """Take the next lines' hashes and return k of each, or nothing where all are new."""
        fresh = set(hashes)
        if len(fresh) == len(hashes) and fresh.isdisjoint(self.seen):
            self.seen |= fresh
            return []
        numbers = []
        for each in hashes:
            k = 0
            if each in self.seen:
                k = self.latest_k[each] = self.latest_k.get(each, 0) + 1
            else:
                self.seen.add(each)
            numbers.append(k)
        return numbers


class Numbering:
    """Number the lines of one generation, piece by piece; `form` is the format that they are in."""

    def __init__(
        self,
        index: KeyIndex | None = None,
        *,
        most_remembered_lines: int = MOST_REMEMBERED_LINES,
    ) -> None:
        self.index = index or KeyIndex()
        self.form: GatewayFormat | None = None
        self._most_remembered_lines = most_remembered_lines
        self._buckets: OrderedDict[int, _Bucket] = OrderedDict()

    def number(
        self, lines: list[bytes], buckets: Sequence[int | None], *, start: int, read_again: ReadAgain
    ) -> list[tuple[int, int]]:
        """Return (index, k) of each of `lines` that came before; the piece begins at byte `start`.

        `read_again` yields the lines between two bytes of the generation, with where they begin. A line that came too often to be
        numbered is replaced in `lines` by what an import makes of it.
        """
        wanted = {bucket for bucket in buckets if bucket is not None}
        self._remember(wanted, start, read_again)
        repeats = []
        hashes = list(map(hash, lines))
        position = 0
        for bucket, run in groupby(buckets):
            begin, position = position, position + sum(1 for _ in run)
            if bucket is None:
                continue
            for at, k in enumerate(self._buckets[bucket].count(hashes[begin:position]), begin):
                if k > LARGEST_K:
                    lines[at] = repeated_too_often(lines[at])
                elif k:
                    repeats.append((at, k))
        self.index.note(start, wanted)
        self._forget(wanted)
        return repeats

    def rewind(self, offset: int) -> None:
        """Undo what was counted from `offset` on: it was not the generation's."""
        self._buckets.clear()
        self.index.cut(offset)

    def recount(self, end: int, read_again: ReadAgain) -> None:
        """Make the index again from the generation's bytes up to `end`."""
        self._buckets.clear()
        self.index = KeyIndex()
        for start, lines in read_again(0, end):
            self.index.note(
                start, {bucket for bucket in event_times(lines, self.form).buckets if bucket is not None}
            )

    def _remember(self, wanted: set[int], start: int, read_again: ReadAgain) -> None:
        unknown = {bucket for bucket in wanted if bucket not in self._buckets}
        again = {bucket for bucket in unknown if self.index.may_hold(bucket)}
        for bucket in unknown:
            self._buckets[bucket] = _Bucket()
        for begin, end in self.index.parts(again, start) if again else ():
            for _, lines in read_again(begin, end):
                for key, line in zip(event_times(lines, self.form).buckets, lines, strict=True):
                    if key is not None and key in again:
                        self._buckets[key].count([hash(line)])
        for bucket in wanted:
            self._buckets.move_to_end(bucket)

    def _forget(self, just_used: set[int]) -> None:
        remembered = sum(len(bucket.seen) for bucket in self._buckets.values())
        while remembered > self._most_remembered_lines and len(self._buckets) > _FEWEST_BUCKETS:
            oldest = next(iter(self._buckets))
            if oldest in just_used:
                return
            remembered -= len(self._buckets.pop(oldest).seen)
