"""Own how the samples of a scrape become readings: ``_total``, ``_created``, ``_bucket`` and their like put together.

Nothing is lost on the way: every sample is part of a reading, bad, passed over or dropped, and counted as that.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from collectors.vllm_metrics.choosing import Chosen
from collectors.vllm_metrics.histograms import HistogramParts
from collectors.vllm_metrics.readings import BadSeries, Reading, Readings
from collectors.vllm_metrics.roles import Part, Roles
from collectors.vllm_metrics.series import instant_us_of, series_of
from collectors.vllm_metrics.settings import settings_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from collectors.vllm_metrics.exposition import Exposition, Labels, Sample
    from collectors.vllm_metrics.roles import Role

_LORA = "vllm:lora_requests_info"


def assemble(exposition: Exposition, *, target_labels: Mapping[str, str] | None = None) -> Readings:
    """Put the samples together, series by series, under the names of the vocabulary.

    `target_labels` go to every series that does not have a label of that name.
    """
    assembly = _Assembly(exposition, target_labels or {})
    assembly.sort()
    return assembly.readings()


class _Assembly:
    def __init__(self, exposition: Exposition, target_labels: Mapping[str, str]) -> None:
        self._samples = exposition.samples
        self._roles = Roles(exposition)
        self._target_labels = target_labels
        self._values: list[tuple[Sample, Role]] = []
        self._histograms: dict[tuple[str, Labels], tuple[Role, HistogramParts]] = {}
        self._created: dict[tuple[str, Labels], Sample] = {}
        self._used_created: set[tuple[str, Labels]] = set()
        self._process_began_us = _process_began_us(exposition)

    def sort(self) -> None:
        """Sort the samples by what they are part of."""
        for sample in self._samples:
            role = self._roles.of(sample.name)
            if role.part is Part.VALUE:
                self._values.append((sample, role))
            elif role.part is Part.CREATED:
                self._created[role.base, sample.labels] = sample
            elif role.part is Part.BUCKET:
                labels = tuple(pair for pair in sample.labels if pair[0] != "le")
                self._parts(role, labels).add_bucket(sample)
            elif role.part is Part.SUM:
                self._parts(role, sample.labels).add_total(sample)
            else:
                self._parts(role, sample.labels).add_count(sample)

    def _parts(self, role: Role, labels: Labels) -> HistogramParts:
        found = self._histograms.get((role.base, labels))
        if found is None:
            found = self._histograms[role.base, labels] = (role, HistogramParts())
        return found[1]

    def readings(self) -> Readings:
        """Return what was put together, under the names of the vocabulary."""
        chosen, bad = Chosen(), []
        for sample, role in self._values:
            chosen.add(self._reading(sample, role), role.naming)
        for (base, labels), (role, parts) in self._histograms.items():
            since_us, more = self._since_us(base, labels)
            parts.samples += more
            series = series_of(role.name, role.naming, labels, self._target_labels)
            try:
                chosen.add(parts.histogram(series, since_us=since_us), role.naming)
            except ValueError as problem:
                bad.append(BadSeries(name=role.name, reason=str(problem), samples=parts.samples))
        values, histograms = chosen.kept()
        values, earlier = _newest_lora(values)
        orphans = len(
            self._created.keys() - self._used_created
        )  # they say nothing of any series that is there
        return Readings(
            values=(*values, *settings_of(values)),
            histograms=tuple(histograms),
            bad=tuple(bad),
            passed_over=chosen.passed_over + earlier + orphans,
            unknown=chosen.unknown,
            dropped=chosen.dropped,
        )

    def _reading(self, sample: Sample, role: Role) -> Reading:
        since_us, more = (None, 0)
        if role.kind == "counter":
            since_us, more = self._since_us(role.base, sample.labels)
        reading = Reading(
            series=series_of(role.name, role.naming, sample.labels, self._target_labels),
            kind=role.kind,
            value=sample.value,
            since_us=since_us,
            reported_us=sample.timestamp_us,
            samples=1 + more,
        )
        if role.name == _LORA:
            return replace(reading, value=1, reported_us=instant_us_of(sample.value))
        return reading

    def _since_us(self, base: str, labels: Labels) -> tuple[int | None, int]:
        """Return since when a series counts, and how many lines that took which nobody counted yet."""
        key = (base, labels)
        sample = self._created.get(key)
        if sample is None:
            return self._process_began_us, 0
        more = 0 if key in self._used_created else 1
        self._used_created.add(key)
        return instant_us_of(sample.value), more


def _process_began_us(exposition: Exposition) -> int | None:
    """Return when the one process began that answers; Ray answers for others, and federation puts labels on each."""
    found = [sample for sample in exposition.samples if sample.name == "process_start_time_seconds"]
    if (
        len(found) != 1
        or found[0].labels
        or any(sample.name.startswith("ray_") for sample in exposition.samples)
    ):
        return None
    return instant_us_of(found[0].value)


def _newest_lora(values: list[Reading]) -> tuple[list[Reading], int]:
    """Keep the newest state of the LoRA adapters of each target; a series of each earlier one is there for ever."""
    states = [each for each in values if each.series.name == _LORA]
    if len(states) < 2:  # noqa: PLR2004 - one is the newest
        return values, 0
    newest = max(states, key=lambda each: each.reported_us or 0)
    kept = [each for each in values if each.series.name != _LORA or each is newest]
    return kept, sum(each.samples for each in states) - newest.samples
