"""Own the dashboard of all contracts: who is near the edge of what was promised, and whether it was measured."""

from __future__ import annotations

from dashboards.choices import ALERTS, INCIDENTS, SOME_CONTRACTS
from dashboards.specification import (
    BURNING,
    COVERED,
    LEFT,
    NONE_IS_GOOD,
    Board,
    Column,
    Panel,
    Row,
    Series,
)
from dashboards.sql import (
    CONTRACTS,
    OBJECTIVES,
    PROMISES,
    SLICES,
    budgets,
    burning,
    coverage,
    inside,
    touching,
)

TO_TENANT = "{tenant}?${__url_time_range}&var-contract=${__value.raw}"
"""Where a contract's name leads: its own dashboard, over the same range; {tenant} is that dashboard of the same variant."""


_NUMBERS = (
    Panel(
        key="contracts", kind="stat", width=3, height=4,
        clickhouse=f'SELECT uniqExact(contract) AS "[[contracts]]" FROM dashboard_contracts WHERE {CONTRACTS}',
        prometheus=(Series(expression='count(count by (contract) (fairclock_contract_info{contract=~"$contract"}))', at_end=True),),
    ),
    Panel(
        key="requests", kind="stat", width=5, height=4,
        clickhouse=f'SELECT if(count() = 0, NULL, sum(requests)) AS "[[requests]]" {SLICES}',
        prometheus=(Series(
            expression='sum(increase(fairclock_requests_total{tenant=~".+"}[$__range]))', at_end=True,
        ),),
        decimals=0,
    ),
    Panel(
        key="at_risk", kind="stat", width=4, height=4, steps=NONE_IS_GOOD,
        clickhouse='SELECT if(count() = 0, NULL, countIf(over_requests > allowed_requests)) AS "[[at_risk]]"'
        f" FROM ({budgets()})",
        prometheus=(Series(
            expression='count(fairclock_error_budget_remaining_ratio{contract=~"$contract"} < 0)'
            ' or 0 * count(fairclock_error_budget_remaining_ratio{contract=~"$contract"})',
            at_end=True,
        ),),
    ),
    Panel(
        key="open_incidents", kind="stat", width=4, height=4, steps=NONE_IS_GOOD,
        clickhouse=f"SELECT countIf(state = 'ongoing') AS \"[[open_incidents]]\" FROM dashboard_incidents WHERE {CONTRACTS}",
        prometheus=(Series(expression='sum(fairclock_incidents_open{contract=~"$contract"})', at_end=True),),
    ),
    Panel(
        key="firing_alerts", kind="stat", width=4, height=4, steps=NONE_IS_GOOD,
        clickhouse=f"SELECT countIf(state = 'firing') AS \"[[firing_alerts]]\" FROM dashboard_alerts WHERE {CONTRACTS}",
        prometheus=(Series(expression='sum(fairclock_alerts_firing{contract=~"$contract"})', at_end=True),),
    ),
    Panel(
        key="least_covered", kind="stat", width=5, height=4, unit="percentunit", decimals=2, steps=COVERED, most=1,
        clickhouse=f'SELECT min(gateway_ratio) AS "[[coverage_gateway]]", min(engine_ratio) AS "[[coverage_engine]]" FROM ({coverage()})',
        prometheus=(
            Series(expression='min(fairclock_coverage_ratio{contract=~"$contract",kind="gateway"})', legend="[[coverage_gateway]]", at_end=True),
            Series(expression='min(fairclock_coverage_ratio{contract=~"$contract",kind="engine"})', legend="[[coverage_engine]]", at_end=True),
        ),
    ),
)  # fmt: skip

_TABLES = (
    Panel(
        key="standing", kind="table", width=24, height=8,
        clickhouse=(
            'SELECT held.contract AS "[[contract]]", held.called AS "[[title]]", counted.number AS "[[requests]]",'
            ' left.risky AS "[[at_risk]]", left.least AS "[[least_left]]", counted.share AS "[[queue_share]]",'
            ' covered.gateway_ratio AS "[[coverage_gateway]]", covered.engine_ratio AS "[[coverage_engine]]",'
            ' counted.newest AS "[[counted_to]]"'
            f" FROM (SELECT contract, argMax([[contract_title]], in_force_from) AS called FROM dashboard_contracts WHERE {CONTRACTS} GROUP BY contract) AS held"
            " LEFT JOIN (SELECT contract, toNullable(sum(requests)) AS number, toNullable(max(minute)) AS newest,"
            f" if(sum(queue_of_us) = 0, NULL, sum(queue_us) / sum(queue_of_us)) AS share {SLICES} GROUP BY contract) AS counted"
            " ON held.contract = counted.contract"
            " LEFT JOIN (SELECT contract, toNullable(countIf(over_requests > allowed_requests)) AS risky, min(left_ratio) AS least"
            f" FROM ({budgets()}) GROUP BY contract) AS left ON held.contract = left.contract"
            f" LEFT JOIN ({coverage()}) AS covered ON held.contract = covered.contract"
            " ORDER BY left.least, held.contract"
        ),
        prometheus=(Series(
            expression='min by (contract) (fairclock_error_budget_remaining_ratio{contract=~"$contract"})', at_end=True,
        ),),
        columns={
            "contract": Column(to=TO_TENANT),
            "at_risk": Column(steps=NONE_IS_GOOD),
            "least_left": Column(unit="percentunit", decimals=1, steps=LEFT),
            "queue_share": Column(unit="percentunit", decimals=1),
            "coverage_gateway": Column(unit="percentunit", decimals=2, steps=COVERED),
            "coverage_engine": Column(unit="percentunit", decimals=2, steps=COVERED),
            "value": Column(unit="percentunit", decimals=1, steps=LEFT),
        },
    ),
    Panel(
        key="promises", kind="table", width=24, height=10,
        clickhouse=f'SELECT contract AS "[[contract]]", {PROMISES} FROM ({budgets()}) ORDER BY left_ratio, contract, objective',
        prometheus=(Series(
            expression='fairclock_error_budget_remaining_ratio{contract=~"$contract"}', at_end=True,
        ),),
        columns={
            "contract": Column(to=TO_TENANT),
            "promised": Column(unit="s"),
            "left": Column(unit="percentunit", decimals=1, steps=LEFT),
            "state": Column(states=True),
            "value": Column(unit="percentunit", decimals=1, steps=LEFT),
        },
    ),
)  # fmt: skip

