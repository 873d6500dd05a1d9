"""Own what is said: of a finished request, of an engine's settings and state, of records that were lost.

A duration is sent as vLLM computed it, a host's uptime and a negative one too: what is impossible is for the store to
say. What a version of vLLM does not have is absent, and not zero. No prompt, no completion and no parameter of a request
is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairclock_vllm_plugin.encoding import Attribute, Event

if TYPE_CHECKING:
    from fairclock_vllm_plugin.engine import EngineSettings, EngineState

_NS_PER_SECOND = 1_000_000_000
FINISHED = Event("fairclock.request.finished")
STARTED = Event("fairclock.engine.started")
STATE = Event("fairclock.engine.state")
STOPPED = Event("fairclock.engine.stopped")
LOST = Event("fairclock.records.lost")

_NUMBER = Attribute("fairclock.record")
_RANK = Attribute("fairclock.engine.rank")
_MODEL = Attribute("gen_ai.request.model")
_ID = Attribute("gen_ai.request.id")
_ARRIVED = Attribute("fairclock.arrived_unix_nano")
_REASON = Attribute("gen_ai.response.finish_reason")
_E2E = Attribute("gen_ai.latency.e2e")
_SECONDS = (
    ("queued_time", Attribute("gen_ai.latency.time_in_queue")),
    ("prefill_time", Attribute("gen_ai.latency.time_in_model_prefill")),
    ("decode_time", Attribute("gen_ai.latency.time_in_model_decode")),
    ("inference_time", Attribute("gen_ai.latency.time_in_model_inference")),
)
_COUNTS = (
    ("num_prompt_tokens", Attribute("gen_ai.usage.prompt_tokens")),
    ("num_cached_tokens", Attribute("gen_ai.usage.cached_tokens")),
    ("num_generation_tokens", Attribute("gen_ai.usage.completion_tokens")),
    ("num_preemptions", Attribute("fairclock.preemptions")),
)
_RUNNING = Attribute("fairclock.engine.running")
_WAITING = Attribute("fairclock.engine.waiting")
_KV_USAGE = Attribute("fairclock.kv_cache.usage")
_SLEEP = Attribute("fairclock.engine.sleep_level")
_LOST_COUNT = Attribute("fairclock.lost.records")
_LOST_REASON = Attribute("fairclock.lost.reason")
_LOST_FROM = Attribute("fairclock.lost.from_unix_nano")
_LOST_TO = Attribute("fairclock.lost.to_unix_nano")
_SETTINGS = {
    "device": "fairclock.engine.device",
    "gpus": "fairclock.engine.gpus",
    "tensor_parallel": "fairclock.engine.tensor_parallel",
    "pipeline_parallel": "fairclock.engine.pipeline_parallel",
    "data_parallel": "fairclock.engine.data_parallel",
    "max_num_seqs": "fairclock.engine.max_num_seqs",
    "max_num_batched_tokens": "fairclock.engine.max_num_batched_tokens",
    "max_model_len": "fairclock.engine.max_model_len",
    "kv_cache_blocks": "fairclock.kv_cache.blocks",
    "kv_cache_block_tokens": "fairclock.kv_cache.block_tokens",
    "kv_cache_tokens": "fairclock.kv_cache.tokens",
    "vllm_version": "fairclock.engine.vllm_version",
}
_SETTING_ATTRIBUTES = {name: Attribute(key) for name, key in _SETTINGS.items()}


def nanoseconds(seconds: float) -> int:
    """Return an instant in seconds as whole nanoseconds; 0 for one that no clock shows."""
    try:
        return max(0, int(seconds * _NS_PER_SECOND))
    except (OverflowError, ValueError, TypeError):
        return 0


class EngineRecords:
    """Writes the records of one engine; `number` tells equal records of one process apart."""

    def __init__(self, *, model: str, rank: int) -> None:
        self._head = _RANK.integer(rank) + (_MODEL.text(model) if model else b"")

    def finished(self, at: float, stats: Any, number: int) -> bytes:
        """Write one finished request; `at` is the iteration's timestamp, `stats` a FinishedRequestStats of any version."""
        found: dict[str, Any] = vars(stats)
        get = found.get
        parts = [self._head, _NUMBER.integer(number)]
        request_id = get("request_id")
        if request_id:
            parts.append(_ID.text(str(request_id)))
        end_to_end = get("e2e_latency")
        if end_to_end is not None:
            parts.append(_E2E.double(end_to_end))
            # the stats carry no arrival: vLLM took the one from the other for e2e, on the same clock
            arrived_ns = nanoseconds(at - end_to_end)
            if arrived_ns:
                parts.append(_ARRIVED.integer(arrived_ns))
        for name, attribute in _SECONDS:
            seconds = get(name)
            if seconds is not None:
                parts.append(attribute.double(seconds))
        for name, attribute in _COUNTS:
            count = get(name)
            if count is not None:
                parts.append(attribute.integer(count))
        reason = get("finish_reason")
        if reason is not None:
            parts.append(_REASON.text(str(reason)))
        return FINISHED.record(nanoseconds(at), b"".join(parts))

    def started(self, at: float, settings: EngineSettings, number: int) -> bytes:
        """Write that the engine is ready, and its settings."""
        parts = [self._head, _NUMBER.integer(number)]
        for name, attribute in _SETTING_ATTRIBUTES.items():
            value = getattr(settings, name)
            if isinstance(value, int):
                parts.append(attribute.integer(value))
            elif value:
                parts.append(attribute.text(value))
        return STARTED.record(nanoseconds(at), b"".join(parts))

    def state(self, at: float, state: EngineState, number: int) -> bytes:
        """Write what the engine does now."""
        running, waiting, kv_cache_usage, sleep_level = state
        parts = [self._head, _NUMBER.integer(number)]
        if running is not None:
            parts.append(_RUNNING.integer(running))
        if waiting is not None:
            parts.append(_WAITING.integer(waiting))
        if kv_cache_usage is not None:
            parts.append(_KV_USAGE.double(kv_cache_usage))
        parts.append(_SLEEP.integer(sleep_level))
        return STATE.record(nanoseconds(at), b"".join(parts))

    def stopped(self, at: float, _: None, number: int) -> bytes:
        """Write that this process ends, as far as it knows."""
        return STOPPED.record(nanoseconds(at), self._head + _NUMBER.integer(number))


def lost(at: float, count: int, reason: str, between: tuple[float, float], number: int) -> bytes:
    """Write that `count` records of the time `between` two instants will never come, and why."""
    parts = (
        _NUMBER.integer(number),
        _LOST_COUNT.integer(count),
        _LOST_REASON.text(reason),
        _LOST_FROM.integer(nanoseconds(between[0])),
        _LOST_TO.integer(nanoseconds(between[1])),
    )
    return LOST.record(nanoseconds(at), b"".join(parts))
