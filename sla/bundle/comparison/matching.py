"""Own which of two measurements are one request: by trace id, by request id, else by time where nothing else fits.

An id that is there once on either side decides. Where it comes more often, or there is none, two measurements are one only if
within the tolerance each is the other's only candidate; what stays ambiguous stays apart, and is counted.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sla.bundle.comparison.ours import Ours
    from sla.bundle.comparison.reading import Theirs

By = Literal["trace", "id", "time"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One request, measured twice."""

    theirs: Theirs
    ours: Ours
    by: By


@dataclass(frozen=True, slots=True, kw_only=True)
class Matched:
    """Everything of both sides, each once.

    offset_us: how far the customer's clock was ahead of the gateway's, the way to the gateway taken off it; None where no id
    tells. ambiguous_theirs, ambiguous_ours: those that fit several of the other side.
    """

    pairs: tuple[Pair, ...]
    only_theirs: tuple[Theirs, ...]
    only_ours: tuple[Ours, ...]
    ambiguous_theirs: tuple[Theirs, ...]
    ambiguous_ours: tuple[Ours, ...]
    offset_us: int | None


def match(
    theirs: Sequence[Theirs], ours: Sequence[Ours], *, tolerance_us: int, offset_us: int | None = None
) -> Matched:
    """Match two sides. `offset_us` replaces what is learned of the customer's clock from requests with ids."""
    pairs = [*_by_key(theirs, ours, "trace")]
    taken = _Taken.of(pairs)
    pairs += _by_key(taken.left_theirs(theirs), taken.left_ours(ours), "id")
    learned = _offset(pairs)
    offset = learned if offset_us is None else offset_us
    taken = _Taken.of(pairs)
    by_time, unsure_theirs, unsure_ours = _by_time(
        taken.left_theirs(theirs), taken.left_ours(ours), offset or 0, tolerance_us
    )
    pairs += by_time
    taken = _Taken.of(pairs)
    return Matched(
        pairs=tuple(sorted(pairs, key=lambda each: each.theirs.line)),
        only_theirs=tuple(each for each in taken.left_theirs(theirs) if each.line not in unsure_theirs),
        only_ours=tuple(each for each in taken.left_ours(ours) if id(each) not in unsure_ours),
        ambiguous_theirs=tuple(each for each in taken.left_theirs(theirs) if each.line in unsure_theirs),
        ambiguous_ours=tuple(each for each in taken.left_ours(ours) if id(each) in unsure_ours),
        offset_us=offset,
    )


@dataclass(frozen=True, slots=True)
class _Taken:
    lines: frozenset[int]
    rows: frozenset[int]

    @classmethod
    def of(cls, pairs: Iterable[Pair]) -> _Taken:
        found = list(pairs)
        return cls(frozenset(each.theirs.line for each in found), frozenset(id(each.ours) for each in found))

    def left_theirs(self, theirs: Iterable[Theirs]) -> list[Theirs]:
        return [each for each in theirs if each.line not in self.lines]

    def left_ours(self, ours: Iterable[Ours]) -> list[Ours]:
        return [each for each in ours if id(each) not in self.rows]


def _by_key(theirs: Sequence[Theirs], ours: Sequence[Ours], by: Literal["trace", "id"]) -> Iterable[Pair]:
    """Yield the pairs whose id is there once on either side."""
    of_theirs, of_ours = defaultdict(list), defaultdict(list)
    for one in theirs:
        of_theirs[one.trace if by == "trace" else one.id].append(one)
    for other in ours:
        of_ours[other.trace if by == "trace" else other.id].append(other)
    for key, found in of_theirs.items():
        if key and len(found) == len(of_ours.get(key, ())) == 1:
            yield Pair(theirs=found[0], ours=of_ours[key][0], by=by)


def _offset(pairs: Sequence[Pair]) -> int | None:
    """Return the median of how far the customer's starts lie behind ours; it holds the way to the gateway, taken negative."""
    known = sorted(
        each.theirs.start_us - each.ours.received_us for each in pairs if each.theirs.start_us is not None
    )
    return known[(len(known) - 1) // 2] if known else None


def _by_time(
    theirs: Sequence[Theirs], ours: Sequence[Ours], offset_us: int, tolerance_us: int
) -> tuple[list[Pair], set[int], set[int]]:
    """Return the pairs that only time makes, and what fits several (lines of theirs, identities of ours)."""
    ordered = sorted(ours, key=lambda each: each.received_us)
    instants = [each.received_us for each in ordered]
    ids = {each.id for each in ours if each.id}
    fits: dict[int, list[int]] = {}
    claimed: defaultdict[int, list[int]] = defaultdict(list)
    for one in theirs:
        if one.start_us is None:
            continue
        at = one.start_us - offset_us
        low, high = bisect_left(instants, at - tolerance_us), bisect_right(instants, at + tolerance_us)
        found = [place for place in range(low, high) if _may_be(one, ordered[place], ids)]
        fits[one.line] = found
        for place in found:
            claimed[place].append(one.line)
    pairs: list[Pair] = []
    unsure: set[int] = set()
    for one in theirs:
        found = fits.get(one.line, [])
        if len(found) == 1 and len(claimed[found[0]]) == 1:
            pairs.append(Pair(theirs=one, ours=ordered[found[0]], by="time"))
        elif found:
            unsure.add(one.line)
    made = {id(each.ours) for each in pairs}
    unsure_ours = {id(ordered[place]) for place in claimed} - made
    return pairs, unsure, unsure_ours


def _may_be(one: Theirs, other: Ours, ids: set[str]) -> bool:
    """Tell whether two measurements may be one request: their ids do not speak against it, nor their status.

    An id of the customer's that we do not know at all may be of another kind than ours.
    """
    if one.trace and other.trace and one.trace != other.trace:
        return False
    if one.id in ids and one.id != other.id:
        return False
    return not one.status or one.status == other.status