_OVER_TIME = (
    Panel(
        key="burn_of_all", kind="timeseries", width=12, height=8, steps=BURNING, by_series=True, shows_limit=True, least=0,
        clickhouse=burning("concat(contract, ' · ', objective)"),
        prometheus=(Series(
            expression='fairclock_error_budget_burn_rate{contract=~"$contract",window="1h"}', legend="{{contract}} · {{objective}}",
        ),),
    ),
    Panel(
        key="rate_of_all", kind="timeseries", width=12, height=8, unit="reqpm", by_series=True, stacked=True, least=0,
        clickhouse="SELECT $__timeInterval(minute) AS time, contract AS series,"
        f' sum(requests) * 60 / $__interval_s AS "[[requests_per_minute]]" {SLICES} GROUP BY time, series ORDER BY time, series',
        prometheus=(Series(expression="60 * sum by (tenant) (rate(fairclock_requests_total[$__rate_interval]))", legend="{{tenant}}"),),
    ),
    Panel(
        key="states", kind="state-timeline", width=24, height=8, codes={0: "within", 1: "over", 2: "not_measured"}, by_series=True,
        clickhouse="SELECT $__timeInterval(minute) AS time, concat(contract, ' · ', objective) AS series,"
        ' toFloat64(multiIf(sum(counted) = 0, 2, sum(over) * any(share_in) > sum(counted) * any(share_of), 1, 0)) AS "[[state]]"'
        f" {OBJECTIVES} AND share_of > 0 GROUP BY time, series ORDER BY time, series",
        prometheus=(Series(
            expression='fairclock_error_budget_burn_rate{contract=~"$contract",window="5m"} > bool 1', legend="{{contract}} · {{objective}}",
        ),),
    ),
)  # fmt: skip

_SAID = (
    Panel(
        key="alerts", kind="table", width=12, height=8,
        clickhouse='SELECT changed_at AS "[[changed_at]]", state AS "[[state]]", severity AS "[[severity]]", contract AS "[[contract]]",'
        ' objective AS "[[objective]]", [[alert_summary]] AS "[[summary]]"'
        f" FROM dashboard_alerts WHERE {CONTRACTS} AND (state = 'firing' OR {inside('changed_at')}) ORDER BY changed_at DESC LIMIT 200",
        prometheus=(Series(expression='fairclock_alerts_firing{contract=~"$contract"} > 0', at_end=True),),
        columns={"state": Column(states=True), "severity": Column(states=True), "contract": Column(to=TO_TENANT)},
    ),
    Panel(
        key="incidents", kind="table", width=12, height=8,
        clickhouse='SELECT contract AS "[[contract]]", objective AS "[[objective]]", state AS "[[state]]", starts_at AS "[[from]]",'
        ' ends_at AS "[[to]]", bad AS "[[over]]", requests AS "[[counted]]", worst_seconds AS "[[longest]]"'
        f" FROM dashboard_incidents WHERE {CONTRACTS} AND {touching('starts_at', 'ends_at')} ORDER BY starts_at DESC LIMIT 200",
        columns={"state": Column(states=True), "longest": Column(unit="s"), "contract": Column(to=TO_TENANT)},
    ),
    Panel(
        key="verdicts", kind="table", width=24, height=8,
        clickhouse='SELECT contract AS "[[contract]]", month AS "[[month]]", revision AS "[[revision]]", objective AS "[[objective]]",'
        ' counted AS "[[counted]]", over AS "[[over]]", said AS "[[verdict]]", as_of AS "[[as_of]]"'
        f" FROM dashboard_verdicts WHERE {CONTRACTS} ORDER BY month DESC, contract, objective LIMIT 500",
        prometheus=(Series(expression='fairclock_objective_verdict{contract=~"$contract"} == 1', at_end=True),),
        columns={"verdict": Column(states=True), "contract": Column(to=TO_TENANT)},
    ),
)  # fmt: skip

OVERVIEW = Board(
    key="overview",
    variables=(SOME_CONTRACTS,),
    rows=(
        Row(key="now", panels=_NUMBERS),
        Row(key="standing", panels=_TABLES),
        Row(key="over_time", panels=_OVER_TIME),
        Row(key="said", panels=_SAID),
    ),
    marks=(INCIDENTS, ALERTS),
)
