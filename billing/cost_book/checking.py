"""Own what lets a tenant check its share: an engine's timeline without names, and the sweep done again in plain integers.

Nothing but the timeline, the machine and the way of division is needed; the numbers come out to the picosecond.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from billing.cost_book.hours import PICOSECONDS_A_MICROSECOND

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from fractions import Fraction

    from billing.cost_book.settings import Division

QUANTA = 1 << 40
"""Into how many parts a picosecond is divided before shares are added up and rounded down."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Occupation:
    """One sequence on an engine, in one piece of time: ``[begun_us, ended_us)``.

    request: of the tenant that asks, its own; "" for all others and for what is nobody's. weight: 1, or its tokens where
    shares go by them.
    """

    piece_us: int
    begun_us: int
    ended_us: int
    weight: int = 1
    request: str = ""


def checked_shares(
    timeline: Sequence[Occupation], *, gpus: Fraction, division: Division, slots: int = 1
) -> Mapping[str, int]:
    """Return the picoseconds of each request that has a name, from the whole timeline of its engine."""
    pieces: defaultdict[int, list[Occupation]] = defaultdict(list)
    for each in timeline:
        pieces[each.piece_us].append(each)
    shares: defaultdict[str, int] = defaultdict(int)
    for occupations in pieces.values():
        given = _given(occupations, gpus, division, slots)
        for each in occupations:
            if each.request:
                exact = _weight(each, division) * (given[each.ended_us] - given[each.begun_us])
                shares[each.request] += exact // QUANTA
    return dict(shares)


def _weight(each: Occupation, division: Division) -> int:
    return each.weight if division == "tokens" else 1


def _given(
    occupations: Sequence[Occupation], gpus: Fraction, division: Division, slots: int
) -> Mapping[int, int]:
    """Return what a unit of weight was given from the piece's first event until each instant, in parts of a picosecond."""
    changes: defaultdict[int, int] = defaultdict(int)
    for each in occupations:
        changes[each.begun_us] += _weight(each, division)
        changes[each.ended_us] -= _weight(each, division)
    instants = sorted(changes)
    total, running = 0, 0
    given = {instants[0]: 0}
    for start, end in pairwise(instants):
        running += changes[start]
        if running:
            divisor = max(running, slots) if division == "per_slot" else running
            parts = (end - start) * PICOSECONDS_A_MICROSECOND * gpus.numerator * QUANTA
            total += parts // (gpus.denominator * divisor)
        given[end] = total
    return given
