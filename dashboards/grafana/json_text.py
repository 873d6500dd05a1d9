"""Own the JSON text of a dashboard: what grafanalib says, less what today's Grafana has forgotten, always the same bytes."""

from __future__ import annotations

import json
from typing import Any

from grafanalib._gen import DashboardEncoder

_FORGOTTEN = {
    "__inputs", "gnetId", "hideControls", "id", "rows", "sharedCrosshair", "style", "timepicker", "version",
}  # fmt: skip
"""Keys of a dashboard that Grafana reads no more, or that it sets itself."""
_OF_VARIABLES = (
    "allValue", "current", "datasource", "hide", "includeAll", "label", "multi", "name", "options", "query", "refresh",
    "regex", "sort", "type",
)  # fmt: skip


def json_text(dashboard: Any) -> str:
    """Return the file of a grafanalib dashboard."""
    tree: dict[str, Any] = json.loads(json.dumps(dashboard, cls=DashboardEncoder))
    kept = {name: value for name, value in tree.items() if name not in _FORGOTTEN}
    kept["templating"] = {"list": [_variable(each) for each in tree["templating"]["list"]]}
    return json.dumps(kept, ensure_ascii=False, indent=2, sort_keys=True) + "\n"


def _variable(said: dict[str, Any]) -> dict[str, Any]:
    """Return a variable without tags; nothing is chosen beforehand but everything, where that may be."""
    kept = {name: said[name] for name in _OF_VARIABLES if said.get(name) is not None}
    kept.pop("current")
    if said["includeAll"]:
        kept["current"] = {"selected": True, "text": ["All"], "value": ["$__all"]}
    return kept
