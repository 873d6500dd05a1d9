"""Own how readings of a histogram become what was observed in an interval: all of its buckets begin anew together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from fairclock.model.counter_streams import Point
from fairclock.model.counters import increases

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class HistogramPoint:
    """One reading of a histogram; times are µs since 1970.

    counts: cumulative, one for each of the ascending `edges`. since_us: since when it counts.
    """

    at_us: int
    edges: tuple[float, ...]
    counts: tuple[int, ...]
    since_us: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HistogramIncrease:
    """What was observed in ``[start_us, end_us)``: cumulative counts, one for each of the `edges`.

    counts: as `Increase.counted`, None where no reading tells anything. is_exact: whether all of it happened within the
    interval, and nothing else did.
    """

    start_us: int
    end_us: int
    edges: tuple[float, ...]
    counts: tuple[int, ...] | None
    is_exact: bool

    def __add__(self, other: HistogramIncrease) -> HistogramIncrease:
        """Add what another histogram says of the same interval, at the edges that both have."""
        if (self.start_us, self.end_us) != (other.start_us, other.end_us):
            raise ValueError("increases of two intervals do not add up")
        edges = tuple(edge for edge in self.edges if edge in other.edges)
        known = [_at(each.edges, each.counts, edges) for each in (self, other) if each.counts is not None]
        counts = tuple(map(sum, zip(*known, strict=True))) if known else None
        return HistogramIncrease(
            start_us=self.start_us,
            end_us=self.end_us,
            edges=edges,
            counts=counts,
            is_exact=self.is_exact and other.is_exact,
        )


def histogram_increases(points: Iterable[HistogramPoint], edges_us: Sequence[int]) -> list[HistogramIncrease]:
    """Return what was observed in each interval between two of `edges_us`, at the edges that all readings have.

    As `increases` does, for all buckets together: where one of them drops, all begin anew.
    """
    ordered = sorted(points, key=lambda each: (each.at_us, each.since_us or 0, each.counts))
    common = tuple(
        edge for edge in (ordered[0].edges if ordered else ()) if all(edge in each.edges for each in ordered)
    )
    told_apart = _told_apart(
        [replace(each, edges=common, counts=_at(each.edges, each.counts, common)) for each in ordered]
    )
    by_edge = [
        increases(
            [
                Point(at_us=each.at_us, value=each.counts[index], since_us=each.since_us)
                for each in told_apart
            ],
            edges_us,
        )
        for index in range(len(common))
    ]
    found = []
    for position, (start, end) in enumerate(pairwise(edges_us)):
        each = [column[position] for column in by_edge]
        counted = [int(one.counted) for one in each if one.counted is not None]
        found.append(
            HistogramIncrease(
                start_us=start,
                end_us=end,
                edges=common,
                counts=tuple(counted) if each and len(counted) == len(each) else None,
                is_exact=bool(each) and all(one.at_least == one.at_most == one.counted for one in each),
            )
        )
    return found


def _at(edges: tuple[float, ...], counts: tuple[int, ...], wanted: tuple[float, ...]) -> tuple[int, ...]:
    """Return the cumulative counts at some of the edges."""
    known = dict(zip(edges, counts, strict=True))
    return tuple(known[edge] for edge in wanted)


def _told_apart(ordered: list[HistogramPoint]) -> list[HistogramPoint]:
    """Give what comes after a drop another beginning, where nothing else tells that it began anew."""
    found: list[HistogramPoint] = []
    last: dict[int | None, HistogramPoint] = {}
    beginning: dict[int | None, int | None] = {}
    for point in ordered:
        earlier = last.get(point.since_us)
        if earlier is not None and any(
            now < before for before, now in zip(earlier.counts, point.counts, strict=True)
        ):
            beginning[point.since_us] = earlier.at_us + 1
        last[point.since_us] = point
        found.append(replace(point, since_us=beginning.get(point.since_us, point.since_us)))
    return found
