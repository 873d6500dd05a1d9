"""Own the names by which others know two of the series."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from exporters.prometheus.rendering import Published

ALIAS_OF = {
    "deepseek_inference_queue_duration_seconds": "fairclock_queue_duration_seconds",
    "vllm_kv_cache_utilization_ratio": "fairclock_kv_cache_utilization_ratio",
}
"""What each alias is another name of."""


def with_aliases(figures: Iterable[Published], aliases: Iterable[str]) -> Iterator[Published]:
    """Yield `figures`, and those that an alias names once more under it."""
    names: dict[str, list[str]] = {}
    for alias in aliases:
        names.setdefault(ALIAS_OF[alias], []).append(alias)
    again: list[Published] = []
    for figure in figures:
        yield figure
        again += [replace(figure, name=alias) for alias in names.get(figure.name, ())]
    yield from again
