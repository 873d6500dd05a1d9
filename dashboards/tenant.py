"""Own the dashboard of one contract: with and without queueing, where the time goes, what is left of each promise."""

from __future__ import annotations

from dashboards.choices import ALERTS, INCIDENTS, ONE_CONTRACT, TENANT, ZONE
from dashboards.specification import BURNING, COVERED, LEFT, Board, Column, Panel, Row, Series
from dashboards.sql import (
    CONTRACTS,
    OBJECTIVES,
    PROMISES,
    SLICES,
    budgets,
    burning,
    coverage,
    inside,
    percentile,
    percentile_if,
    touching,
)  # fmt: skip

CLOCKS = (
    "end_to_end", "excluding_queue", "queue", "inference", "prefill", "decode", "outside", "time_to_first_token",
    "time_per_output_token",
)  # fmt: skip
"""The clocks of a report's table, in its order."""
_PHASES = ("network", "frontend", "queue", "prefill", "decode")
_EDGES = "[0.05, 0.1, 0.2, 0.3, 0.5, 0.8, 1, 1.5, 2, 3, 5, 8, 15, 30, 60, 120]"
_REQUESTS = (
    f"FROM dashboard_requests WHERE {CONTRACTS} AND {inside('received_at')}"
    # the table is ordered by tenant: without this it would be read whole
    f" AND tenant IN (SELECT arrayJoin(tenants) FROM dashboard_versions WHERE {CONTRACTS})"
)
_SECONDS = "fairclock_request_duration_seconds"


def _clock_row(clock: str, place: int) -> str:
    parts = ", ".join(f'{percentile(percent, clock)} AS "P{percent}"' for percent in ("50", "95", "99"))
    return (
        f'SELECT {place} AS place, \'[[clock_{clock}]]\' AS "[[clock]]", count({clock}) AS "[[counted]]", {parts},'
        f' if(count({clock}) = 0, NULL, max({clock})) AS "[[longest]]" {_REQUESTS} AND is_ok'
    )


def _mean(clock: str) -> str:
    """Return the PromQL of a clock's mean: durations by how many there were."""
    chosen = f'{{tenant=~"$tenant",clock="{clock}"}}'
    return f"sum(rate({_SECONDS}_sum{chosen}[$__rate_interval])) / sum(rate({_SECONDS}_count{chosen}[$__rate_interval]))"


_NUMBERS = (
    Panel(
        key="tenant_requests", kind="stat", width=4, height=4, decimals=0,
        clickhouse=f'SELECT if(count() = 0, NULL, sum(requests)) AS "[[requests]]" {SLICES}',
        prometheus=(Series(expression='sum(increase(fairclock_requests_total{tenant=~"$tenant"}[$__range]))', at_end=True),),
    ),
    Panel(
        key="with_queue", kind="stat", width=4, height=4, unit="s", decimals=3,
        clickhouse=f'SELECT {percentile_if("99", "end_to_end", "is_ok")} AS "[[with_queue]]" {_REQUESTS}',
        prometheus=(Series(expression=_mean("end_to_end").replace("$__rate_interval", "$__range"), legend="[[mean_with_queue]]", at_end=True),),
    ),
    Panel(
        key="without_queue", kind="stat", width=4, height=4, unit="s", decimals=3,
        clickhouse=f'SELECT {percentile_if("99", "excluding_queue", "is_ok")} AS "[[without_queue]]" {_REQUESTS}',
        prometheus=(Series(expression=_mean("excluding_queue").replace("$__rate_interval", "$__range"), legend="[[mean_without_queue]]", at_end=True),),
    ),
    Panel(
        key="queue_alone", kind="stat", width=4, height=4, unit="s", decimals=3,
        clickhouse=f'SELECT {percentile("99", "queue")} AS "[[queue_alone]]" {_REQUESTS} AND is_ok',
        prometheus=(Series(expression=_mean("queue").replace("$__rate_interval", "$__range"), legend="[[mean_queue]]", at_end=True),),
    ),
    Panel(
        key="least_left", kind="stat", width=4, height=4, unit="percentunit", decimals=1, steps=LEFT,
        clickhouse=f'SELECT min(left_ratio) AS "[[least_left]]" FROM ({budgets()})',
        prometheus=(Series(expression='min(fairclock_error_budget_remaining_ratio{contract=~"$contract"})', at_end=True),),
    ),
    Panel(
        key="covered", kind="stat", width=4, height=4, unit="percentunit", decimals=2, steps=COVERED, most=1,
        clickhouse='SELECT gateway_ratio AS "[[coverage_gateway]]", engine_ratio AS "[[coverage_engine]]",'
        f" (SELECT if(countIf(is_ok) = 0, NULL, countIf(is_ok AND engine = 'joined') / countIf(is_ok)) {_REQUESTS}) AS \"[[coverage_joined]]\""
        f" FROM ({coverage()})",
        prometheus=(Series(expression='fairclock_coverage_ratio{contract=~"$contract"}', legend="{{kind}}", at_end=True),),
    ),
)  # fmt: skip

