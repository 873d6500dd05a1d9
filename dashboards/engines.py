"""Own the dashboard of engines and GPUs: what waits, how full the cache is, what the machines say."""

from __future__ import annotations

from dashboards.choices import ENGINES, GPU_EVENTS, HOSTS
from dashboards.specification import NONE_IS_GOOD, Board, Column, Panel, Row, Series
from dashboards.sql import inside

_ENGINE = f"FROM dashboard_engines WHERE engine_name IN (${{engine:singlequote}}) AND {inside('scraped_at')}"
_GPU = f"FROM dashboard_gpus WHERE host IN (${{host:singlequote}}) AND {inside('sampled_at')}"
_EVENTS = f"FROM dashboard_gpu_events WHERE host IN (${{host:singlequote}}) AND {inside('happened_at')}"
_OF_ENGINE = '{engine=~"$engine"}'
_OF_HOST = '{host=~"$host"}'
_INSTANCE = "{{host}} {{gpu}} {{exported_instance}}"
"""Prometheus calls the exporter's own label so, since `instance` is its name for whom it scrapes."""
_FULL = ((None, "green"), (0.85, "orange"), (0.95, "red"))
_WARM = ((None, "green"), (80.0, "orange"), (90.0, "red"))
_REASONS = (
    (1 << 2, "sw_power_cap"),
    (1 << 3, "hw_slowdown"),
    (1 << 5, "sw_thermal"),
    (1 << 6, "hw_thermal"),
    (1 << 7, "hw_power_brake"),
)
"""The bits of NVML's reasons that slow a GPU down; idleness and the clocks that somebody set are none."""
_SLOWED = sum(bit for bit, _ in _REASONS)


def _gauge(kind: str, aggregate: str = "max") -> str:
    return (
        "SELECT $__timeInterval(scraped_at) AS time, engine_name AS series,"
        f" {aggregate}(value) AS \"[[engine_{kind}]]\" {_ENGINE} AND kind = '{kind}' GROUP BY time, series ORDER BY time, series"
    )


def _gpu(column: str, aggregate: str = "avg") -> str:
    return (
        f'SELECT $__timeInterval(sampled_at) AS time, instance AS series, {aggregate}({column}) AS "[[gpu_{column}]]"'
        f" {_GPU} AND {column} IS NOT NULL GROUP BY time, series ORDER BY time, series"
    )


_NUMBERS = (
    Panel(
        key="engines", kind="stat", width=4, height=4,
        clickhouse=f'SELECT uniqExact(engine_name) AS "[[engines]]" {_ENGINE}',
        prometheus=(Series(expression=f"count(count by (engine) (fairclock_engine_requests{_OF_ENGINE}))", at_end=True),),
    ),
    Panel(
        key="waiting_now", kind="stat", width=4, height=4, steps=((None, "green"), (1.0, "orange"), (20.0, "red")),
        clickhouse='SELECT if(count() = 0, NULL, sum(last)) AS "[[engine_waiting]]" FROM (SELECT argMax(value, scraped_at) AS last'
        f" {_ENGINE} AND kind = 'waiting' GROUP BY target, engine, model)",
        prometheus=(Series(expression='sum(fairclock_engine_requests{engine=~"$engine",state="waiting"})', at_end=True),),
    ),
    Panel(
        key="fullest_cache", kind="stat", width=4, height=4, unit="percentunit", decimals=1, steps=_FULL, most=1,
        clickhouse=f"SELECT if(count() = 0, NULL, max(value)) AS \"[[engine_kv_cache]]\" {_ENGINE} AND kind = 'kv_cache'",
        prometheus=(Series(expression=f"max(max_over_time(fairclock_kv_cache_utilization_ratio{_OF_ENGINE}[$__range]))", at_end=True),),
    ),
    Panel(
        key="gpus", kind="stat", width=4, height=4,
        clickhouse=f'SELECT uniqExact(host, gpu) AS "[[gpus]]" {_GPU}',
        prometheus=(Series(expression=f"count(fairclock_gpu_memory_bytes{_OF_HOST})", at_end=True),),
    ),
    Panel(
        key="slowed_now", kind="stat", width=4, height=4, steps=NONE_IS_GOOD,
        clickhouse=f'SELECT if(count() = 0, NULL, countIf(bitAnd(reasons, {_SLOWED}) != 0)) AS "[[slowed]]" FROM'
        f" (SELECT argMax(assumeNotNull(throttle_reasons), sampled_at) AS reasons {_GPU} AND throttle_reasons IS NOT NULL GROUP BY host, gpu)",
        prometheus=(Series(expression='count(max by (host, gpu, exported_instance) (fairclock_gpu_throttled{host=~"$host"}) > 0) or 0 * count(fairclock_gpu_throttled{host=~"$host"})', at_end=True),),
    ),
    Panel(
        key="xids", kind="stat", width=4, height=4, steps=NONE_IS_GOOD,
        clickhouse=f"SELECT if((SELECT count() {_GPU}) = 0, NULL, (SELECT countIf(event = 'xid') {_EVENTS})) AS \"[[xids]]\"",
        prometheus=(Series(
            expression='sum(increase(fairclock_gpu_events_total{host=~"$host",kind="xid"}[$__range])) or 0 * count(fairclock_gpu_memory_bytes{host=~"$host"})',
            at_end=True,
        ),),
        decimals=0,
    ),
)  # fmt: skip

