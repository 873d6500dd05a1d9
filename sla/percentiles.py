"""Own nearest-rank percentiles, in integers: the rank, what may lie above it, and its interval.

The p-th percentile of n values is the ceil(p·n/100)-th smallest; nothing is interpolated. A promise "the
p-th percentile is at most T" is kept iff 100·over <= (100-p)·n, which is the same sentence: exactly
`n - rank` values may lie above T. Nothing here decides by a float.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from itertools import accumulate

_WEIGHT_BITS = 160
"""Scale of the binomial weights below: their errors stay under 2**-140 of the whole."""

_TAIL = 40
"""Each tail of the interval holds at most one fortieth: 95 % lie between."""


def rank(count: int, percentile: Fraction) -> int:
    """Return which of `count` values in ascending order is the percentile, counted from 1."""
    _check(count, percentile)
    if count == 0:
        raise ValueError("no values have no percentile")
    return count - allowed_over(count, percentile)


def allowed_over(count: int, percentile: Fraction) -> int:
    """Return how many of `count` values may exceed the threshold: floor((100-p)·n/100)."""
    _check(count, percentile)
    return int((100 - percentile) * count // 100)


def is_met(over: int, count: int, percentile: Fraction) -> bool:
    """Say whether 100·over <= (100-p)·n; equality meets."""
    _check(count, percentile)
    return 100 * over <= (100 - percentile) * count


def percentile_of(statistic: str) -> Fraction | None:
    """Return the percentile that ``p50`` or ``p99.9`` names; None for ``mean``."""
    return None if statistic == "mean" else Fraction(statistic.removeprefix("p"))


@lru_cache(maxsize=4096)
def interval_ranks(count: int, percentile: Fraction) -> tuple[int | None, int | None]:
    """Return the ranks between which the population's percentile lies with 95 % confidence.

    Distribution-free: of `count` independent values Binomial(count, p) lie below the population's
    percentile, so the values at ranks (low, high) enclose it unless fewer than `low` or at least `high`
    do. `low` is the largest rank and `high` the smallest that leave at most 2.5 % outside on their side.
    None where no rank does: so few values say nothing about that side.
    """
    _check(count, percentile)
    if count == 0:
        return None, None
    if percentile == 100:  # noqa: PLR2004 - the largest value: no sample bounds it from above
        return count, None
    first, weights = _binomial_weights(count, percentile / 100)
    total = sum(weights)
    below = list(accumulate(weights))
    low = first + sum(_TAIL * mass <= total for mass in below)
    above = list(accumulate(reversed(weights)))
    high = first + len(weights) - sum(_TAIL * mass <= total for mass in above)
    return (low if low >= 1 else None), (high if high <= count else None)


def _binomial_weights(count: int, chance: Fraction) -> tuple[int, list[int]]:
    """Return the smallest k of Binomial(count, chance) that weighs anything, and the weights from there.

    The weights are integers in proportion to the probabilities, grown from the mode by the exact ratio of
    neighbours and cut off where they fall below one unit.
    """
    yes, no = chance.numerator, chance.denominator - chance.numerator
    mode = (count + 1) * yes // chance.denominator
    upward = [1 << _WEIGHT_BITS]
    for k in range(mode, count):
        weight = upward[-1] * (count - k) * yes // ((k + 1) * no)
        if weight == 0:
            break
        upward.append(weight)
    downward: list[int] = []
    weight = upward[0]
    for k in range(mode, 0, -1):
        weight = weight * k * no // ((count - k + 1) * yes)
        if weight == 0:
            break
        downward.append(weight)
    return mode - len(downward), [*reversed(downward), *upward]


def _check(count: int, percentile: Fraction) -> None:
    """Refuse counts below zero and percentiles outside ]0, 100]."""
    if count < 0:
        raise ValueError(f"a count cannot be negative ({count})")
    if not 0 < percentile <= 100:  # noqa: PLR2004 - per cent
        raise ValueError(f"a percentile lies above 0 and up to 100 ({percentile})")