_QUEUEING = (
    Panel(
        key="with_and_without", kind="timeseries", width=14, height=9, unit="s", least=0,
        clickhouse=f'SELECT $__timeInterval(received_at) AS time, {percentile_if("99", "end_to_end", "is_ok")} AS "[[with_queue]]",'
        f' {percentile_if("99", "excluding_queue", "is_ok")} AS "[[without_queue]]",'
        f' {percentile_if("50", "end_to_end", "is_ok")} AS "[[median_with_queue]]",'
        " (SELECT min(threshold_seconds) FROM dashboard_contracts WHERE "
        f"{CONTRACTS} AND clock = 'end_to_end') AS \"[[limit_end_to_end]]\" {_REQUESTS} GROUP BY time ORDER BY time",
        prometheus=(
            Series(expression=_mean("end_to_end"), legend="[[mean_with_queue]]"),
            Series(expression=_mean("excluding_queue"), legend="[[mean_without_queue]]"),
            Series(expression='fairclock_objective_threshold_seconds{contract=~"$contract"}', legend="[[limit]] {{objective}}"),
        ),
        columns={"limit": Column(dashed=True)},
    ),
    Panel(
        key="phases", kind="timeseries", width=10, height=9, unit="s", stacked=True, least=None,
        clickhouse="SELECT $__timeInterval(received_at) AS time, "
        + ", ".join(f'avg({phase}) AS "[[phase_{phase}]]"' for phase in _PHASES)
        + f" {_REQUESTS} AND is_fully_measured GROUP BY time ORDER BY time",
        prometheus=tuple(
            Series(expression=_mean(clock), legend=f"[[phase_{clock}]]") for clock in ("queue", "prefill", "decode")
        ),
    ),
    Panel(
        key="clocks", kind="table", width=14, height=9, unit="s", decimals=3,
        clickhouse="SELECT * EXCEPT (place) FROM ("
        + " UNION ALL ".join(_clock_row(clock, place) for place, clock in enumerate(CLOCKS))
        + ") ORDER BY place",
        columns={"counted": Column(unit="locale", decimals=0), "clock": Column(unit="string")},
    ),
    Panel(
        key="spread", kind="heatmap", width=10, height=9, unit="s",
        clickhouse="SELECT $__timeInterval(received_at) AS time,"
        f" toString(arrayFirst(edge -> edge >= least(end_to_end, 120), {_EDGES})) AS le, toFloat64(count()) AS requests"
        f" {_REQUESTS} AND is_ok GROUP BY time, le ORDER BY time, toFloat64(le)",
        prometheus=(Series(
            expression=f'sum by (le) (increase({_SECONDS}_bucket{{tenant=~"$tenant",clock="end_to_end"}}[$__rate_interval]))',
            legend="{{le}}", buckets=True,
        ),),
    ),
)  # fmt: skip

_BUDGET = (
    Panel(
        key="left", kind="bargauge", width=8, height=8, unit="percentunit", decimals=1, steps=LEFT, most=1, by_series=True,
        clickhouse=f'SELECT objective AS series, left_ratio AS "[[left]]" FROM ({budgets()}) ORDER BY left_ratio',
        prometheus=(Series(expression='fairclock_error_budget_remaining_ratio{contract=~"$contract"}', legend="{{objective}}", at_end=True),),
    ),
    Panel(
        key="left_over_time", kind="timeseries", width=8, height=8, unit="percentunit", steps=LEFT, by_series=True, most=1,
        clickhouse='SELECT time, series, 1 - sum(spent) OVER ran / nullIf(sum(allowance) OVER whole, 0) AS "[[left]]" FROM'
        " (SELECT $__timeInterval(minute) AS time, objective AS series, sum(over) AS spent, sum(counted) * any(share_of) / any(share_in) AS allowance"
        f" {OBJECTIVES} AND share_of > 0 GROUP BY time, series, version)"
        " WINDOW ran AS (PARTITION BY series ORDER BY time), whole AS (PARTITION BY series) ORDER BY time, series",
        prometheus=(Series(expression='fairclock_error_budget_remaining_ratio{contract=~"$contract"}', legend="{{objective}}"),),
    ),
    Panel(
        key="burn", kind="timeseries", width=8, height=8, steps=BURNING, by_series=True, shows_limit=True, least=0,
        clickhouse=burning("objective"),
        prometheus=(Series(expression='fairclock_error_budget_burn_rate{contract=~"$contract"}', legend="{{objective}} {{window}}"),),
    ),
    Panel(
        key="tenant_promises", kind="table", width=24, height=7,
        clickhouse=f"SELECT {PROMISES} FROM ({budgets()}) ORDER BY objective",
        prometheus=(Series(expression='fairclock_objective_verdict{contract=~"$contract"} == 1', at_end=True),),
        columns={
            "promised": Column(unit="s"),
            "left": Column(unit="percentunit", decimals=1, steps=LEFT),
            "state": Column(states=True),
            "verdict": Column(states=True),
        },
    ),
)  # fmt: skip

