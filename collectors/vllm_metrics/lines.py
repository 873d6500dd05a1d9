"""Own the canonical lines of a scrape: what of it enters the store, and nothing else.

Numbers are written with all their digits. What the scrape itself was like is told by series of its own, whose names
begin with ``fairclock:``, so that an answer that was no use leaves a trace.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from json.encoder import encode_basestring as quoted
from typing import TYPE_CHECKING

from collectors.vllm_metrics.assembling import assemble
from collectors.vllm_metrics.consistency import contradictions
from collectors.vllm_metrics.exposition import parse
from collectors.vllm_metrics.readings import Reading, Series

if TYPE_CHECKING:
    from collections.abc import Iterator

    from collectors.vllm_metrics.exposition import Exposition, Labels, Number
    from collectors.vllm_metrics.frames import Scrape
    from collectors.vllm_metrics.readings import Histogram, Readings

OWN = "fairclock:"
"""What the names of series about the scrape itself begin with."""
MOST_BAD = 1_000
"""How many bad lines of one scrape are kept; an answer that is no exposition at all may have any number."""
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})
_LARGEST_WHOLE = 2**63 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A canonical line, and how many lines of the exposition it stands for."""

    text: bytes
    samples: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ScrapeLines:
    """What one scrape becomes.

    samples: lines of the kind "sample"; bad: those of them that are dead letters; histograms: of that kind.
    ignored: lines of the exposition that say nothing new, or were one series too many.
    """

    samples: tuple[Line, ...]
    bad: tuple[Line, ...]
    histograms: tuple[Line, ...]
    ignored: int


def lines_of(scrape: Scrape) -> ScrapeLines:
    """Return the lines of a scrape; one that failed says so and nothing else."""
    head = f'{{"at":"{scrape.at_us}","target":{quoted(clean(scrape.target))}'
    if scrape.failure:
        reading = _own("scrape_up", 0, (("reason", clean(scrape.failure)),))
        return ScrapeLines(samples=(_sample(head, reading),), bad=(), histograms=(), ignored=0)
    exposition = parse(scrape.content, content_type=scrape.content_type)
    labels = {clean(name): clean(value) for name, value in scrape.labels.items()}
    readings = assemble(exposition, target_labels=labels)
    values = (*readings.values, *_about(scrape, exposition, readings))
    bad = list(_bad(head, exposition, readings))
    too_many = sum(each.samples for each in bad[MOST_BAD:])
    return ScrapeLines(
        samples=tuple(_sample(head, reading) for reading in values),
        bad=tuple(bad[:MOST_BAD]),
        histograms=tuple(_histogram(head, each) for each in readings.histograms),
        ignored=readings.passed_over + readings.dropped + exposition.duplicates + too_many,
    )


def label_text(labels: Labels) -> str:
    """Return labels as an exposition writes them, without the braces: ``a="b",c="d"``; odd names are in quotes too."""
    return ",".join(f'{_label_name(name)}="{value.translate(_ESCAPES)}"' for name, value in labels)


def _label_name(name: str) -> str:
    return name if name.isascii() and name.isidentifier() else f'"{name.translate(_ESCAPES)}"'


def clean(text: str) -> str:
    """Return `text` as UTF-8 can hold it."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _own(name: str, value: Number, labels: Labels = (), *, engine: str = "", model: str = "") -> Reading:
    series = Series(name=OWN + name, engine=engine, model=model, labels=labels)
    return Reading(series=series, kind="gauge", value=value, samples=0)


def _about(scrape: Scrape, exposition: Exposition, readings: Readings) -> Iterator[Reading]:
    """Say what the scrape was like."""
    if exposition.samples:
        yield _own("scrape_up", 1)
    else:
        yield _own("scrape_up", 0, (("reason", "no sample in the answer"),))
    yield _own("scrape_is_complete", int(exposition.is_complete))
    yield _own("scrape_samples", len(exposition.samples))
    yield _own("scrape_bad_lines", len(exposition.bad_lines) + sum(each.samples for each in readings.bad))
    yield _own("scrape_duplicate_samples", exposition.duplicates)
    yield _own("scrape_unknown_series", readings.unknown)
    yield _own("scrape_dropped_samples", readings.dropped)
    if scrape.took_us is not None:
        yield _own("scrape_took_us", scrape.took_us)
    if exposition.duplicates:
        reason = "a series comes twice in one scrape"
        yield _own("scrape_suspect", exposition.duplicates, (("about", "scrape"), ("reason", reason)))
    for each in contradictions(readings):
        labels = (("about", " ".join(each.about)), ("reason", each.reason))
        yield _own("scrape_suspect", each.apart, labels, engine=each.engine, model=each.model)


def _bad(head: str, exposition: Exposition, readings: Readings) -> Iterator[Line]:
    for line in exposition.bad_lines:
        text = f'{head},"bad":{quoted(line.reason)},"number":"{line.number}","line":{quoted(line.text)}}}'
        yield Line(text=text.encode(), samples=1)
    for series in readings.bad:
        text = f'{head},"bad":{quoted(series.reason)},"line":{quoted(series.name)}}}'
        yield Line(text=text.encode(), samples=series.samples)


def _series(series: Series) -> str:
    parts = [f',"name":{quoted(series.name)}']
    if series.engine:
        parts.append(f',"engine":{quoted(series.engine)}')
    if series.model:
        parts.append(f',"model":{quoted(series.model)}')
    if series.labels:
        parts.append(f',"labels":{quoted(label_text(series.labels))}')
    return "".join(parts)


def _times(since_us: int | None, reported_us: int | None) -> str:
    since = "" if since_us is None else f',"since":"{since_us}"'
    return since if reported_us is None else f'{since},"reported":"{reported_us}"'


def _sample(head: str, reading: Reading) -> Line:
    value = reading.value
    told = "" if value is None else f',"{_column(value)}":"{value!r}"'
    times = _times(reading.since_us, reading.reported_us)
    text = f'{head},"kind":"{reading.kind}"{_series(reading.series)}{told}{times}}}'
    return Line(text=text.encode(), samples=reading.samples)


def _histogram(head: str, histogram: Histogram) -> Line:
    edges = json.dumps([repr(edge) for edge in histogram.edges], separators=(",", ":"))
    counts = json.dumps([str(count) for count in histogram.counts], separators=(",", ":"))
    total = "" if histogram.total is None else f',"sum":"{float(histogram.total)!r}"'
    count = "" if histogram.count is None else f',"count":"{histogram.count}"'
    times = _times(histogram.since_us, histogram.reported_us)
    text = f'{head}{_series(histogram.series)},"edges":{edges},"counts":{counts}{total}{count}{times}}}'
    return Line(text=text.encode(), samples=histogram.samples)


def _column(value: Number) -> str:
    """Return which column holds `value`: `whole` for a whole number that fits 64 bits, else `fraction`."""
    return "whole" if isinstance(value, int) and abs(value) <= _LARGEST_WHOLE else "fraction"
