"""Own the values that a dashboard is made of, whatever draws it: panels, their two queries, variables, rows.

A text in double square brackets, such as ``[[contract]]``, stands for a label of `dashboards.wording` in the reader's language.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

Source = Literal["clickhouse", "prometheus"]
SOURCES: tuple[Source, ...] = ("clickhouse", "prometheus")
Kind = Literal["stat", "timeseries", "table", "bargauge", "heatmap", "state-timeline"]
Step = tuple[float | None, str]
"""From which value on which colour; the first value is None."""

GREEN, AMBER, RED, GREY, BLUE = "green", "orange", "red", "#8e8e8e", "blue"
PLAIN: tuple[Step, ...] = ((None, BLUE),)
LEFT: tuple[Step, ...] = ((None, RED), (0.0, AMBER), (0.25, GREEN))
"""What is left of a budget: overspent, nearly spent, fine."""
BURNING: tuple[Step, ...] = ((None, GREEN), (1.0, AMBER), (6.0, RED))
"""How fast a budget is spent: once as fast as it may be, six times."""
NONE_IS_GOOD: tuple[Step, ...] = ((None, GREEN), (1.0, RED))
COVERED: tuple[Step, ...] = ((None, RED), (0.99, AMBER), (0.999, GREEN))


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One PromQL expression and how its series are called; `at_end`: its value at the end of the range only."""

    expression: str
    legend: str = ""
    at_end: bool = False
    buckets: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """How one column is shown; `to`: where a click on it leads, without the address of Grafana.

    states: whether its values are words of `dashboards.wording.Words.states`, with their colours.
    """

    unit: str | None = None
    decimals: int | None = None
    steps: tuple[Step, ...] = ()
    to: str | None = None
    hidden: bool = False
    dashed: bool = False
    states: bool = False
    width: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One picture: its key in the words, and what is asked of each data source; None where it has no answer.

    unit: Grafana's name of it; None for a count, in full where it is a number and short on an axis. codes: which state each number stands for, since a series has numbers only. columns: by label key, or by the prefix of a series' name. by_series: whether the query gives
    (time, series, value), so that the series' name alone is shown.
    """

    key: str
    kind: Kind
    width: int
    height: int
    clickhouse: str | None = None
    prometheus: tuple[Series, ...] = ()
    unit: str | None = None
    decimals: int | None = None
    least: float | None = None
    most: float | None = None
    steps: tuple[Step, ...] = PLAIN
    columns: Mapping[str, Column] = field(default_factory=dict)
    by_series: bool = False
    codes: Mapping[int, str] = field(default_factory=dict)
    stacked: bool = False
    bars: bool = False
    logarithmic: bool = False
    shows_limit: bool = False

    def shown_in(self, source: Source) -> bool:
        """Tell whether `source` can answer."""
        return self.clickhouse is not None if source == "clickhouse" else bool(self.prometheus)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Panels under one heading."""

    key: str
    panels: tuple[Panel, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """What a reader chooses; `everything` is what stands for all choices in a query, None where one has to be chosen."""

    name: str
    clickhouse: str | None = None
    prometheus: str | None = None
    everything: Mapping[Source, str] | None = None
    hidden: bool = False

    def query(self, source: Source) -> str | None:
        """Return what gives the choices."""
        return self.clickhouse if source == "clickhouse" else self.prometheus


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """Annotations: what is drawn into every picture over time."""

    key: str
    colour: str
    clickhouse: str | None = None
    prometheus: Series | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """One dashboard; `console` is the path of the console's page about the same."""

    key: str
    variables: tuple[Variable, ...]
    rows: tuple[Row, ...]
    marks: tuple[Marks, ...] = ()
    start: str = "now-7d"
    console: str = "/"

    def uid(self, source: Source) -> str:
        """Return the identity by which Grafana and links know it."""
        return f"fairclock-{self.key}" if source == "clickhouse" else f"fairclock-{self.key}-prometheus"