_QUEUES = (
    Panel(
        key="waiting", kind="timeseries", width=12, height=8, by_series=True, least=0,
        clickhouse=_gauge("waiting"),
        prometheus=(Series(expression='fairclock_engine_requests{engine=~"$engine",state="waiting"}', legend="{{engine}} {{model}}"),),
    ),
    Panel(
        key="running", kind="timeseries", width=12, height=8, by_series=True, least=0,
        clickhouse=_gauge("running"),
        prometheus=(Series(expression='fairclock_engine_requests{engine=~"$engine",state="running"}', legend="{{engine}} {{model}}"),),
    ),
    Panel(
        key="kv_cache", kind="timeseries", width=12, height=8, unit="percentunit", steps=_FULL, by_series=True, shows_limit=True, least=0, most=1,
        clickhouse=_gauge("kv_cache"),
        prometheus=(Series(expression=f"fairclock_kv_cache_utilization_ratio{_OF_ENGINE}", legend="{{engine}} {{model}}"),),
    ),
    Panel(
        key="preemptions", kind="timeseries", width=12, height=8, bars=True, by_series=True, least=0,
        clickhouse='SELECT $__timeInterval(scraped_at) AS time, engine_name AS series, sum(more) AS "[[preemptions]]" FROM'
        " (SELECT scraped_at, engine_name, value, lagInFrame(toNullable(value)) OVER ran AS before,"
        " if(isNull(before), 0, if(value < before, value, value - before)) AS more"
        f" {_ENGINE} AND kind = 'preemptions' WINDOW ran AS (PARTITION BY target, engine, model ORDER BY scraped_at))"
        " GROUP BY time, series ORDER BY time, series",
        prometheus=(Series(expression=f"increase(fairclock_engine_preemptions_total{_OF_ENGINE}[$__rate_interval])", legend="{{engine}} {{model}}"),),
    ),
    Panel(
        key="queue_by_engine", kind="timeseries", width=24, height=8, unit="s", by_series=True, least=0,
        clickhouse='SELECT $__timeInterval(received_at) AS time, upstream AS series, avg(queue) AS "[[mean_queue]]"'
        f" FROM dashboard_requests WHERE {inside('received_at')} AND queue IS NOT NULL GROUP BY time, series ORDER BY time, series",
        prometheus=(Series(
            expression="sum by (model) (rate(fairclock_queue_duration_seconds_sum[$__rate_interval]))"
            " / sum by (model) (rate(fairclock_queue_duration_seconds_count[$__rate_interval]))",
            legend="{{model}}",
        ),),
    ),
)  # fmt: skip

