"""Own figures as a collector of prometheus_client: for its registries, and to hold the rendering against."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
)
from prometheus_client.core import (
    Exemplar as LibraryExemplar,
)
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString

from exporters.prometheus.figures import Figure, HistogramFigure
from exporters.prometheus.rendering import place_of_exemplar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from prometheus_client.core import Metric

_FAMILIES = {
    "counter": CounterMetricFamily,
    "gauge": GaugeMetricFamily,
    "histogram": HistogramMetricFamily,
}


class FigureCollector(Collector):
    """Collects `figures`; those of one name are one family."""

    def __init__(self, figures: Iterable[Figure | HistogramFigure]) -> None:
        self._figures = figures

    def collect(self) -> Iterator[Metric]:
        """Yield a family for each name, in the order in which they come."""
        families: dict[str, Metric] = {}
        for figure in self._figures:
            family = families.get(figure.name)
            if family is None:
                family = families[figure.name] = _FAMILIES[figure.kind](figure.name, figure.about)
            if isinstance(figure, Figure):
                suffix = "_total" if figure.kind == "counter" else ""
                family.add_sample(figure.name + suffix, dict(figure.labels), figure.value)
            else:
                _add(family, figure)
        yield from families.values()


def _add(family: Metric, figure: HistogramFigure) -> None:
    labels = dict(figure.labels)
    exemplar_at = place_of_exemplar(figure)
    edges = [*map(floatToGoString, figure.edges), "+Inf"]
    for place, (edge, count) in enumerate(zip(edges, figure.counts, strict=True)):
        exemplar = None
        if place == exemplar_at and figure.exemplar is not None:
            found = figure.exemplar
            exemplar = LibraryExemplar({"trace_id": found.trace_id}, found.value, found.at_seconds)
        family.add_sample(figure.name + "_bucket", {**labels, "le": edge}, count, None, exemplar)
    family.add_sample(figure.name + "_count", labels, figure.counts[-1])
    family.add_sample(figure.name + "_sum", labels, figure.total)
