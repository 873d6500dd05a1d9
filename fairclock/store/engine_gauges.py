"""Own what engines said of their queues and caches, minute by minute, for people to look at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairclock.model import to_us
from fairclock.store.query import Query

if TYPE_CHECKING:
    from datetime import datetime

    from fairclock.model import Interval
    from fairclock.store import Store

GAUGES = {
    "vllm:num_requests_running": "running",
    "vllm:num_requests_waiting": "waiting",
    "vllm:kv_cache_usage_perc": "kv_cache",
}
MOST_POINTS = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class GaugeStretch:
    """One gauge of one engine in one stretch of the window: the last value in it, and the greatest."""

    gauge: str
    target: str
    engine: str
    model: str
    start_us: int
    last: float
    greatest: float


def engine_gauges(store: Store, window: Interval, as_of: datetime) -> list[GaugeStretch]:
    """Return the gauges scraped in `window`, in at most `MOST_POINTS` stretches, in order of time."""
    step_us = max(60_000_000, -(-window.length_us // MOST_POINTS))
    found = store.rows(
        Query(
            sql="SELECT name, target, engine, model,"
            " {from_us:Int64} + intDiv(toUnixTimestamp64Micro(scraped_at) - {from_us:Int64}, {step_us:Int64}) * {step_us:Int64} AS start_us,"
            " argMax(value, scraped_at), max(value)"
            " FROM engine_samples WHERE name IN {names:Array(String)}"
            " AND scraped_at >= fromUnixTimestamp64Micro({from_us:Int64}, 'UTC')"
            " AND scraped_at < fromUnixTimestamp64Micro({to_us:Int64}, 'UTC')"
            " AND toUnixTimestamp64Micro(stored_at) <= {as_of_us:Int64} AND value IS NOT NULL"
            " GROUP BY name, target, engine, model, start_us ORDER BY name, target, engine, model, start_us",
            parameters={
                "names": list(GAUGES),
                "from_us": to_us(window.start),
                "to_us": to_us(window.end),
                "step_us": step_us,
                "as_of_us": to_us(as_of),
            },
        )
    )
    return [
        GaugeStretch(
            gauge=GAUGES[name], target=target, engine=engine, model=model, start_us=int(start_us),
            last=float(last), greatest=float(greatest),
        )
        for name, target, engine, model, start_us, last, greatest in found
    ]  # fmt: skip
