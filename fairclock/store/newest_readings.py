"""Own the newest that engines and GPUs said, of what is no older than it may be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from fairclock.model import to_us
from fairclock.store.batches import FIRST_WINS_BASE
from fairclock.store.query import Query

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from fairclock.model import Interval

ENGINE_SERIES = (
    "vllm:num_requests_running",
    "vllm:num_requests_waiting",
    "vllm:kv_cache_usage_perc",
    "vllm:num_preemptions",
)
_WITHIN = (
    "{column} >= fromUnixTimestamp64Micro({{newest_from:Int64}}, 'UTC') AND {column} < fromUnixTimestamp64Micro({{newest_to:Int64}}, 'UTC')"
    " AND first_wins >= {{newest_wins:UInt64}}"
)


class Rows(Protocol):
    """Whatever answers queries; `fairclock.store.Store` does."""

    def rows(self, query: Query) -> Sequence[Sequence[Any]]:
        """Return the rows of `query`."""


class EngineReading(NamedTuple):
    """The newest value of one of `ENGINE_SERIES`."""

    name: str
    target: str
    engine: str
    model: str
    value: float


class EngineState(NamedTuple):
    """The newest state that the plugin inside an engine told; None is what it did not know."""

    instance: str
    rank: int | None
    model: str
    running: int | None
    waiting: int | None
    kv_cache_usage_ratio: float | None


class GpuReading(NamedTuple):
    """The newest second of a device or MIG instance; None is what was not measured."""

    host: str
    gpu: str
    parent: str
    gpu_instance: int | None
    compute_instance: int | None
    utilization_ratio: float | None
    memory_used_bytes: int | None
    memory_bytes: int | None
    power_milliwatts: int | None
    temperature_celsius: float | None
    throttle_reasons: int | None


class GpuEventCount(NamedTuple):
    """How many events of one kind befell a device or MIG instance."""

    host: str
    gpu: str
    parent: str
    gpu_instance: int | None
    compute_instance: int | None
    kind: str
    events: int


def engine_readings(store: Rows, window: Interval, as_of: datetime) -> list[EngineReading]:
    """Return the newest value of each series scraped in `window`; one that was no number is none."""
    found = store.rows(
        Query(
            sql="SELECT name, target, engine, model, argMax(value, scraped_at) FROM engine_samples"
            f" WHERE name IN {{names:Array(String)}} AND {_WITHIN.format(column='scraped_at')} AND isNotNull(value)"
            " GROUP BY name, target, engine, model ORDER BY name, target, engine, model",
            parameters={**_parameters(window, as_of), "names": list(ENGINE_SERIES)},
        )
    )
    return [
        EngineReading(name=name, target=target, engine=engine, model=model, value=float(value))
        for name, target, engine, model, value in found
    ]


def engine_states(store: Rows, window: Interval, as_of: datetime) -> list[EngineState]:
    """Return the newest state of each engine that a plugin told of in `window`."""
    found = store.rows(
        Query(
            sql="SELECT instance, engine_rank, model, running, waiting, kv_cache_usage_ratio FROM engine_states"
            f" WHERE event = 'state' AND {_WITHIN.format(column='at')} ORDER BY at DESC LIMIT 1 BY instance, engine_rank",
            parameters=_parameters(window, as_of),
        )
    )
    return sorted((EngineState(*row) for row in found), key=lambda each: (each.instance, each.rank or 0))


def gpu_readings(store: Rows, window: Interval, as_of: datetime) -> list[GpuReading]:
    """Return the newest second of each device and MIG instance in `window`."""
    found = store.rows(
        Query(
            sql="SELECT host, gpu, parent, gpu_instance, compute_instance, utilization_ratio_mean, memory_used_bytes_mean,"
            " memory_total_bytes, power_milliwatts_mean, temperature_celsius_mean, throttle_reasons FROM gpu_samples"
            f" WHERE {_WITHIN.format(column='sampled_at')} ORDER BY sampled_at DESC, collector LIMIT 1 BY host, gpu",
            parameters=_parameters(window, as_of),
        )
    )
    return sorted((GpuReading(*row) for row in found), key=lambda each: (each.host, each.gpu))


def gpu_event_counts(
    store: Rows, since: datetime, as_of: datetime, *, reach: Interval
) -> list[GpuEventCount]:
    """Return the events of `reach` that were first stored after `since` and up to `as_of`; a copy is none."""
    found = store.rows(
        Query(
            sql="SELECT host, gpu, any(parent), any(gpu_instance), any(compute_instance), event, count() FROM"
            " (SELECT happened_at, content_hash, k, any(host) AS host, any(gpu) AS gpu, any(parent) AS parent, any(event) AS event,"
            "   any(gpu_instance) AS gpu_instance, any(compute_instance) AS compute_instance, max(first_wins) AS first"
            f"  FROM gpu_events WHERE {_WITHIN.format(column='happened_at')}"
            "  GROUP BY happened_at, content_hash, k HAVING first < {since_wins:UInt64})"
            " GROUP BY host, gpu, event ORDER BY host, gpu, event",
            parameters={**_parameters(reach, as_of), "since_wins": FIRST_WINS_BASE - to_us(since)},
        )
    )
    return [GpuEventCount(*row) for row in found]


def _parameters(window: Interval, as_of: datetime) -> dict[str, object]:
    return {
        "newest_from": to_us(window.start),
        "newest_to": to_us(window.end),
        "newest_wins": FIRST_WINS_BASE - to_us(as_of),
    }
