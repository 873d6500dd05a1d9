"""Own the text that exporters answer with: Prometheus text 0.0.4 and OpenMetrics 1.0, bytes in, samples out."""

from collectors.vllm_metrics.exposition.parsing import BadLine, Exposition, parse
from collectors.vllm_metrics.exposition.samples import Labels, MetricType, Number, Sample

__all__ = ["BadLine", "Exposition", "Labels", "MetricType", "Number", "Sample", "parse"]
