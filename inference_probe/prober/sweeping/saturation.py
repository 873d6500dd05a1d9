"""Own where a service is saturated: from where on more load brings hardly more work, told by the slope of the one over the other."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

LEAST_SLOPE_RATIO = 0.5
"""Where the slope is less than this part of the first stage's, load is added and hardly work."""


def saturated_from(points: Sequence[tuple[float, float]]) -> int | None:
    """Return the index of the first of `points`, each (load, work a second), from which on the slope stays low; None if none does.

    The slope between two points is held against the first point's own, from (0, 0). It has to stay low to the end: a single dip
    is noise. Points must be in the order of their load.
    """
    if len(points) < 2 or points[0][0] <= 0 or points[0][1] <= 0:  # noqa: PLR2004 - a slope needs two
        return None
    first = points[0][1] / points[0][0]
    slopes = [
        (work - before_work) / (load - before_load)
        for (before_load, before_work), (load, work) in pairwise(points)
    ]
    index = len(slopes)
    while index > 0 and slopes[index - 1] < LEAST_SLOPE_RATIO * first:
        index -= 1
    return index if index < len(slopes) else None
