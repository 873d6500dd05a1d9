"""Own what kinds of rows are ingested: the table of each, its columns, and the SQL that makes them of lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["gateway", "engine", "engine_state", "gpu", "gpu_event", "sample", "histogram"]

_COMPUTED = {
    "k": "{k:UInt16}",
    "source": "{source:String}",
    "first_wins": "{first_wins:UInt64}",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RowKind:
    """One kind of rows.

    normalisation: the name of the file in ``fairclock/store/sql`` that makes rows of lines. It selects
        `line`, `reason` ('' for a good row, 'blank' for nothing), `event_us`, `time_us`, `content_hash` and every
        column of the table that is not computed here.
    time_column: the column by which the table is partitioned and rows are looked up; it is `time_us` in the normalisation, in µs.
    columns: of the table, in order, `time_column`, `content_hash` and `k` first, `source` and `first_wins` last.
    derived: columns that the normalisation selects and the table computes for itself, where `content_hash` is not kept.
    """

    name: Kind
    table: str
    normalisation: str
    time_column: str
    time_us: str
    columns: tuple[str, ...]
    derived: tuple[str, ...] = ()

    @property
    def staged_columns(self) -> tuple[str, ...]:
        """Return the columns that the normalisation selects."""
        kept = (name for name in self.columns if name not in _COMPUTED and name != self.time_column)
        return (*kept, *self.derived)

    @property
    def values(self) -> tuple[str, ...]:
        """Return an expression over the staged rows for each of `columns`."""
        computed = {**_COMPUTED, self.time_column: f"fromUnixTimestamp64Micro({self.time_us}, 'UTC')"}
        return tuple(computed.get(name, name) for name in self.columns)


_GATEWAY = RowKind(
    name="gateway",
    table="gateway_requests",
    normalisation="normalise_gateway",
    time_column="received_at",
    time_us="received_us",
    columns=(
        "received_at", "content_hash", "k", "trace_id", "request_id", "tenant", "method", "route", "model", "region",
        "server", "upstream", "status", "outcome", "error_code", "stream", "inference_mode", "model_version", "priority",
        "finish_reason", "attempts", "responded_us", "connected_us", "forwarded_us", "gateway_queue_us", "gateway_first_token_us",
        "request_started_at", "request_bytes", "bytes_sent",
        "prompt_tokens", "cached_tokens", "completion_tokens", "simulated", "source", "first_wins",
    ),
)  # fmt: skip
_ENGINE = RowKind(
    name="engine",
    table="engine_requests",
    normalisation="normalise_engine",
    time_column="arrived_at",
    time_us="arrived_us",
    columns=(
        "arrived_at", "content_hash", "k", "trace_id", "span_id", "request_id", "join_id", "sequence", "instance", "model",
        "end_to_end_us", "queue_us", "prefill_us", "decode_us", "time_to_first_token_us", "prompt_tokens", "cached_tokens",
        "completion_tokens", "finish_reason", "reporter", "engine_rank", "preemptions", "simulated", "source", "first_wins",
    ),
)  # fmt: skip
_ENGINE_STATE = RowKind(
    name="engine_state",
    table="engine_states",
    normalisation="normalise_engine_state",
    time_column="at",
    time_us="at_us",
    columns=(
        "at", "content_hash", "k", "event", "instance", "engine_rank", "model", "running", "waiting", "kv_cache_usage_ratio",
        "sleep_level", "device", "gpus", "tensor_parallel", "pipeline_parallel", "data_parallel", "max_num_seqs",
        "max_num_batched_tokens", "max_model_len", "kv_cache_blocks", "kv_cache_block_tokens", "kv_cache_tokens",
        "vllm_version", "lost_records", "lost_reason", "lost_from", "lost_to", "source", "first_wins",
    ),
)  # fmt: skip
_GPU = RowKind(
    name="gpu",
    table="gpu_samples",
    normalisation="normalise_gpu",
    time_column="sampled_at",
    time_us="sampled_us",
    columns=(
        "sampled_at", "k", "gpu", "parent", "host", "collector", "gpu_index", "gpu_instance",
        "compute_instance", "name", "bus", "driver", "profile", "state", "samples", "utilization_ratio_mean",
        "utilization_ratio_min", "utilization_ratio_max", "memory_utilization_ratio_mean",
        "memory_utilization_ratio_min", "memory_utilization_ratio_max", "engine_active_ratio_mean",
        "engine_active_ratio_min", "engine_active_ratio_max", "memory_used_bytes_mean", "memory_used_bytes_min",
        "memory_used_bytes_max", "power_milliwatts_mean", "power_milliwatts_min", "power_milliwatts_max",
        "temperature_celsius_mean", "temperature_celsius_min", "temperature_celsius_max",
        "memory_temperature_celsius_mean", "memory_temperature_celsius_min", "memory_temperature_celsius_max",
        "sm_clock_mhz_mean", "sm_clock_mhz_min", "sm_clock_mhz_max", "memory_clock_mhz_mean", "memory_clock_mhz_min",
        "memory_clock_mhz_max", "memory_total_bytes", "memory_reserved_bytes", "memory_free_bytes",
        "power_limit_milliwatts", "energy_total_millijoules", "throttle_reasons", "performance_state",
        "pcie_generation", "pcie_width", "pcie_sent_bytes_per_second", "pcie_received_bytes_per_second",
        "pcie_replays", "nvlinks_active", "nvlinks_inactive", "nvlink_crc_errors", "nvlink_replay_errors",
        "nvlink_recovery_errors", "ecc_corrected_volatile", "ecc_uncorrected_volatile", "ecc_corrected_aggregate",
        "ecc_uncorrected_aggregate", "retired_pages_corrected", "retired_pages_uncorrected", "retired_pages_pending",
        "remapped_rows_corrected", "remapped_rows_uncorrected", "remapped_rows_pending", "remapped_rows_failed",
        "energy_millijoules", "energy_seconds", "energy_is_integrated", "process_pids", "process_bytes", "missing",
        "simulated", "source", "first_wins",
    ),
    derived=("content_hash",),
)  # fmt: skip
_GPU_EVENT = RowKind(
    name="gpu_event",
    table="gpu_events",
    normalisation="normalise_gpu_event",
    time_column="happened_at",
    time_us="happened_us",
    columns=(
        "happened_at", "content_hash", "k", "event", "gpu", "parent", "host", "collector", "gpu_instance",
        "compute_instance", "code", "count", "detail", "sequence", "simulated", "source", "first_wins",
    ),
)  # fmt: skip
_SAMPLE = RowKind(
    name="sample",
    table="engine_samples",
    normalisation="normalise_sample",
    time_column="scraped_at",
    time_us="scraped_us",
    columns=(
        "scraped_at", "k", "target", "kind", "name", "engine", "model", "labels", "whole", "fraction", "since_us",
        "reported_us", "source", "first_wins",
    ),
    derived=("content_hash",),
)  # fmt: skip
_HISTOGRAM = RowKind(
    name="histogram",
    table="engine_histograms",
    normalisation="normalise_histogram",
    time_column="scraped_at",
    time_us="scraped_us",
    columns=(
        "scraped_at", "k", "target", "name", "engine", "model", "labels", "edges", "counts", "sum", "count", "since_us",
        "reported_us", "source", "first_wins",
    ),
    derived=("content_hash",),
)  # fmt: skip

KINDS: dict[Kind, RowKind] = {
    each.name: each for each in (_GATEWAY, _ENGINE, _ENGINE_STATE, _GPU, _GPU_EVENT, _SAMPLE, _HISTOGRAM)
}