_TRAFFIC = (
    Panel(
        key="outcomes", kind="timeseries", width=12, height=8, stacked=True, bars=True, by_series=True, least=0,
        clickhouse='SELECT $__timeInterval(received_at) AS time, outcome AS series, toFloat64(count()) AS "[[requests]]"'
        f" {_REQUESTS} GROUP BY time, series ORDER BY time, series",
        prometheus=(Series(
            expression='sum by (outcome) (increase(fairclock_requests_total{tenant=~"$tenant"}[$__rate_interval]))', legend="{{outcome}}",
        ),),
    ),
    Panel(
        key="endings", kind="table", width=6, height=8,
        clickhouse=f'SELECT outcome AS "[[outcome]]", count() AS "[[requests]]" {_REQUESTS} GROUP BY outcome ORDER BY count() DESC, outcome',
    ),
    Panel(
        key="covered_over_time", kind="timeseries", width=6, height=8, unit="percentunit", steps=COVERED, least=0, most=1,
        clickhouse='SELECT $__timeInterval(minute) AS time, sum(gateway_us) / (uniqExact(minute) * 60000000) AS "[[coverage_gateway]]",'
        f' sum(engine_us) / (uniqExact(minute) * 60000000) AS "[[coverage_engine]]" {SLICES} GROUP BY time ORDER BY time',
        prometheus=(Series(expression='fairclock_coverage_ratio{contract=~"$contract"}', legend="{{kind}}"),),
    ),
    Panel(
        key="days", kind="table", width=12, height=9,
        clickhouse="SELECT toString(toDate(received_at, '${zone}')) AS \"[[day]]\", count() AS \"[[requests]]\", countIf(is_ok) AS \"[[ok_requests]]\","
        f' {percentile_if("99", "end_to_end", "is_ok")} AS "[[with_queue]]", {percentile_if("99", "excluding_queue", "is_ok")} AS "[[without_queue]]"'
        f' {_REQUESTS} GROUP BY "[[day]]" ORDER BY "[[day]]" DESC',
        columns={"with_queue": Column(unit="s", decimals=3), "without_queue": Column(unit="s", decimals=3)},
    ),
    Panel(
        key="months", kind="table", width=12, height=9,
        clickhouse=(
            "SELECT toString(month_start) AS \"[[month]]\", toUnixTimestamp(toDateTime(month_start, '${zone}')) * 1000 AS from_ms,"
            " toUnixTimestamp(toDateTime(addMonths(month_start, 1), '${zone}')) * 1000 AS to_ms, toUInt64(sum(number)) AS \"[[requests]]\""
            " FROM (SELECT toStartOfMonth(toDate(minute, '${zone}')) AS month_start, requests AS number"
            f" FROM dashboard_slices WHERE {CONTRACTS}) GROUP BY month_start ORDER BY month_start DESC LIMIT 36"
        ),
        columns={
            "month": Column(to="{tenant}?from=${__data.fields.from_ms.numeric}&to=${__data.fields.to_ms.numeric}&var-contract=${contract}"),
            "from_ms": Column(hidden=True),
            "to_ms": Column(hidden=True),
        },
    ),
    Panel(
        key="tenant_incidents", kind="table", width=24, height=8,
        clickhouse='SELECT objective AS "[[objective]]", state AS "[[state]]", starts_at AS "[[from]]",'
        ' ends_at AS "[[to]]", bad AS "[[over]]", requests AS "[[counted]]", worst_seconds AS "[[longest]]", arrayStringConcat(tenants, \', \') AS "[[tenants]]"'
        f" FROM dashboard_incidents WHERE {CONTRACTS} AND {touching('starts_at', 'ends_at')} ORDER BY starts_at DESC LIMIT 200",
        prometheus=(Series(expression='fairclock_incidents_open{contract=~"$contract"}', at_end=True),),
        columns={"state": Column(states=True), "longest": Column(unit="s")},
    ),
)  # fmt: skip

TENANT_BOARD = Board(
    key="tenant",
    variables=(ONE_CONTRACT, TENANT, ZONE),
    rows=(
        Row(key="now", panels=_NUMBERS),
        Row(key="queueing", panels=_QUEUEING),
        Row(key="budget", panels=_BUDGET),
        Row(key="traffic", panels=_TRAFFIC),
    ),
    marks=(INCIDENTS, ALERTS),
    console="/tenants/${tenant}",
)
