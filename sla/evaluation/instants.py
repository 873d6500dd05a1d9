"""Own how sets of instants are tested in the engine, row by row: exactly, whatever their edges."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairclock.model import merge, to_us
from fairclock.store import Query
from sla.evaluation.fragments import NEVER

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairclock.model import Interval

_BEFORE_ALL_US = -(2**62)


def inside(intervals: Iterable[Interval], *, name: str, column: str = "at_us") -> Query:
    """Return the condition that `column` (microseconds since 1970) lies in one of the half-open `intervals`.

    Each row is rounded down to the last edge not after it (a binary search), and counts if that edge is a
    start; so the cost does not grow with the number of intervals and edges may be any microsecond.
    """
    disjoint = merge(intervals)
    if not disjoint:
        return NEVER
    starts = [to_us(each.start) for each in disjoint]
    edges = sorted({_BEFORE_ALL_US, *starts, *(to_us(each.end) for each in disjoint)})
    return Query(
        sql=f"roundDown({column}, {{{name}_edges:Array(Int64)}}) IN {{{name}_starts:Array(Int64)}}",
        parameters={f"{name}_edges": edges, f"{name}_starts": starts},
    )
