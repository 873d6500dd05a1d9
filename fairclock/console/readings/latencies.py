"""Own latency over the range: the P99 of each stretch, with and without queueing, by the report's own query."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairclock.console.readings.models.figures import LatencyPoint
from fairclock.console.readings.ranged import step_of
from fairclock.model import from_us, to_us
from sla.evaluation.daily import daily_query, days_of

if TYPE_CHECKING:
    from datetime import datetime, tzinfo

    from fairclock.model import Interval
    from fairclock.store import Query, Store

_MICROSECONDS = 1_000_000


def latency_points(
    store: Store, source: Query, window: Interval, *, zone: tzinfo | None = None
) -> tuple[LatencyPoint, ...]:
    """Return every stretch of `window`, those without traffic too; local days of `zone` where one is given."""
    starts = _starts(window, zone)
    found = (
        {row[0]: row[1:] for row in store.rows(daily_query(source, [to_us(each) for each in starts]))}
        if starts
        else {}
    )
    points = []
    for start, end in zip(starts, [*starts[1:], window.end], strict=True):
        count, with_queue, without = found.get(to_us(start), (0, None, None))
        points.append(
            LatencyPoint(
                starts_at=start,
                ends_at=end,
                n=int(count),
                p99_with_queue_seconds=_seconds(with_queue),
                p99_without_queue_seconds=_seconds(without),
            )
        )
    return tuple(points)


def _starts(window: Interval, zone: tzinfo | None) -> list[datetime]:
    if not window.length_us:
        return []
    if zone is not None:
        return [each.start for each in days_of(window, zone).values()]
    step_us = int(step_of(window).total_seconds()) * _MICROSECONDS
    first = to_us(window.start) // step_us + 1
    inner = range(first * step_us, to_us(window.end), step_us)
    return [window.start, *(from_us(each) for each in inner)]


def _seconds(value: int | None) -> float | None:
    return None if value is None else int(value) / _MICROSECONDS
