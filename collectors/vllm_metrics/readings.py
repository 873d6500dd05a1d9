"""Own the reading: what one scrape says of one series, with the parts that the text scatters put together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collectors.vllm_metrics.exposition import Labels, Number

ValueKind = Literal["counter", "gauge", "info"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """What tells a series from all others of its target.

    name: of the vocabulary. engine, model: '' where the series is of none. labels: the others, ordered by name.
    """

    name: str
    engine: str = ""
    model: str = ""
    labels: Labels = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One value of one series.

    value: None where the exporter said NaN.
    since_us: since when a counter counts: since it was made, else since its process began; None where nothing tells.
    reported_us: when the exporter says it was measured; for ``lora_requests_info`` the time that is its value.
    samples: how many lines of the text it stands for.
    """

    series: Series
    kind: ValueKind
    value: Number | None
    since_us: int | None = None
    reported_us: int | None = None
    samples: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Histogram:
    """One histogram.

    edges: upper edges of the buckets, ascending; the last one is infinite where the exporter wrote it.
    counts: how many observations lie at or below each edge.
    total: the sum of all observations; None where it is absent or NaN. count: how many there are, likewise.
    """

    series: Series
    edges: tuple[float, ...]
    counts: tuple[int, ...]
    total: Number | None
    count: int | None
    since_us: int | None = None
    reported_us: int | None = None
    samples: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class BadSeries:
    """A series whose parts make no sense together: why, and what it is called."""

    name: str
    reason: str
    samples: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Readings:
    """What a scrape says, in the vocabulary.

    passed_over: lines under an older name beside the newer one, and states of LoRA adapters that came before the newest.
    unknown: series that nobody has heard of, among `values` and `histograms`; dropped: those beyond the cap.
    """

    values: tuple[Reading, ...]
    histograms: tuple[Histogram, ...]
    bad: tuple[BadSeries, ...]
    passed_over: int
    unknown: int
    dropped: int
