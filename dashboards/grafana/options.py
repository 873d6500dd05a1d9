"""Own what today's panel types are told beside their queries: options, and how a field is drawn unless it says otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dashboards.specification import Panel, Step

_HIDDEN_NOWHERE = {"legend": False, "tooltip": False, "viz": False}
_LAST = {"calcs": ["lastNotNull"], "fields": "", "values": False}
_EVERY_ROW = {"calcs": ["lastNotNull"], "fields": "", "values": True}


def thresholds(steps: tuple[Step, ...]) -> dict[str, Any]:
    """Return from which value on which colour."""
    return {"mode": "absolute", "steps": [{"color": colour, "value": value} for value, colour in steps]}


def options_of(panel: Panel, *, is_sql: bool) -> dict[str, Any]:
    """Return the options of a panel; `is_sql`: its query is a table, of which each row is a value."""
    tooltip = {"mode": "multi", "sort": "desc"}
    legend = {"calcs": [], "displayMode": "list", "placement": "bottom", "showLegend": True}
    reduced = _EVERY_ROW if is_sql and panel.by_series else _LAST
    match panel.kind:
        case "stat":
            return {
                "colorMode": "value", "graphMode": "none", "justifyMode": "auto", "orientation": "auto",
                "percentChangeColorMode": "standard", "reduceOptions": reduced, "showPercentChange": False,
                "textMode": "auto", "wideLayout": True,
            }  # fmt: skip
        case "timeseries":
            return {"legend": legend, "tooltip": tooltip}
        case "table":
            return {"cellHeight": "sm", "showHeader": True, "frameIndex": 0}
        case "bargauge":
            return {
                "displayMode": "gradient", "legend": {**legend, "showLegend": False}, "maxVizHeight": 300, "minVizHeight": 16,
                "minVizWidth": 8, "namePlacement": "auto", "orientation": "horizontal", "reduceOptions": reduced,
                "showUnfilled": True, "sizing": "auto", "valueMode": "color",
            }  # fmt: skip
        case "heatmap":
            return {
                "calculate": False, "cellGap": 1,
                "color": {"exponent": 0.5, "fill": "dark-orange", "mode": "scheme", "reverse": False, "scale": "exponential", "scheme": "Oranges", "steps": 64},
                "exemplars": {"color": "rgba(255,0,255,0.7)"}, "filterValues": {"le": 1e-9}, "legend": {"show": True},
                "rowsFrame": {"layout": "le", "value": "requests"}, "showValue": "never",
                "tooltip": {"mode": "single", "showColorScale": True, "yHistogram": True},
                "yAxis": {"axisPlacement": "left", "reverse": False, "unit": panel.unit or "short"},
            }  # fmt: skip
        case "state-timeline":
            return {
                "alignValue": "left", "legend": legend, "mergeValues": True, "rowHeight": 0.9, "showValue": "never",
                "tooltip": {"mode": "single", "sort": "none"},
            }  # fmt: skip


def drawing_of(panel: Panel) -> dict[str, Any]:
    """Return how the fields of a panel are drawn."""
    match panel.kind:
        case "timeseries":
            return {
                "axisPlacement": "auto",
                "drawStyle": "bars" if panel.bars else "line",
                "fillOpacity": 60 if panel.bars else 20 if panel.stacked else 0,
                "gradientMode": "none",
                "hideFrom": _HIDDEN_NOWHERE,
                "insertNulls": False,
                "lineInterpolation": "linear",
                "lineWidth": 1 if panel.bars else 2,
                "pointSize": 4,
                "scaleDistribution": {"type": "linear"},
                "showPoints": "never" if panel.bars else "auto",
                "spanNulls": False,
                "stacking": {"group": "A", "mode": "normal" if panel.stacked else "none"},
                "thresholdsStyle": {"mode": "dashed" if panel.shows_limit else "off"},
            }
        case "table":
            return {"align": "auto", "cellOptions": {"type": "auto"}, "filterable": True, "inspect": False}
        case "heatmap":
            return {"hideFrom": _HIDDEN_NOWHERE, "scaleDistribution": {"type": "linear"}}
        case "state-timeline":
            return {"fillOpacity": 80, "hideFrom": _HIDDEN_NOWHERE, "lineWidth": 0}
    return {}
