"""Own how a panel of a dashboard becomes one of grafanalib's, drawn as one of today's types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attr
from grafanalib.core import GridPos, RowPanel
from grafanalib.core import Panel as AnyPanel

from dashboards.grafana.options import drawing_of, options_of, thresholds
from dashboards.grafana.sources import promql_target, reference, sql_target
from dashboards.specification import AMBER, GREEN, GREY, RED

if TYPE_CHECKING:
    from dashboards.specification import Column, Panel, Source
    from dashboards.wording import Words

PLUGIN_VERSION = "12.4.0"
_LEAST_INTERVAL = "1m"
_COLOURS = {
    "within": GREEN, "met": GREEN, "full_speed": GREEN, "ended": GREEN, "resolved": GREEN, "ok": GREEN,
    "over": AMBER, "at_risk": AMBER, "pending": AMBER, "warning": AMBER, "slowed": AMBER, "sw_power_cap": AMBER, "insufficient_data": GREY,
    "not_measured": GREY, "violated": RED, "firing": RED, "critical": RED, "ongoing": RED, "hw_slowdown": RED,
    "sw_thermal": RED, "hw_thermal": RED, "hw_power_brake": RED, "lost": RED, "hung": RED, "unreachable": RED,
}  # fmt: skip
_COUNTS = {"stat": "locale", "table": "locale", "bargauge": "locale"}
"""How counts are written, by the kind of panel: 12,345 is no 12.3 K where somebody compares it with a report."""
_RENAMED = (
    "Value",
    "contract",
    "objective",
    "verdict",
    "severity",
    "tenant",
    "host",
    "gpu",
    "exported_instance",
    "kind",
    "version",
)
"""Columns of Prometheus's tables that people look at."""
_UNASKED = ("Time", "__name__", "job", "instance")
"""Those that say only where Prometheus has it from."""


@attr.s
class TodaysPanel(AnyPanel):  # type: ignore[misc]  # grafanalib has no types
    """A panel of any of today's types: what grafanalib knows of panels, with the options it does not know."""

    kind: str = attr.ib(default="")
    options: dict[str, Any] = attr.ib(factory=dict)
    field_config: dict[str, Any] = attr.ib(factory=dict)

    def to_json_data(self) -> dict[str, Any]:
        """Return the panel as Grafana reads it; what is not said is left out."""
        found: dict[str, Any] = self.panel_json({})
        wanted = ("datasource", "description", "gridPos", "id", "interval", "targets", "title", "transparent")
        kept = {name: found[name] for name in wanted if found[name] is not None}
        return {
            **kept,
            "type": self.kind,
            "pluginVersion": PLUGIN_VERSION,
            "options": self.options,
            "fieldConfig": self.field_config,
        }


@attr.s
class TodaysRow(RowPanel):  # type: ignore[misc]  # as above
    """A heading."""

    def to_json_data(self) -> dict[str, Any]:
        """Return the heading as Grafana reads it."""
        return {
            "type": "row", "title": self.title, "id": self.id, "gridPos": self.gridPos, "collapsed": False, "panels": [],
        }  # fmt: skip


_PANEL: Any = TodaysPanel
"""Its arguments are grafanalib's, of which the type checker knows nothing."""


def panel_of(panel: Panel, source: Source, words: Words, *, place: GridPos, boards: dict[str, str]) -> Any:
    """Return `panel` over `source`, with its words; `boards` are the addresses of dashboards by key."""
    return _PANEL(
        kind=panel.kind,
        title=words.title(panel, source),
        description=words.description(panel, source),
        dataSource=reference(source),
        gridPos=place,
        interval=_LEAST_INTERVAL if panel.kind in {"timeseries", "heatmap", "state-timeline"} else None,
        targets=_targets(panel, source, words),
        options=options_of(panel, is_sql=source == "clickhouse"),
        field_config=_fields(panel, source, words, boards),
    )


def _targets(panel: Panel, source: Source, words: Words) -> list[dict[str, Any]]:
    if source == "clickhouse":
        return [sql_target(words.filled(panel.clickhouse or ""), panel.kind)]
    return [
        promql_target(each, panel.kind, legend=words.filled(each.legend), name=chr(ord("A") + number))
        for number, each in enumerate(panel.prometheus)
    ]


