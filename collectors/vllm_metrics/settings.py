"""Own the settings that vLLM reports as labels: the size of its KV cache becomes numbers of its own."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from collectors.vllm_metrics.readings import Reading

if TYPE_CHECKING:
    from collections.abc import Iterable

_INFO = "vllm:cache_config_info"
_BLOCKS, _BLOCK_SIZE, _TOKENS = "num_gpu_blocks", "block_size", "kv_cache_size_tokens"
_LONGEST_DIGITS = 18

SETTINGS = {
    _BLOCKS: "vllm:cache_config_num_gpu_blocks",
    _BLOCK_SIZE: "vllm:cache_config_block_size_tokens",
    _TOKENS: "vllm:cache_config_kv_cache_size_tokens",
}
"""The label of each setting, and the gauge that it becomes."""


def settings_of(values: Iterable[Reading]) -> list[Reading]:
    """Return a gauge for each setting that the labels of ``cache_config_info`` tell; they stand for no line."""
    found = []
    for reading in values:
        if reading.series.name != _INFO:
            continue
        known = {name: number for name, text in reading.series.labels if (number := _whole(text)) is not None}
        if _TOKENS not in known and _BLOCKS in known and _BLOCK_SIZE in known:
            known[_TOKENS] = known[_BLOCKS] * known[_BLOCK_SIZE]
        others = tuple(pair for pair in reading.series.labels if pair[0] == "pid")
        for label, name in SETTINGS.items():
            if label in known:
                series = replace(reading.series, name=name, labels=others)
                gauge = Reading(series=series, kind="gauge", value=known[label], samples=0)
                found.append(gauge)
    return found


def _whole(text: str) -> int | None:
    is_number = text.isascii() and text.isdigit() and len(text) <= _LONGEST_DIGITS
    return int(text) if is_number else None
