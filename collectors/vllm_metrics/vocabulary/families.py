"""Own what vLLM reports: each family with its kind, its unit, the versions that have it, and what it means.

Names are as vLLM declares them, without its prefix. On the wire counters end with ``_total``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["counter", "gauge", "histogram", "info"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """One thing that vLLM reports.

    versions: those that have it: ``0.5-0.8``, or ``0.9-`` where it goes on.
    per_engine: whether its series belong to one engine; where they do not say to which, there is one: engine 0.
    """

    name: str
    kind: Kind
    unit: str
    versions: str
    note: str
    per_engine: bool = True


_WITHOUT_ENGINE = frozenset(
    ["lora_requests_info", "admission_rejections", "tool_call_parser_invocations", "websocket_connections_active",
     "websocket_connections", "websocket_connections_duration_seconds"]
)  # fmt: skip

# name | unit | versions | what it means, where its name does not say it
_GAUGES = """
num_requests_running | requests | 0.5- | in the batch that is executed
num_requests_waiting | requests | 0.5- | from 0.20 with those deferred
num_requests_waiting_by_reason | requests | 0.20- | label reason; the reasons add up to num_requests_waiting
num_requests_swapped | requests | 0.5-0.8 | V0 only
kv_cache_usage_perc | ratio | 0.9- | 0 to 1; of one engine, never to be added
cpu_cache_usage_perc | ratio | 0.5-0.8 | V0 only
gpu_prefix_cache_hit_rate | ratio | 0.5-0.8 | replaced by prefix_cache_queries and prefix_cache_hits
cpu_prefix_cache_hit_rate | ratio | 0.5-0.8 | V0 only
engine_sleep_state | flag | 0.12- | label sleep_state
avg_prompt_throughput_toks_per_s | tokens per second | 0.5-0.6 | an average of vLLM's own
avg_generation_throughput_toks_per_s | tokens per second | 0.5-0.6 | an average of vLLM's own
spec_decode_draft_acceptance_rate | ratio | 0.5-0.11 | V0 only
spec_decode_efficiency | ratio | 0.5-0.11 | V0 only
kv_offload_cpu_cache_usage_perc | ratio | 0.20- | with a KV connector
websocket_connections_active | connections | 0.18- | /realtime
cache_config_num_gpu_blocks | blocks | 0.5- | from the labels of cache_config_info
cache_config_block_size_tokens | tokens | 0.5- | from the labels of cache_config_info
cache_config_kv_cache_size_tokens | tokens | 0.5- | from the labels of cache_config_info, or blocks times block size
"""
_INFOS = """
cache_config_info | settings | 0.5- | labels are the settings; num_gpu_blocks, block_size and the size in tokens are kept as gauges too
lora_requests_info | wall-clock time | 0.6- | the value is a time; only the newest series tells which adapters run and wait
"""
_COUNTERS = """
prompt_tokens | tokens | 0.5- | whole prompts, cached ones included, once, with the first output; times n for n > 1
prompt_tokens_by_source | tokens | 0.16- | label source; the sources add up to prompt_tokens
prompt_tokens_cached | tokens | 0.16- | local and external cache
prompt_tokens_cached_by_source | tokens | 0.32- | label source, by tier
prompt_tokens_recomputed | tokens | 0.16-0.19 | removed
generation_tokens | tokens | 0.5- | those of aborted requests included, up to the abort
request_success | sequences | 0.5- | label finished_reason; a client that leaves is counted nowhere (Python frontend)
num_preemptions | preemptions | 0.5- | counted when the request puts out a token again
prefix_cache_queries | tokens | 0.9- | see the aliases for what came before
prefix_cache_hits | tokens | 0.9- | see the aliases for what came before
external_prefix_cache_queries | tokens | 0.12- | with a KV connector
external_prefix_cache_hits | tokens | 0.12- | with a KV connector
mm_cache_queries | items | 0.11- |
mm_cache_hits | items | 0.11- |
corrupted_requests | requests | 0.11- | only where NaNs are looked for
admission_rejections | requests | 0.32- | label reason
tool_call_parser_invocations | calls | 0.28- | streamed: one for each delta
spec_decode_num_drafts | drafts | 0.8- | with speculative decoding
spec_decode_num_draft_tokens | tokens | 0.5- | with speculative decoding
spec_decode_num_accepted_tokens | tokens | 0.5- | with speculative decoding
spec_decode_num_accepted_tokens_per_pos | tokens | 0.8- | label position
spec_decode_num_emitted_tokens | tokens | 0.5-0.11 | V0 only
estimated_flops_per_gpu | operations | 0.17- | an estimate; 0 unless asked for
estimated_read_bytes_per_gpu | bytes | 0.17- | an estimate; 0 unless asked for
estimated_write_bytes_per_gpu | bytes | 0.17- | an estimate; 0 unless asked for
tokens | tokens | 0.6-0.8 | never filled
kv_offload_load_bytes | bytes | 0.20- | with a KV connector
kv_offload_load_time | seconds | 0.20- | with a KV connector
kv_offload_store_bytes | bytes | 0.20- | with a KV connector
kv_offload_store_time | seconds | 0.20- | with a KV connector
kv_offload_total_bytes | bytes | 0.11- | label transfer_type
kv_offload_total_time | seconds | 0.11- | label transfer_type
nixl_num_failed_transfers | transfers | 0.12- | with NIXL
nixl_num_failed_notifications | notifications | 0.12- | with NIXL
nixl_num_kv_expired_reqs | requests | 0.12- | with NIXL
websocket_connections | connections | 0.18- | /realtime
"""
_HISTOGRAMS = """
time_to_first_token_seconds | seconds | 0.5- | wall clock from arrival, queue included; also of requests that are aborted later
inter_token_latency_seconds | seconds | 0.11- | one a step and not one a token; engine's clock
request_time_per_output_token_seconds | seconds | 0.11- | mean of one request; 0 for one token and for pooling
e2e_request_latency_seconds | seconds | 0.5- | wall clock from arrival, at the end
request_queue_time_seconds | seconds | 0.6- | queued to first scheduled; V0 counted from arrival
request_prefill_time_seconds | seconds | 0.6- | scheduled to first token
request_decode_time_seconds | seconds | 0.6- | first token to last
request_inference_time_seconds | seconds | 0.6- | scheduled to last token
time_in_queue_requests | seconds | 0.6-0.8 | see request_queue_time_seconds
model_forward_time_milliseconds | milliseconds | 0.6-0.8 | removed
model_execute_time_milliseconds | milliseconds | 0.6-0.8 | removed
request_prompt_tokens | tokens | 0.5- | at the end, one a sequence
request_generation_tokens | tokens | 0.5- | at the end, one a sequence
request_max_num_generation_tokens | tokens | 0.6- | one a request
request_params_n | sequences | 0.5- | one a request: its count is the number of requests
request_params_max_tokens | tokens | 0.6- | one a sequence
request_params_best_of | sequences | 0.5-0.6 | removed
request_prefill_kv_computed_tokens | tokens | 0.12- | prompt less cached
request_num_preemptions | preemptions | 0.30- | one a sequence
iteration_tokens_total | tokens | 0.6- | a histogram in spite of its name
kv_block_lifetime_seconds | seconds | 0.13- | a sample of 1 %, only where asked for
kv_block_idle_before_evict_seconds | seconds | 0.13- | a sample of 1 %, only where asked for
kv_block_reuse_gap_seconds | seconds | 0.13- | a sample of 1 %, only where asked for
nixl_xfer_time_seconds | seconds | 0.11- | with NIXL
nixl_post_time_seconds | seconds | 0.11- | with NIXL
nixl_bytes_transferred | bytes | 0.11- | with NIXL
nixl_num_descriptors | descriptors | 0.11- | with NIXL
kv_offload_size | bytes | 0.11- | label transfer_type
kv_offload_load_size | bytes | 0.20- | with a KV connector
kv_offload_store_size | bytes | 0.20- | with a KV connector
kv_offload_lookup_sync_delay_seconds | seconds | 0.20- | with a KV connector
kv_offload_lookup_async_delay_seconds | seconds | 0.20- | with a KV connector
websocket_connections_duration_seconds | seconds | 0.18- | /realtime
"""


def _families(kind: Kind, table: str) -> dict[str, Family]:
    found = {}
    for row in table.strip().splitlines():
        name, unit, versions, note = (cell.strip() for cell in row.split("|"))
        found[name] = Family(
            name=name, kind=kind, unit=unit, versions=versions, note=note, per_engine=name not in _WITHOUT_ENGINE
        )  # fmt: skip
    return found


FAMILIES: dict[str, Family] = {
    **_families("gauge", _GAUGES),
    **_families("info", _INFOS),
    **_families("counter", _COUNTERS),
    **_families("histogram", _HISTOGRAMS),
}
"""By name. Where the first version is not on record, it is the first release after the change, or the first one looked at."""
