"""Own the oracle's ranks: nearest rank, and the ranks between which a percentile lies; all in integers."""

from __future__ import annotations

from functools import cache
from math import comb
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

MILLION = 1_000_000


def in_seconds(ordered: Sequence[Fraction], rank: int | None) -> Fraction | None:
    """Return the value at a rank counted from 1; nothing where it has none, as those who come last have."""
    return ordered[rank - 1] / MILLION if rank is not None and 0 < rank <= len(ordered) else None


def nearest_rank(percentile: Fraction, n: int) -> int:
    """Return the percentile's rank among n, rounded up."""
    return -(-percentile * n // 100)


@cache
def ranks_around(percentile: Fraction, n: int) -> tuple[int | None, int | None]:
    """Return the ranks between which the percentile lies, 2.5 % at most in each tail; None where no rank does.

    Of n values, B are at or below the percentile with the chance C(n, B) p^B (1 - p)^(n - B).
    """
    part, whole = percentile.numerator, percentile.denominator * 100
    chances = [comb(n, b) * part**b * (whole - part) ** (n - b) for b in range(n + 1)]
    limit = whole**n

    def first_beyond_the_tail(places: Sequence[int]) -> int:
        tail = 0
        for b in places:
            tail += chances[b]
            if 40 * tail > limit:
                return b
        raise AssertionError("the chances add up to one")

    low = first_beyond_the_tail(range(n + 1))
    high = first_beyond_the_tail(range(n, -1, -1)) + 1
    return low if low >= 1 else None, high if high <= n else None
