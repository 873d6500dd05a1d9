"""Own the sample: one value of one series, as an exporter wrote it."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

Labels: TypeAlias = tuple[tuple[str, str], ...]
"""Names and values, ordered by name."""
Number: TypeAlias = "int | float"
"""A whole number that is known exactly is an int, whatever its size; anything else is a float, perhaps infinite."""
MetricType: TypeAlias = Literal[
    "counter", "gauge", "histogram", "gaugehistogram", "summary", "info", "stateset", "unknown"
]

TYPES: dict[str, MetricType] = {
    "counter": "counter",
    "gauge": "gauge",
    "histogram": "histogram",
    "gaugehistogram": "gaugehistogram",
    "summary": "summary",
    "info": "info",
    "stateset": "stateset",
    "unknown": "unknown",
    "untyped": "unknown",
}
"""What ``# TYPE`` may say, in either format."""


class Sample(NamedTuple):
    """One value of one series.

    value: None where the exporter says NaN: stale or unknown, and no number.
    timestamp_us: when the exporter says it was measured, µs since 1970; None where it says nothing, which means now.

    A tuple and not a dataclass, since one scrape makes thousands of them.
    """

    name: str
    labels: Labels
    value: Number | None
    timestamp_us: int | None = None
