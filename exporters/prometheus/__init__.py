"""Own what Prometheus is told."""

from exporters.prometheus.exposition import CONTENT_TYPE, Figure, exposition

__all__ = ["CONTENT_TYPE", "Figure", "exposition"]
