"""Own numbers that follow each other without a gap, taken together."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def runs(numbers: Iterable[int], *, most: int | None = None) -> list[tuple[int, int]]:
    """Return the first and last of each run of ascending `numbers`; no run has more than `most`."""
    found: list[tuple[int, int]] = []
    for number in numbers:
        if found and number == found[-1][1] + 1 and (most is None or number - found[-1][0] < most):
            found[-1] = (found[-1][0], number)
        else:
            found.append((number, number))
    return found
