"""Own the values that are published: a figure is one series, with its name, what it is about, and what it is now."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

Kind = Literal["gauge", "counter", "histogram"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One series: its name without ``_total``, what it is about, and its value now."""

    name: str
    about: str
    value: float
    labels: Mapping[str, str] = field(default_factory=dict)
    kind: Literal["gauge", "counter"] = "gauge"


@dataclass(frozen=True, slots=True, kw_only=True)
class Exemplar:
    """One observation of a histogram, and the trace in which it can be looked at; `at_seconds` since 1970."""

    trace_id: str
    value: float
    at_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class HistogramFigure:
    """One series of a histogram.

    edges: ascending and finite. counts: cumulative, one an edge, and that of all observations last. total: of what was
    observed.
    """

    name: str
    about: str
    labels: Mapping[str, str]
    edges: tuple[float, ...]
    counts: tuple[int, ...]
    total: float
    exemplar: Exemplar | None = None

    def __post_init__(self) -> None:
        """Refuse counts that are not the edges'."""
        if len(self.counts) != len(self.edges) + 1:
            raise ValueError(
                f"{len(self.edges)} edges have {len(self.edges) + 1} counts, not {len(self.counts)}"
            )

    @property
    def kind(self) -> Literal["histogram"]:
        """Return what it is."""
        return "histogram"
