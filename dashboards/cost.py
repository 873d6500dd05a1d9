"""Own the dashboard of money: what tenants are charged, for how much use, and what became of credits."""

from __future__ import annotations

from dashboards.choices import SOME_TENANTS
from dashboards.specification import Board, Column, Panel, Row, Series
from dashboards.sql import inside

_CHOSEN = f"tenant IN (${{tenant:singlequote}}) AND {inside('starts_at')}"
_CHARGES = f"FROM dashboard_charges WHERE {_CHOSEN}"
_LEDGER = f"FROM dashboard_ledger WHERE {_CHOSEN} AND kind NOT IN ('credit', 'close')"
_OF_TENANT = 'tenant=~"$tenant"'

_NUMBERS = (
    Panel(
        key="net", kind="stat", width=6, height=4, decimals=2, by_series=True,
        clickhouse=f'SELECT currency AS series, sum(amount_value) AS "[[net]]" {_LEDGER} GROUP BY currency ORDER BY currency',
        prometheus=(Series(expression=f'sum by (currency) (fairclock_cost{{{_OF_TENANT},book="charge"}})', legend="{{currency}}", at_end=True),),
    ),
    Panel(
        key="per_thousand", kind="stat", width=6, height=4, decimals=4, by_series=True,
        clickhouse='SELECT currency AS series, if(sum(requests) = 0, NULL, 1000 * sum(net) / sum(requests)) AS "[[per_thousand]]"'
        f" {_CHARGES} GROUP BY currency ORDER BY currency",
    ),
    Panel(
        key="used_tokens", kind="stat", width=6, height=4, decimals=0,
        clickhouse='SELECT if(count() = 0, NULL, sum(uncached_prompt_tokens + cached_prompt_tokens + completion_tokens)) AS "[[tokens]]"'
        f" {_CHARGES}",
        prometheus=(Series(expression=f"sum(increase(fairclock_tokens_total{{{_OF_TENANT}}}[$__range]))", at_end=True),),
    ),
    Panel(
        key="gpu_seconds", kind="stat", width=6, height=4, unit="s", decimals=1,
        clickhouse=f'SELECT if(count() = 0, NULL, sum(gpu_seconds)) AS "[[gpu_seconds]]" {_CHARGES}',
    ),
    Panel(
        key="machine_cost", kind="stat", width=6, height=4, decimals=2,
        prometheus=(Series(expression=f'sum by (currency) (fairclock_cost{{{_OF_TENANT},book="cost"}})', legend="{{currency}}", at_end=True),),
    ),
)  # fmt: skip

_BY = (
    Panel(
        key="net_by_tenant", kind="bargauge", width=12, height=9, decimals=2, by_series=True,
        clickhouse="SELECT concat(tenant, ' ', currency) AS series, sum(amount_value) AS \"[[net]]\""
        f" {_LEDGER} GROUP BY series ORDER BY sum(amount_value) DESC LIMIT 50",
        prometheus=(Series(expression=f'fairclock_cost{{{_OF_TENANT},book="charge"}}', legend="{{tenant}} {{currency}}", at_end=True),),
    ),
    Panel(
        key="net_by_day", kind="timeseries", width=12, height=9, bars=True, stacked=True, by_series=True, decimals=2,
        clickhouse="SELECT $__timeInterval(starts_at) AS time, concat(tenant, ' ', currency) AS series, sum(amount_value) AS \"[[net]]\""
        f" {_LEDGER} GROUP BY time, series ORDER BY time, series",
        prometheus=(Series(expression=f'fairclock_cost{{{_OF_TENANT},book="charge"}}', legend="{{tenant}} {{currency}}"),),
    ),
    Panel(
        key="tokens_by_class", kind="timeseries", width=12, height=9, bars=True, stacked=True, least=0,
        clickhouse='SELECT $__timeInterval(starts_at) AS time, sum(uncached_prompt_tokens) AS "[[uncached_tokens]]",'
        f' sum(cached_prompt_tokens) AS "[[cached_tokens]]", sum(completion_tokens) AS "[[completion_tokens]]" {_CHARGES} GROUP BY time ORDER BY time',
        prometheus=(Series(
            expression=f"sum by (class) (increase(fairclock_tokens_total{{{_OF_TENANT}}}[$__rate_interval]))", legend="{{class}}",
        ),),
    ),
    Panel(
        key="books", kind="bargauge", width=12, height=9, decimals=2,
        prometheus=(Series(expression=f"sum by (book, currency) (fairclock_cost{{{_OF_TENANT}}})", legend="{{book}} {{currency}}", at_end=True),),
    ),
    Panel(
        key="lines", kind="table", width=24, height=10,
        clickhouse='SELECT tenant AS "[[tenant]]", model AS "[[model]]", length_class AS "[[length_class]]", inference_mode AS "[[inference_mode]]",'
        ' treatment AS "[[treatment]]", currency AS "[[currency]]", sum(requests) AS "[[requests]]",'
        ' sum(uncached_prompt_tokens + cached_prompt_tokens) AS "[[prompt_tokens]]", sum(completion_tokens) AS "[[completion_tokens]]",'
        ' sum(gpu_seconds) AS "[[gpu_seconds]]", sum(net) AS "[[net]]"'
        f" {_CHARGES} GROUP BY tenant, model, length_class, inference_mode, treatment, currency ORDER BY tenant, sum(net) DESC LIMIT 1000",
        columns={"net": Column(decimals=2), "gpu_seconds": Column(unit="s", decimals=1)},
    ),
    Panel(
        key="credits", kind="table", width=24, height=8,
        clickhouse='SELECT contract AS "[[contract]]", month AS "[[month]]", objective AS "[[objective]]", state AS "[[state]]",'
        ' amount AS "[[amount]]", currency AS "[[currency]]", closes_at AS "[[claim_closes]]" FROM dashboard_credits'
        " WHERE contract IN (SELECT contract FROM dashboard_versions ARRAY JOIN tenants AS served WHERE served IN (${tenant:singlequote}))"
        " ORDER BY month DESC, contract, objective LIMIT 500",
        columns={"state": Column(states=True)},
    ),
)  # fmt: skip

COST_BOARD = Board(
    key="cost",
    variables=(SOME_TENANTS,),
    rows=(Row(key="now", panels=_NUMBERS), Row(key="by", panels=_BY)),
    start="now-30d",
    console="/cost",
)
