"""Own how a whole dashboard becomes grafanalib's, and what is stamped on its JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from grafanalib.core import (
    HIDE_VARIABLE,
    SHOW,
    Annotations,
    Dashboard,
    DashboardLink,
    GridPos,
    Template,
    Templating,
    Time,
)

from dashboards.grafana.panels import TodaysRow, panel_of
from dashboards.grafana.sources import promql_target, reference, sql_target

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dashboards.specification import Board, Marks, Source, Variable
    from dashboards.wording import Words

SCHEMA_VERSION = 42
"""What Grafana 12.4 writes; a newer one migrates it when it is loaded."""
WIDTH = 24
_REFRESH_ON_TIME_RANGE = 2
_SHARED_CROSSHAIR = 1
_TAG = "fairclock"


_ROW: Any = TodaysRow


def dashboard_of(board: Board, others: Sequence[Board], source: Source, words: Words, *, console: str) -> Any:
    """Return `board` over `source` as grafanalib's; `others` are linked to, and the console at `console`."""
    # a reader of Chinese stays among the dashboards in Chinese
    boards = {each.key: f"/d/{uid_of(each, source, words)}" for each in others}
    said = words.boards[board.key]
    return Dashboard(
        title=f"{said['title']} ({words.phrases[source]})",
        description=f"{said['about']}\n\n{words.phrases[f'about_{source}']}",
        uid=uid_of(board, source, words),
        tags=[_TAG, f"{_TAG}-{source}", words.language],
        editable=False,
        graphTooltip=_SHARED_CROSSHAIR,
        schemaVersion=SCHEMA_VERSION,
        refresh="1m",
        timezone="browser",
        time=Time(board.start, "now"),
        links=_links(board, others, boards, words, console),
        templating=Templating(list=_variables(board, source, words)),
        annotations=Annotations(list=_annotations(board, source, words)),
        panels=_placed(board, source, words, boards),
    ).auto_panel_ids()


def uid_of(board: Board, source: Source, words: Words) -> str:
    """Return the identity of a dashboard; those in another language than English say so."""
    uid = board.uid(source)
    return uid if words.language == "en" else f"{uid}-{words.language}"


def _placed(board: Board, source: Source, words: Words, boards: dict[str, str]) -> list[Any]:
    """Return headings and panels from left to right and top to bottom; a heading without panels is left out."""
    found: list[Any] = []
    top = 0
    for row in board.rows:
        panels = [each for each in row.panels if each.shown_in(source)]
        if not panels:
            continue
        found.append(_ROW(title=words.rows[row.key], gridPos=GridPos(h=1, w=WIDTH, x=0, y=top)))
        top += 1
        left = highest = 0
        for panel in panels:
            if left + panel.width > WIDTH:
                top, left, highest = top + highest, 0, 0
            place = GridPos(h=panel.height, w=panel.width, x=left, y=top)
            found.append(panel_of(panel, source, words, place=place, boards=boards))
            left, highest = left + panel.width, max(highest, panel.height)
        top += highest
    return found


def _variables(board: Board, source: Source, words: Words) -> list[Template]:
    return [
        _variable(each, query, source, words)
        for each in board.variables
        if (query := each.query(source)) is not None
    ]


def _variable(variable: Variable, query: str, source: Source, words: Words) -> Template:
    chosen = variable.everything
    return Template(
        name=variable.name,
        label=words.variables[variable.name],
        query=query,
        dataSource=reference(source),
        type="query",
        refresh=_REFRESH_ON_TIME_RANGE,
        hide=HIDE_VARIABLE if variable.hidden else SHOW,
        multi=chosen is not None,
        includeAll=chosen is not None,
        allValue=None if chosen is None else chosen[source],
        default=None if chosen is None else "$__all",
    )


def _links(
    board: Board, others: Sequence[Board], boards: dict[str, str], words: Words, console: str
) -> list[DashboardLink]:
    to_boards = [
        DashboardLink(
            title=words.boards[each.key]["title"], type="link", icon="dashboard", uri=boards[each.key], keepTime=True,
            includeVars=any(mine.name == its.name for mine in board.variables for its in each.variables),
            tooltip=words.boards[each.key]["about"],
        )
        for each in others
        if each.key != board.key
    ]  # fmt: skip
    to_console = [
        DashboardLink(
            title=words.phrases[name], type="link", icon="external link", uri=f"{console}{path}", keepTime=False,
            targetBlank=True, tooltip=words.phrases[f"{name}_tooltip"],
        )
        for name, path in (("console", board.console), ("reports", "/reports"), ("method", "/method"))
    ]  # fmt: skip
    return [*to_boards, *to_console]


def _annotations(board: Board, source: Source, words: Words) -> list[dict[str, Any]]:
    builtin = {
        "builtIn": 1,
        "datasource": {"type": "grafana", "uid": "-- Grafana --"},
        "enable": True,
        "hide": True,
        "iconColor": "rgba(0, 211, 255, 1)",
        "name": words.phrases["notes"],
        "type": "dashboard",
    }
    return [
        builtin,
        *(found for each in board.marks if (found := _annotation(each, source, words)) is not None),
    ]


def _annotation(marks: Marks, source: Source, words: Words) -> dict[str, Any] | None:
    said = {
        "datasource": reference(source),
        "enable": True,
        "hide": False,
        "iconColor": marks.colour,
        "name": words.marks[marks.key],
    }
    if source == "clickhouse" and marks.clickhouse is not None:
        return {**said, "target": sql_target(words.filled(marks.clickhouse), "table", name="Anno")}
    if source == "prometheus" and marks.prometheus is not None:
        target = promql_target(marks.prometheus, "timeseries", legend=marks.prometheus.legend, name="Anno")
        return {
            **said, "target": target, "titleFormat": marks.prometheus.legend, "textFormat": words.marks[marks.key], "step": "60s",
        }  # fmt: skip
    return None
