"""Own the axes: how a value becomes a height, which values are written beside it, which instants below."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from fairclock.documents.charts import scale_for

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

_STEPS = tuple(
    timedelta(minutes=minutes)
    for minutes in (1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880, 5 * 1440, 7 * 1440, 14 * 1440)
)
_MOST_TICKS = 7
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """Heights of values in pixels from the top; the values that are written."""

    ticks: Sequence[float]
    place: Callable[[float], float]
    is_logarithmic: bool = False


def upward(values: Sequence[float], *, top: float, bottom: float) -> Axis:
    """Return an axis for values that are not negative: from zero, or logarithmic over a wide range."""
    scale = scale_for(values, bottom=bottom, top=top)
    return Axis(ticks=scale.ticks, place=scale.place, is_logarithmic=scale.is_logarithmic)


def between(low: float, high: float, *, step: float, top: float, bottom: float) -> Axis:
    """Return an even axis from `low` to `high`, written at multiples of `step`."""
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    floor, ceiling = first * step, max(last, first + 1) * step

    def place(value: float) -> float:
        return bottom - (value - floor) / (ceiling - floor) * (bottom - top)

    return Axis(ticks=[index * step for index in range(first, max(last, first + 1) + 1)], place=place)


def instants(start: datetime, end: datetime) -> tuple[list[datetime], str]:
    """Return round local instants in ``[start, end)`` and how they are written (a ``strftime`` pattern)."""
    length = end - start
    step = next((step for step in _STEPS if length / step <= _MOST_TICKS), _STEPS[-1])
    midnight = start.replace(hour=0, minute=0, second=0, microsecond=0)
    if step >= _DAY:
        days = range(0, length.days + 2, step.days)
        found = [midnight + timedelta(days=day) for day in days]
    else:
        first = math.ceil((start - midnight) / step)
        found = [midnight + index * step for index in range(first, first + _MOST_TICKS + 1)]
    pattern = "%m-%d" if step >= _DAY or (length > _DAY and step >= _DAY / 2) else "%H:%M"
    return [each for each in found if start <= each < end], pattern
