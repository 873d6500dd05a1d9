"""The dashboards as they lie in the repository, and the queries in them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dashboards.building import FOLDER

if TYPE_CHECKING:
    from collections.abc import Iterator

FILES = sorted(FOLDER.glob("*/*.json"))


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One query: where it stands, its text, and the query as Grafana keeps it."""

    where: str
    text: str
    target: Any


def read(path: Any) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def queries(key: str, files: Any = FILES) -> Iterator[Asked]:
    """Yield every query with the key `rawSql` or `expr`: of panels, and of annotations."""
    for path in files:
        name = f"{path.parent.name}/{path.stem}"
        board = read(path)
        for panel in board["panels"]:
            for target in panel.get("targets", ()):
                if key in target:
                    yield Asked(where=f"{name}: {panel['title']}", text=target[key], target=target)
        for each in board["annotations"]["list"]:
            if key in each.get("target", {}):
                yield Asked(where=f"{name}: {each['name']}", text=each["target"][key], target=each["target"])


def variables(source: str, files: Any = FILES) -> Iterator[tuple[str, Any]]:
    """Yield (where, variable) of the dashboards over `source`."""
    for path in files:
        for each in read(path)["templating"]["list"]:
            if each["datasource"]["uid"] == f"fairclock-{source}":
                yield f"{path.parent.name}/{path.stem}: ${each['name']}", each
