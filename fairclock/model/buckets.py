"""Own what a histogram's buckets can say of a quantile: between which two edges it lies, or nothing."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantileBounds:
    """Where the q-th of `n` observations lies: above `above` and at most `at_most`.

    `why_not` says why it cannot be told; what bound there is nevertheless stands in the other field.
    """

    n: int
    above: float | None = None
    at_most: float | None = None
    why_not: str = ""

    @property
    def is_computable(self) -> bool:
        """Return whether both bounds are known."""
        return not self.why_not


def quantile_bounds(
    edges: Sequence[float], counts: Sequence[int], *, numerator: int, denominator: int, n: int | None = None
) -> QuantileBounds:
    """Return the edges between which the nearest-rank quantile ``numerator / denominator`` lies.

    `counts` are cumulative, one for each of the ascending `edges`; `n` is how many there are in all, else the last count.
    The rank is ceil(q n), in integers. Nothing lies between edges by interpolation.
    """
    total = (counts[-1] if counts else 0) if n is None else n
    if any(later < earlier for earlier, later in pairwise([0, *counts, total])):
        return QuantileBounds(n=total, why_not="the buckets contradict each other")
    if not total:
        return QuantileBounds(n=0, why_not="there is no observation")
    rank = max(-(-numerator * total // denominator), 1)
    index = bisect_left(counts, rank)
    finite = [edge for edge in edges if edge != math.inf]
    if index >= len(finite):
        above = finite[-1] if finite else None
        return QuantileBounds(n=total, above=above, why_not="it lies above the last edge")
    if index == 0:
        return QuantileBounds(n=total, at_most=edges[0], why_not="it lies below the first edge")
    return QuantileBounds(n=total, above=edges[index - 1], at_most=edges[index])
