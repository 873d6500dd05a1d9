"""Own how figures become the text that Prometheus scrapes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from prometheus_client.core import Metric

CONTENT_TYPE = CONTENT_TYPE_LATEST


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One series: its name without ``_total``, what it is about, and its value now."""

    name: str
    about: str
    value: float
    labels: Mapping[str, str] = field(default_factory=dict)
    kind: Literal["gauge", "counter"] = "gauge"


class _Figures(Collector):
    def __init__(self, figures: Iterable[Figure]) -> None:
        self._figures = figures

    def collect(self) -> Iterator[Metric]:
        families: dict[str, Metric] = {}
        for figure in self._figures:
            family = families.get(figure.name)
            if family is None:
                kind = CounterMetricFamily if figure.kind == "counter" else GaugeMetricFamily
                family = families[figure.name] = kind(figure.name, figure.about)
            suffix = "_total" if figure.kind == "counter" else ""
            family.add_sample(figure.name + suffix, dict(figure.labels), figure.value)
        yield from families.values()


def exposition(figures: Iterable[Figure]) -> bytes:
    """Return `figures`, and those of this process (memory, CPU, open files), as text."""
    registry = CollectorRegistry()
    registry.register(_Figures(list(figures)))
    ProcessCollector(registry=registry)
    return generate_latest(registry)
