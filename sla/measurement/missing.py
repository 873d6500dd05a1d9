"""Own which probes a source did not see although it should have: rows lost on the way, a source that fell silent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairclock.model.sightings import Source, should_see

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from fairclock.model.sightings import Reconciled


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceCount:
    """How many probes a source should have seen and saw.

    A gateway should have seen whatever was answered, client and engine what was answered well: of what a client gave up it has no
    duration, and that is its service's failure. unseen_last: how many
    of those in a row, up to the last, it did not see, from `unseen_since` on.
    """

    source: Source
    expected: int
    seen: int
    unseen_last: int
    unseen_since: datetime | None

    @property
    def missing(self) -> int:
        """Return how many it should have seen and did not."""
        return self.expected - self.seen


def source_counts(found: Iterable[Reconciled]) -> list[SourceCount]:
    """Return a count a source; one that saw no probe at all is there too: it is not connected, or lost everything."""
    ordered = sorted(found, key=lambda each: (each.probe.intended_at, each.probe.id))
    return [_count(source, ordered) for source in Source]


def _count(source: Source, ordered: Sequence[Reconciled]) -> SourceCount:
    expected = [each for each in ordered if should_see(source, each.probe)]
    unseen: list[Reconciled] = []
    for each in reversed(expected):
        if each.by(source) is not None:
            break
        unseen.append(each)
    return SourceCount(
        source=source,
        expected=len(expected),
        seen=sum(each.by(source) is not None for each in expected),
        unseen_last=len(unseen),
        unseen_since=unseen[-1].probe.intended_at if unseen else None,
    )