_GPUS = (
    Panel(
        key="utilization", kind="timeseries", width=12, height=8, unit="percentunit", by_series=True, least=0, most=1,
        clickhouse=_gpu("utilization_ratio"),
        prometheus=(Series(expression=f"fairclock_gpu_utilization_ratio{_OF_HOST}", legend=_INSTANCE),),
    ),
    Panel(
        key="memory", kind="timeseries", width=12, height=8, unit="bytes", by_series=True, least=0,
        clickhouse=_gpu("memory_used_bytes", "max"),
        prometheus=(Series(expression=f"fairclock_gpu_memory_used_bytes{_OF_HOST}", legend=_INSTANCE),),
    ),
    Panel(
        key="power", kind="timeseries", width=12, height=8, unit="watt", by_series=True, least=0,
        clickhouse=_gpu("power_watts"),
        prometheus=(Series(expression=f"fairclock_gpu_power_watts{_OF_HOST}", legend=_INSTANCE),),
    ),
    Panel(
        key="temperature", kind="timeseries", width=12, height=8, unit="celsius", steps=_WARM, by_series=True, shows_limit=True,
        clickhouse=_gpu("temperature_celsius", "max"),
        prometheus=(Series(expression=f"fairclock_gpu_temperature_celsius{_OF_HOST}", legend=_INSTANCE),),
    ),
    Panel(
        key="throttling", kind="state-timeline", width=24, height=7, by_series=True,
        codes={0: "full_speed", 1: "slowed", **{bit.bit_length(): name for bit, name in _REASONS}},
        clickhouse="SELECT $__timeInterval(sampled_at) AS time, instance AS series, toFloat64(multiIf("
        + ", ".join(f"max(bitTest(assumeNotNull(throttle_reasons), {bit.bit_length() - 1})), {bit.bit_length()}" for bit, _ in reversed(_REASONS))
        + f', 0)) AS "[[state]]" {_GPU} AND throttle_reasons IS NOT NULL GROUP BY time, series ORDER BY time, series',
        prometheus=(Series(expression='max by (host, gpu, exported_instance) (fairclock_gpu_throttled{host=~"$host"}) > bool 0', legend=_INSTANCE),),
    ),
    Panel(
        key="gpu_events", kind="table", width=14, height=8,
        clickhouse='SELECT happened_at AS "[[at]]", instance AS "[[instance]]", event AS "[[event]]", code AS "[[code]]", detail AS "[[detail]]"'
        f" {_EVENTS} ORDER BY happened_at DESC LIMIT 500",
        prometheus=(Series(expression="fairclock_gpu_events_total" + _OF_HOST, at_end=True),),
    ),
    Panel(
        key="machines", kind="table", width=10, height=8,
        clickhouse='SELECT host AS "[[host]]", instance AS "[[instance]]", argMax(name, sampled_at) AS "[[model]]", argMax(profile, sampled_at) AS "[[profile]]",'
        ' argMax(state, sampled_at) AS "[[state]]", argMax(memory_bytes, sampled_at) AS "[[memory]]", max(sampled_at) AS "[[last_seen]]"'
        f" {_GPU} GROUP BY host, instance ORDER BY host, instance",
        prometheus=(Series(expression=f"fairclock_gpu_memory_bytes{_OF_HOST}", at_end=True),),
        columns={"memory": Column(unit="bytes"), "value": Column(unit="bytes"), "state": Column(states=True)},
    ),
)  # fmt: skip

ENGINES_BOARD = Board(
    key="engines",
    variables=(ENGINES, HOSTS),
    rows=(
        Row(key="now", panels=_NUMBERS),
        Row(key="queues", panels=_QUEUES),
        Row(key="gpus", panels=_GPUS),
    ),
    marks=(GPU_EVENTS,),
    start="now-6h",
    console="/sources",
)
