"""Own what a scrape must not say: figures of one engine that cannot all be true.

Each rule holds for every version that has both sides, by what vLLM counts when. A source that breaks one is suspect,
and so is what rests on the families named. Rules compare whole numbers exactly.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from collectors.vllm_metrics.exposition import Number
    from collectors.vllm_metrics.readings import Histogram, Readings

_Problem: TypeAlias = "tuple[tuple[str, ...], str, Number]"
PREFIX = "vllm:"
_AT_THE_END = (
    "e2e_request_latency_seconds",
    "request_queue_time_seconds",
    "request_prefill_time_seconds",
    "request_decode_time_seconds",
    "request_inference_time_seconds",
    "request_prompt_tokens",
    "request_generation_tokens",
)
"""Histograms that are observed once for each sequence that ends, all together."""
_SUMS = (
    ("prompt_tokens_by_source", "prompt_tokens"),
    ("num_requests_waiting_by_reason", "num_requests_waiting"),
)
"""A family whose series add up to another one."""
_AT_MOST = (
    ("prefix_cache_hits", "prefix_cache_queries"),
    ("external_prefix_cache_hits", "external_prefix_cache_queries"),
    ("mm_cache_hits", "mm_cache_queries"),
    ("prompt_tokens_cached", "prompt_tokens"),
    ("spec_decode_num_accepted_tokens", "spec_decode_num_draft_tokens"),
)
"""A counter that cannot be ahead of another one."""
_RATIOS = ("kv_cache_usage_perc", "cpu_cache_usage_perc")
_TOKENS_OF_ENDED = (
    ("request_prompt_tokens", "prompt_tokens"),
    ("request_generation_tokens", "generation_tokens"),
)
"""A histogram of ended requests whose sum cannot be ahead of a counter of all requests."""
_OUTPUTS = frozenset(["stop", "length", "repetition"])
"""Reasons of ends before which there was a first token."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    """Why one engine's figures cannot all be true, the families that it is about, and how far they are apart."""

    engine: str
    model: str
    about: tuple[str, ...]
    reason: str
    apart: Number


@dataclass(slots=True)
class _Engine:
    """What one scrape says of one engine and model: sums over the other labels, and its histograms."""

    values: dict[str, Number | None]
    finished: dict[str, Number]
    histograms: dict[str, list[Histogram]]

    def value(self, name: str) -> Number | None:
        return self.values.get(name)

    def count(self, name: str) -> int | None:
        counts = [each.count for each in self.histograms.get(name, ())]
        known = [count for count in counts if count is not None]
        return sum(known) if known and len(known) == len(counts) else None

    def total(self, name: str) -> float | None:
        totals = [each.total for each in self.histograms.get(name, ())]
        known = [float(total) for total in totals if total is not None]
        return sum(known) if known and len(known) == len(totals) else None


def contradictions(readings: Readings) -> list[Contradiction]:
    """Return what a scrape contradicts itself in, engine by engine; what is unknown contradicts nothing."""
    found = []
    for (engine, model), known in sorted(_engines(readings).items()):
        for names, reason, apart in _problems(known):
            about = tuple(PREFIX + name for name in names)
            found.append(Contradiction(engine=engine, model=model, about=about, reason=reason, apart=apart))
    return found


def _engines(readings: Readings) -> Mapping[tuple[str, str], _Engine]:
    engines: dict[tuple[str, str], _Engine] = defaultdict(lambda: _Engine({}, {}, defaultdict(list)))
    for reading in readings.values:
        series = reading.series
        if not series.name.startswith(PREFIX) or any(name in {"pid", "unit"} for name, _ in series.labels):
            continue  # gauges of several processes of one engine do not add up
        known, name = engines[series.engine, series.model], series.name.removeprefix(PREFIX)
        before = known.values.get(name, 0)
        known.values[name] = None if before is None or reading.value is None else before + reading.value
        if name == "request_success" and reading.value is not None:
            reason = dict(series.labels).get("finished_reason", "")
            known.finished[reason] = known.finished.get(reason, 0) + reading.value
    for histogram in readings.histograms:
        series = histogram.series
        if series.name.startswith(PREFIX):
            name = series.name.removeprefix(PREFIX)
            engines[series.engine, series.model].histograms[name].append(histogram)
    return engines


