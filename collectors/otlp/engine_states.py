"""Own the canonical line of what an engine says of itself: its start and settings, its state, its end, what was lost.

As in `collectors.otlp.engine_lines`, only the attributes named here leave a record, and numbers are written as found.
"""

from __future__ import annotations

from json.encoder import encode_basestring as quoted
from typing import TYPE_CHECKING

from collectors.otlp.engine_lines import count_json, number_json, text_of
from fairclock.store import LineBatch

if TYPE_CHECKING:
    from collections.abc import Mapping

    from collectors.otlp.engine_lines import Engine, Scalar
    from fairclock.model import Frame

STATE_FORMAT = "engine-state-json"
"""The format of frames that hold these lines, each with its newline."""

STATE_EVENTS = {
    "fairclock.engine.started": "started",
    "fairclock.engine.state": "state",
    "fairclock.engine.stopped": "stopped",
    "fairclock.records.lost": "lost",
}
"""The events of log records that become such a line, and what they are called in it."""
RANK = "fairclock.engine.rank"
NUMBER = "fairclock.record"
LOST_FROM, LOST_TO = "fairclock.lost.from_unix_nano", "fairclock.lost.to_unix_nano"
_MODEL = "gen_ai.request.model"
_COUNTS = {
    "engine_rank": RANK,
    "running": "fairclock.engine.running",
    "waiting": "fairclock.engine.waiting",
    "sleep_level": "fairclock.engine.sleep_level",
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
    "lost_records": "fairclock.lost.records",
    "lost_from_ns": LOST_FROM,
    "lost_to_ns": LOST_TO,
    "record": NUMBER,
}
_NUMBERS = {"kv_cache_usage": "fairclock.kv_cache.usage"}
_TEXTS = {
    "device": "fairclock.engine.device",
    "vllm_version": "fairclock.engine.vllm_version",
    "lost_reason": "fairclock.lost.reason",
}
STATE_ATTRIBUTES = frozenset([_MODEL, *_COUNTS.values(), *_NUMBERS.values(), *_TEXTS.values()])
"""The allow-list of such a record."""


def state_line(event: str, *, at_ns: int, attributes: Mapping[str, Scalar], engine: Engine) -> bytes:
    """Write one record; `event` is one of the values of `STATE_EVENTS`."""
    parts = [f'{{"event":"{event}","at_ns":"{at_ns}"']
    texts = [("instance", engine.instance), ("model", text_of(attributes.get(_MODEL)) or engine.model)]
    texts += [(name, text_of(attributes.get(key))) for name, key in _TEXTS.items()]
    parts += [f'"{name}":{quoted(text)}' for name, text in texts if text]
    for keys, write in ((_COUNTS, count_json), (_NUMBERS, number_json)):
        for name, key in keys.items():
            value = attributes.get(key)
            if value is not None:
                parts.append(f'"{name}":{write(value)}')
    return (",".join(parts) + "}").encode()


def state_batches(frame: Frame) -> list[LineBatch]:
    """Adapt a frame of `STATE_FORMAT`: its rows are not of the frame's own kind."""
    lines = frame.payload.removesuffix(b"\n").split(b"\n")
    return [LineBatch(kind="engine_state", source=frame.source, lines=lines)]
