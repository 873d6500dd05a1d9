"""Own the variables and the annotations that several dashboards share."""

from __future__ import annotations

from dashboards.specification import AMBER, RED, Marks, Series, Variable
from dashboards.sql import CONTRACTS, inside, touching

_CONTRACTS = "SELECT DISTINCT contract FROM dashboard_contracts ORDER BY contract"
_EVERY_CONTRACT = {"clickhouse": "SELECT contract FROM dashboard_contracts", "prometheus": ".*"}

SOME_CONTRACTS = Variable(
    name="contract",
    clickhouse=_CONTRACTS,
    prometheus="label_values(fairclock_contract_info, contract)",
    everything={"clickhouse": _EVERY_CONTRACT["clickhouse"], "prometheus": _EVERY_CONTRACT["prometheus"]},
)
ONE_CONTRACT = Variable(
    name="contract", clickhouse=_CONTRACTS, prometheus="label_values(fairclock_contract_info, contract)"
)
ZONE = Variable(
    name="zone",
    clickhouse="SELECT time_zone FROM dashboard_contracts WHERE contract IN (${contract:singlequote})"
    " ORDER BY in_force_from DESC LIMIT 1",
    hidden=True,
)
TENANT = Variable(
    name="tenant",
    clickhouse="SELECT DISTINCT arrayJoin(tenants) AS tenant FROM dashboard_contracts"
    " WHERE contract IN (${contract:singlequote}) ORDER BY tenant",
    prometheus='label_values(fairclock_contract_info{contract=~"$contract"}, tenant)',
)
SOME_TENANTS = Variable(
    name="tenant",
    clickhouse="SELECT DISTINCT tenant FROM dashboard_ledger ORDER BY tenant",
    prometheus="label_values(fairclock_cost, tenant)",
    everything={"clickhouse": "SELECT tenant FROM dashboard_ledger", "prometheus": ".*"},
)
ENGINES = Variable(
    name="engine",
    clickhouse=f"SELECT DISTINCT engine_name FROM dashboard_engines WHERE {inside('scraped_at')} ORDER BY engine_name",
    prometheus="label_values(fairclock_engine_requests, engine)",
    everything={"clickhouse": "SELECT engine_name FROM dashboard_engines", "prometheus": ".*"},
)
HOSTS = Variable(
    name="host",
    clickhouse=f"SELECT DISTINCT host FROM dashboard_gpus WHERE {inside('sampled_at')} ORDER BY host",
    prometheus="label_values(fairclock_gpu_memory_bytes, host)",
    everything={"clickhouse": "SELECT host FROM dashboard_gpus", "prometheus": ".*"},
)

INCIDENTS = Marks(
    key="incidents",
    colour=RED,
    clickhouse="SELECT starts_at AS time, ends_at AS timeEnd, concat(contract, ' · ', objective) AS title,"
    " concat(toString(bad), ' / ', toString(requests)) AS text, id AS tags"
    f" FROM dashboard_incidents WHERE {CONTRACTS} AND {touching('starts_at', 'ends_at')} ORDER BY time",
    prometheus=Series(
        expression='fairclock_incidents_open{contract=~"$contract"} > 0', legend="{{contract}}"
    ),
)
ALERTS = Marks(
    key="alerts",
    colour=AMBER,
    clickhouse="SELECT changed_at AS time, concat(contract, ' · ', objective, ' · ', state) AS title,"
    " [[alert_summary]] AS text, severity AS tags"
    f" FROM dashboard_alerts WHERE {CONTRACTS} AND {inside('changed_at')} ORDER BY time",
    prometheus=Series(
        expression='fairclock_alerts_firing{contract=~"$contract"} > 0', legend="{{contract}} {{severity}}"
    ),
)
GPU_EVENTS = Marks(
    key="gpu_events",
    colour=RED,
    clickhouse="SELECT happened_at AS time, concat(event, if(isNull(code), '', concat(' ', toString(code)))) AS title,"
    " concat(instance, ' ', detail) AS text, event AS tags"
    f" FROM dashboard_gpu_events WHERE host IN (${{host:singlequote}}) AND {inside('happened_at')} ORDER BY time",
    prometheus=Series(
        expression='increase(fairclock_gpu_events_total{host=~"$host"}[$__interval]) > 0',
        legend="{{host}} {{gpu}} {{kind}}",
    ),
)
