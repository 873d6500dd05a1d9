"""Own the data sources, by the uids under which they are provisioned, and what a query is to each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dashboards.specification import Kind, Series, Source

UIDS: dict[Source, str] = {"clickhouse": "fairclock-clickhouse", "prometheus": "fairclock-prometheus"}
PLUGINS: dict[Source, str] = {"clickhouse": "grafana-clickhouse-datasource", "prometheus": "prometheus"}
_PLUGIN_VERSION = "4.11.2"
_TIMESERIES, _TABLE = 0, 1
_OVER_TIME: tuple[Kind, ...] = ("timeseries", "heatmap", "state-timeline")


def reference(source: Source) -> dict[str, str]:
    """Return how a panel, a query or a variable names its data source."""
    return {"type": PLUGINS[source], "uid": UIDS[source]}


def sql_target(sql: str, kind: Kind, *, name: str = "A") -> dict[str, Any]:
    """Return a query of the ClickHouse plugin, as series where `kind` draws over time, else as a table."""
    over_time = kind in _OVER_TIME
    return {
        "datasource": reference("clickhouse"),
        "editorType": "sql",
        "format": _TIMESERIES if over_time else _TABLE,
        "pluginVersion": _PLUGIN_VERSION,
        "queryType": "timeseries" if over_time else "table",
        "rawSql": sql,
        "refId": name,
    }


def promql_target(series: Series, kind: Kind, *, legend: str, name: str) -> dict[str, Any]:
    """Return a query of the Prometheus data source."""
    return {
        "datasource": reference("prometheus"),
        "editorMode": "code",
        "exemplar": False,
        "expr": series.expression,
        "format": "heatmap" if series.buckets else "table" if kind == "table" else "time_series",
        "instant": series.at_end,
        "legendFormat": legend or "__auto",
        "range": not series.at_end,
        "refId": name,
    }
