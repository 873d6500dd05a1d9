"""Own what is read of vLLM's configuration and scheduler, from any version that has plugins."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any

EngineState = tuple[int | None, int | None, float | None, int]
"""Requests running and waiting, the share of the KV cache in use, and vLLM's sleep level (0: awake)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineSettings:
    """What does not change while an engine runs; None where this vLLM does not say.

    gpus: that one rank of the engine takes: tensor x pipeline (x prefill-context) parallel size; 0 on a CPU.
    """

    model: str = ""
    device: str = ""
    gpus: int | None = None
    tensor_parallel: int | None = None
    pipeline_parallel: int | None = None
    data_parallel: int | None = None
    max_num_seqs: int | None = None
    max_num_batched_tokens: int | None = None
    max_model_len: int | None = None
    kv_cache_blocks: int | None = None
    kv_cache_block_tokens: int | None = None
    kv_cache_tokens: int | None = None
    vllm_version: str = ""
    frontends: int = 1


def engine_settings(config: Any, *, vllm_version: str = "") -> EngineSettings:
    """Read a VllmConfig; raises nothing for what it lacks."""
    tensor, pipeline = (
        _count(config, f"parallel_config.{name}_parallel_size") for name in ("tensor", "pipeline")
    )
    contexts = _count(config, "parallel_config.prefill_context_parallel_size") or 1
    workers = None if tensor is None or pipeline is None else tensor * pipeline * contexts
    device = str(_get(config, "device_config.device_type") or "")
    blocks = _count(config, "cache_config.num_gpu_blocks")
    block_tokens = _count(config, "cache_config.block_size")
    tokens = _count(config, "cache_config.kv_cache_size_tokens")
    if tokens is None and blocks is not None and block_tokens is not None:
        tokens = blocks * block_tokens
    return EngineSettings(
        model=_model(config),
        device=device,
        gpus=0 if device == "cpu" else workers,
        tensor_parallel=tensor,
        pipeline_parallel=pipeline,
        data_parallel=_count(config, "parallel_config.data_parallel_size"),
        max_num_seqs=_count(config, "scheduler_config.max_num_seqs"),
        max_num_batched_tokens=_count(config, "scheduler_config.max_num_batched_tokens"),
        max_model_len=_count(config, "model_config.max_model_len"),
        kv_cache_blocks=blocks,
        kv_cache_block_tokens=block_tokens,
        kv_cache_tokens=tokens,
        vllm_version=vllm_version,
        frontends=_count(config, "parallel_config._api_process_count") or 1,
    )


def engine_state(stats: Any, *, sleep_level: int) -> EngineState:
    """Read a SchedulerStats; a request that waits for something else than capacity waits too."""
    waiting = getattr(stats, "num_waiting_reqs", None)
    if waiting is not None:
        waiting += getattr(stats, "num_skipped_waiting_reqs", 0)
    return (
        getattr(stats, "num_running_reqs", None),
        waiting,
        getattr(stats, "kv_cache_usage", None),
        sleep_level,
    )


def _get(config: Any, path: str) -> Any:
    return reduce(lambda held, name: getattr(held, name, None), path.split("."), config)


def _count(config: Any, path: str) -> int | None:
    value = _get(config, path)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _model(config: Any) -> str:
    served = _get(config, "model_config.served_model_name") or _get(config, "model_config.model") or ""
    if isinstance(served, list | tuple):
        served = served[0] if served else ""
    return str(served)