def _fields(panel: Panel, source: Source, words: Words, boards: dict[str, str]) -> dict[str, Any]:
    defaults: dict[str, Any] = {
        "color": {"mode": "palette-classic" if panel.kind == "timeseries" else "thresholds"},
        "custom": drawing_of(panel),
        "noValue": words.nothing(panel),
        "thresholds": thresholds(panel.steps),
        "mappings": _codes(panel, words) if panel.codes else [],
    }
    said = {
        "unit": None if panel.codes else panel.unit or _COUNTS.get(panel.kind, "short"),
        "decimals": panel.decimals,
        "min": panel.least,
        "max": panel.most,
    }
    defaults |= {name: value for name, value in said.items() if value is not None}
    if source == "clickhouse" and (panel.by_series or panel.kind == "heatmap"):
        defaults["displayName"] = _series_name(panel)
    overrides = [_override(key, column, words, boards) for key, column in panel.columns.items()]
    if panel.kind == "table" and source == "prometheus":
        overrides += [_shown(name, "displayName", words.label(name.lower())) for name in _RENAMED]
        overrides += [
            _shown(name, "custom.hideFrom", {"legend": True, "tooltip": True, "viz": True})
            for name in _UNASKED
        ]
    return {"defaults": defaults, "overrides": overrides}


def _series_name(panel: Panel) -> str:
    """Return where the name of a series stands: over time in a label, else in the row."""
    if panel.kind == "heatmap":
        return "${__field.labels.le}"
    return "${__data.fields.series}" if panel.kind in {"stat", "bargauge"} else "${__field.labels.series}"


def _override(key: str, column: Column, words: Words, boards: dict[str, str]) -> dict[str, Any]:
    """Return what one column says otherwise; a dashed one stands for all series whose names begin with it."""
    name = words.label(key)
    properties: list[dict[str, Any]] = []
    for identity, value in (
        ("unit", column.unit),
        ("decimals", column.decimals),
        ("custom.width", column.width),
    ):
        if value is not None:
            properties.append({"id": identity, "value": value})
    if column.steps:
        properties += [
            {"id": "thresholds", "value": thresholds(column.steps)},
            {"id": "custom.cellOptions", "value": {"type": "color-text"}},
        ]
    if column.states:
        properties += [
            {"id": "mappings", "value": _states(words)},
            {"id": "custom.cellOptions", "value": {"type": "color-text"}},
        ]
    if column.to is not None:
        address = column.to
        for board, path in boards.items():
            address = address.replace(f"{{{board}}}", path)
        properties.append({"id": "links", "value": [{"title": words.phrases["open"], "url": address}]})
    if column.hidden:
        properties.append({"id": "custom.hideFrom", "value": {"legend": True, "tooltip": True, "viz": True}})
    if column.dashed:
        properties += [
            {"id": "custom.lineStyle", "value": {"dash": [8, 6], "fill": "dash"}},
            {"id": "color", "value": {"fixedColor": "red", "mode": "fixed"}},
            {"id": "custom.showPoints", "value": "never"},
        ]
        return {"matcher": {"id": "byRegexp", "options": f"/^{name}/"}, "properties": properties}
    return {"matcher": {"id": "byName", "options": name}, "properties": properties}


def _shown(name: str, property_: str, value: Any) -> dict[str, Any]:
    return {"matcher": {"id": "byName", "options": name}, "properties": [{"id": property_, "value": value}]}


def _states(words: Words) -> list[dict[str, Any]]:
    """Return every state's word and colour."""
    return [_mapping({state: state for state in words.states}, words)]


def _codes(panel: Panel, words: Words) -> list[dict[str, Any]]:
    """Return the word and colour of each number that stands for a state."""
    return [_mapping({str(code): state for code, state in panel.codes.items()}, words)]


def _mapping(states: dict[str, str], words: Words) -> dict[str, Any]:
    options = {
        value: {"color": _COLOURS.get(state, GREY), "index": number, "text": words.states[state]}
        for number, (value, state) in enumerate(states.items())
    }
    return {"options": options, "type": "value"}