def _problems(engine: _Engine) -> Iterator[_Problem]:
    for name, histograms in engine.histograms.items():
        problems = {reason: apart for each in histograms for reason, apart in _histogram_problems(each)}
        for reason, apart in sorted(problems.items()):
            yield (name,), reason, apart
    yield from _ends(engine)
    yield from _first_tokens(engine)
    for parts, whole in _SUMS:
        yield from _unequal(engine, parts, whole)
    for less, more in _AT_MOST:
        yield from _exceeding(
            (less, more), engine.value(less), engine.value(more), "a part is larger than the whole"
        )
    for name in _RATIOS:
        ratio = engine.value(name)
        if ratio is not None and not 0 <= ratio <= 1:
            yield (name,), "a ratio outside 0 to 1", ratio
    for ended, every in _TOKENS_OF_ENDED:
        reason = "requests that ended have more tokens than all requests"
        yield from _exceeding((ended, every), engine.total(ended), engine.value(every), reason)


def _unequal(engine: _Engine, parts: str, whole: str) -> Iterator[_Problem]:
    one, other = engine.value(parts), engine.value(whole)
    if one is not None and other is not None and one != other:
        yield (parts, whole), "the parts do not add up to the whole", abs(one - other)


def _exceeding(
    names: tuple[str, ...], less: Number | None, more: Number | None, reason: str
) -> Iterator[_Problem]:
    if less is not None and more is not None and less > more:
        yield names, reason, less - more


def _ends(engine: _Engine) -> Iterator[_Problem]:
    counts = {name: count for name in _AT_THE_END if (count := engine.count(name)) is not None}
    if len(set(counts.values())) > 1:
        apart = max(counts.values()) - min(counts.values())
        yield tuple(counts), "histograms that are observed together have different counts", apart
    latency, finished = _AT_THE_END[0], engine.value("request_success")
    if latency in counts and finished is not None and counts[latency] != finished:
        missing = abs(counts[latency] - finished)
        yield (latency, "request_success"), "the latency of some ends is missing, or there twice", missing


def _first_tokens(engine: _Engine) -> Iterator[_Problem]:
    """Hold first tokens against ends: who ended with an output had one, and who had one has ended or is under way."""
    names = ("time_to_first_token_seconds", "request_success")
    firsts, ended = engine.count(names[0]), engine.value(names[1])
    if firsts is None or ended is None:
        return
    with_output = sum(number for reason, number in engine.finished.items() if reason in _OUTPUTS)
    yield from _exceeding(
        names, with_output, firsts, "more requests ended with an output than had a first token"
    )
    running, waiting = engine.value("num_requests_running"), engine.value("num_requests_waiting")
    if running is not None and waiting is not None:
        reason = "first tokens without an end: requests whose clients left are counted nowhere else"
        yield from _exceeding(names, firsts, ended + running + waiting, reason)


def _histogram_problems(histogram: Histogram) -> Iterator[tuple[str, Number]]:
    counts, edges, total = histogram.counts, histogram.edges, histogram.total
    steps = [later - earlier for earlier, later in pairwise(counts)]
    if min(steps, default=0) < 0:
        yield "a bucket counts less than the one below it", -min(steps)
    if edges and histogram.count is not None:
        if edges[-1] == math.inf and counts[-1] != histogram.count:
            yield "the last bucket and the count differ", abs(counts[-1] - histogram.count)
        elif counts[-1] > histogram.count:
            yield "a bucket counts more than there are", counts[-1] - histogram.count
    if total is not None and not math.isfinite(total):
        yield "the sum is no number", 1
    elif total is not None and total < 0 and (not edges or edges[0] >= 0):
        yield "the sum is negative: an impossible duration is in it", -total
