"""Own how the lines of one histogram are put together, and what makes one unreadable."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from collectors.vllm_metrics.exposition.numbers import read_number
from collectors.vllm_metrics.readings import Histogram

if TYPE_CHECKING:
    from collectors.vllm_metrics.exposition import Number, Sample
    from collectors.vllm_metrics.readings import Series

_EDGE = "le"
_LARGEST_COUNT = 2**63 - 1
_KEPT_EDGES = 1_000


@dataclass(slots=True)
class HistogramParts:
    """The lines of one histogram, as they come."""

    buckets: dict[float, Number | None] = field(default_factory=dict)
    total: Number | None = None
    count: Number | None = None
    has_count: bool = False
    reported_us: int | None = None
    samples: int = 0
    problem: str = ""

    def add_bucket(self, sample: Sample) -> None:
        """Take a line of a bucket."""
        self.samples += 1
        edge = _edge(next((value for label, value in sample.labels if label == _EDGE), ""))
        if edge is None:
            self.problem = self.problem or "le: absent or not a number"
        elif edge in self.buckets:
            self.problem = self.problem or "le: the same edge twice"
        else:
            self.buckets[edge] = sample.value
            self.reported_us = sample.timestamp_us

    def add_total(self, sample: Sample) -> None:
        """Take the line of the sum."""
        self.samples += 1
        self.total = sample.value

    def add_count(self, sample: Sample) -> None:
        """Take the line of the count."""
        self.samples += 1
        self.count, self.has_count = sample.value, True
        self.reported_us = sample.timestamp_us

    def histogram(self, series: Series, *, since_us: int | None) -> Histogram:
        """Return the histogram. Raises `ValueError` where a count is none, or an edge is not readable."""
        if self.problem:
            raise ValueError(self.problem)
        edges = tuple(sorted(self.buckets))
        counts = tuple(_count(self.buckets[edge]) for edge in edges)
        count = None
        if self.has_count:
            count = _count(self.count)
        elif edges and edges[-1] == math.inf:
            count = counts[-1]
        return Histogram(
            series=series, edges=edges, counts=counts, total=self.total, count=count, since_us=since_us,
            reported_us=self.reported_us, samples=self.samples,
        )  # fmt: skip


@lru_cache(maxsize=_KEPT_EDGES)
def _edge(text: str) -> float | None:
    """Return the edge that a label tells; None where it is no number, or one too large."""
    try:
        edge = read_number(text)
        return None if edge is None else float(edge)
    except (ValueError, OverflowError):
        return None


def _count(value: Number | None) -> int:
    if value is None or not math.isfinite(value) or value != int(value):
        raise ValueError("bucket: not a whole number")
    if not 0 <= value <= _LARGEST_COUNT:
        raise ValueError("bucket: not a possible count")
    return int(value)
