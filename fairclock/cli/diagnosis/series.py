"""Own the checks of what engines say of themselves: names that nobody has heard of, what was dropped, what is suspect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from collectors.file_reading import number_of
from collectors.vllm_metrics.choosing import MOST_UNKNOWN
from collectors.vllm_metrics.vocabulary import naming_of
from fairclock.cli.diagnosis.finding import ok, warning

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairclock.cli.diagnosis.finding import Finding
    from fairclock.store.engine_inspection import EngineFigures

_CHECK = "engines' series"


def series_findings(found: EngineFigures) -> Iterator[Finding]:
    """Look at the series of the last hour in which anything was scraped."""
    if not found.names:
        return
    unknown = [(name, targets) for name, targets in found.names if not naming_of(name).is_expected]
    if unknown:
        listed = ", ".join(f"{name} (of {targets})" for name, targets in unknown)
        yield ok(
            _CHECK,
            f"{number_of(len(found.names), 'name')}, {len(unknown)} not in the vocabulary, kept as they are: {listed}",
        )
    else:
        yield ok(_CHECK, f"{number_of(len(found.names), 'name')}, all of the vocabulary")
    for target, count in found.dropped:
        yield warning(
            _CHECK,
            f"{target} has more than {MOST_UNKNOWN:,} series that nobody has heard of; {count:,} samples a scrape are dropped",
            "scrape vLLM's own port, or let the exporter there answer with fewer series",
        )
    for target, engine, reason, scrapes in found.suspect:
        about = f"{target}, engine {engine}" if engine else target
        yield warning(
            _CHECK,
            f"{about}: {reason} ({number_of(scrapes, 'scrape')} of the hour before the newest)",
            "take counts of this engine for what they are: docs/vllm-metrics.md, Contradictions",
        )
