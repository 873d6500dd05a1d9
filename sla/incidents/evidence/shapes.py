"""Own how engines' times went over hours: climbing since they started (a leak?), or with spikes at even distances."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING

from sla.incidents.evidence.finding import Evidence, seconds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sla.incidents.observations import Life, Observed, Point

_LEAST_POINTS = 6
_LEAST_CLIMB_US = 3_600_000_000
_ORDERED = Fraction(7, 10)
_CLIMB = Fraction(3, 2)
_SPIKE_TIMES = 2
_LEAST_SPIKES = 4
_LEAST_PERIOD_US = 180_000_000
_MINUTE_US = 60_000_000
_EVEN = Fraction(1, 5)
_SAME_LOAD = Fraction(3, 2)


def climbing(seen: Observed) -> Evidence | None:
    """Tell that an output token took longer and longer as an engine ran, and load grew by less than half as much."""
    found = [climb for life in seen.lives if (climb := _climb(life)) is not None]
    if not found:
        return None
    ratio, load, order, life = max(found, key=lambda each: (each[0], each[3].engine))
    first, last = _thirds(life.points)
    return Evidence(
        kind="climbing",
        numbers={
            "engine": life.engine,
            "over_seconds": seconds(life.points[-1].at_us - life.points[0].at_us),
            "uptime_seconds": seconds(life.points[-1].at_us - life.since_us) if life.knows_start else None,
            "first_seconds": seconds(_middle(first)),
            "last_seconds": seconds(_middle(last)),
            "growth_times": ratio,
            "load_times": load,
            "order_tau": order,
        },
        sources=("engine_requests",),
    )


def spikes(seen: Observed) -> Evidence | None:
    """Tell that an engine's slow minutes came at even distances, and not because more was asked of it then."""
    found = [beat for life in seen.minutes if (beat := _beat(life)) is not None]
    return max(found, key=lambda each: str(each.numbers["engine"])) if found else None


def agreement(values: Sequence[int]) -> Fraction:
    """Return Kendall's tau of `values` with their order: 1 where each is greater than all before, -1 where less."""
    pairs = len(values) * (len(values) - 1) // 2
    if not pairs:
        return Fraction(0)
    score = sum(
        (later > earlier) - (later < earlier)
        for place, earlier in enumerate(values)
        for later in values[place + 1 :]
    )
    return Fraction(score, pairs)


def _climb(life: Life) -> tuple[Fraction, Fraction, Fraction, Life] | None:
    points = life.points
    if len(points) < _LEAST_POINTS or points[-1].at_us - points[0].at_us < _LEAST_CLIMB_US:
        return None
    first, last = _thirds(points)
    before, after = _middle(first), _middle(last)
    if not before:
        return None
    ratio = Fraction(after) / before
    load = Fraction(sum(each.requests for each in last), max(sum(each.requests for each in first), 1))
    order = agreement([each.median_us for each in points])
    if order < _ORDERED or ratio < _CLIMB or (load - 1) * 2 > ratio - 1:
        return None
    return ratio, load, order, life


def _thirds(points: Sequence[Point]) -> tuple[Sequence[Point], Sequence[Point]]:
    third = max(len(points) // 3, 1)
    return points[:third], points[-third:]


def _middle(points: Sequence[Point]) -> Fraction:
    return Fraction(median(Fraction(each.median_us) for each in points))


def _beat(life: Life) -> Evidence | None:
    usual = _middle(life.points) if life.points else Fraction(0)
    high = [each for each in life.points if each.median_us >= _SPIKE_TIMES * usual]
    if not usual or len(high) < _LEAST_SPIKES:
        return None
    heads = [high[0]]
    for earlier, later in pairwise(high):
        if later.at_us - earlier.at_us > _MINUTE_US:
            heads.append(later)
    distances = [later.at_us - earlier.at_us for earlier, later in pairwise(heads)]
    if len(heads) < _LEAST_SPIKES:
        return None
    period = Fraction(median(Fraction(each) for each in distances))
    slack = max(_EVEN * period, Fraction(_MINUTE_US))
    if period < _LEAST_PERIOD_US or any(abs(each - period) > slack for each in distances):
        return None
    others = [each for each in life.points if each not in high]
    load = _load(high) / max(_load(others), Fraction(1)) if others else Fraction(0)
    if not others or load > _SAME_LOAD:
        return None
    return Evidence(
        kind="spikes",
        numbers={
            "engine": life.engine,
            "spikes": len(heads),
            "period_seconds": seconds(period),
            "spike_seconds": seconds(_middle(high)),
            "usual_seconds": seconds(usual),
            "load_times": load,
        },
        sources=("engine_requests",),
    )


def _load(points: Sequence[Point]) -> Fraction:
    return Fraction(sum(each.requests for each in points), len(points))
