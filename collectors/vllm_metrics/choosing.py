"""Own which readings of a scrape are kept: one a series, the newer name before the older, unknown ones to a limit."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from collectors.vllm_metrics.readings import Histogram, Reading

if TYPE_CHECKING:
    from collectors.vllm_metrics.readings import Series
    from collectors.vllm_metrics.vocabulary import Naming

MOST_UNKNOWN = 5_000
"""How many series of one target that nobody has heard of are kept; an exporter can make any number of them."""


class Chosen:
    """The readings that are kept, and how many lines the others stood for."""

    def __init__(self) -> None:
        self._kept: dict[Series, Reading | Histogram] = {}
        self._older: list[tuple[Reading | Histogram, Naming]] = []
        self.passed_over = 0
        self.unknown = 0
        self.dropped = 0

    def add(self, reading: Reading | Histogram, naming: Naming) -> None:
        """Take a reading, unless there is one of its series, or too many that are unknown."""
        if naming.alias is not None:
            self._older.append((reading, naming))
        elif reading.series in self._kept:
            self.passed_over += reading.samples
        elif naming.is_expected:
            self._kept[reading.series] = reading
        elif self.unknown >= MOST_UNKNOWN:
            self.dropped += reading.samples
        else:
            self.unknown += 1
            self._kept[reading.series] = reading

    def kept(self) -> tuple[list[Reading], list[Histogram]]:
        """Return what is kept; call it once."""
        for reading, naming in self._older:
            series = reading.series
            label = naming.alias.label if naming.alias is not None else None
            labelled = (
                series if label is None else replace(series, labels=tuple(sorted([*series.labels, label])))
            )
            if series in self._kept or labelled in self._kept:
                self.passed_over += reading.samples
            else:
                self._kept[labelled] = replace(reading, series=labelled)
        every = self._kept.values()
        return [each for each in every if isinstance(each, Reading)], [
            each for each in every if isinstance(each, Histogram)
        ]
