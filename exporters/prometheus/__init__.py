"""Own what Prometheus is told."""

from exporters.prometheus.exposition import exposition
from exporters.prometheus.figures import Exemplar, Figure, HistogramFigure
from exporters.prometheus.formats import Format, chosen, takes_gzip
from exporters.prometheus.rendering import Published, Renderer

__all__ = [
    "Exemplar",
    "Figure",
    "Format",
    "HistogramFigure",
    "Published",
    "Renderer",
    "chosen",
    "exposition",
    "takes_gzip",
]
