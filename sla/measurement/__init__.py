"""Own how well requests are measured: the same probes by several sources, their differences, their clocks, what is missing."""

from sla.measurement.bounding import ClockBounds, clock_bounds
from sla.measurement.differing import Difference, differences
from sla.measurement.figures import Measurement, measured
from sla.measurement.missing import SourceCount, source_counts

__all__ = [
    "ClockBounds",
    "Difference",
    "Measurement",
    "SourceCount",
    "clock_bounds",
    "differences",
    "measured",
    "source_counts",
]
