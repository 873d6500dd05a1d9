"""Own the canonical engine line: what of a vLLM span enters the store, and nothing else.

Only the attributes named here leave a span. Prompts, completions and whatever else an instrumented engine
attaches (``gen_ai.prompt`` and its like) have no way into a row, a dead letter or a log.

Numbers are written as they were found, so that the same span always makes the same line; whether they are
possible is for the store's normalisation to say.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from json.encoder import encode_basestring as quoted
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Scalar: TypeAlias = "str | bool | int | float | bytes"
"""An attribute's value; bytes stand for one that is neither text nor number."""

SPAN_NAME = "llm_request"

_SECONDS = (
    ("e2e", "gen_ai.latency.e2e"),
    ("queue", "gen_ai.latency.time_in_queue"),
    ("prefill", "gen_ai.latency.time_in_model_prefill"),
    ("decode", "gen_ai.latency.time_in_model_decode"),
    ("inference", "gen_ai.latency.time_in_model_inference"),
    ("ttft", "gen_ai.latency.time_to_first_token"),
)
_TOKENS = (
    ("prompt_tokens", ("gen_ai.usage.prompt_tokens", "gen_ai.usage.input_tokens")),
    ("completion_tokens", ("gen_ai.usage.completion_tokens", "gen_ai.usage.output_tokens")),
    ("cached_tokens", ("gen_ai.usage.cached_tokens", "gen_ai.usage.cache_read.input_tokens")),
)
_REQUEST_ID = "gen_ai.request.id"
_FINISH_REASONS = ("gen_ai.response.finish_reasons", "gen_ai.response.finish_reason")
_MODELS = ("gen_ai.request.model", "gen_ai.response.model")
_SIMULATED = "fairclock.simulated"

SPAN_ATTRIBUTES = frozenset(
    [key for _, key in _SECONDS]
    + [key for _, keys in _TOKENS for key in keys]
    + [_REQUEST_ID, *_FINISH_REASONS, *_MODELS, _SIMULATED]
)
"""The allow-list of a span."""
ENGINE_ATTRIBUTES = frozenset([key for _, key in _SECONDS] + [_REQUEST_ID])
"""A span that has none of these is not vLLM's, whatever its name."""
RESOURCE_ATTRIBUTES = frozenset(
    [
        "service.instance.id",
        "host.name",
        "vllm.process_id",
        "process.pid",
        "service.name",
        *_MODELS,
        _SIMULATED,
    ]
)
"""The allow-list of a resource."""

UNREADABLE = b""
"""An attribute that is there, with a value of no use."""
_NO_NUMBER = '"unreadable"'  # wrong, and not absent
_LONGEST_NUMBER = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """What a resource says about the engine behind its spans."""

    instance: str = ""
    model: str = ""
    simulated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineLines:
    """What one request holds: lines for the store, the ends of its requests (ns since 1970), what was passed over.

    state_lines: canonical lines of what an engine says of itself (`collectors.otlp.engine_states`).
    lost_ns: (from, to) of time of which the sender lost records.
    """

    lines: Sequence[bytes]
    ends_ns: Sequence[int]
    ignored: int
    state_lines: Sequence[bytes] = ()
    lost_ns: Sequence[tuple[int, int]] = ()


def engine_of(attributes: Mapping[str, Scalar]) -> Engine:
    """Name the engine: its own instance id, else host and process, else service and process."""
    instance = text_of(attributes.get("service.instance.id"))
    if not instance:
        process = text_of(attributes.get("vllm.process_id")) or text_of(attributes.get("process.pid"))
        base = text_of(attributes.get("host.name")) or text_of(attributes.get("service.name"))
        instance = ":".join(part for part in (base, process) if part)
    return Engine(
        instance=instance, model=_model(attributes) or "", simulated=_is_set(attributes.get(_SIMULATED))
    )


def engine_line(
    *,
    trace_id: str,
    span_id: str,
    start_ns: int,
    end_ns: int,
    attributes: Mapping[str, Scalar],
    engine: Engine,
    detail: Sequence[str] = (),
) -> bytes:
    """Write one span; `attributes` may hold keys of the allow-list only. Ids are hex or empty.

    `detail` is what the plugin knows beyond a span, as members of a JSON object.
    """
    parts = [f'{{"trace_id":"{trace_id}","span_id":"{span_id}","start_ns":"{start_ns}","end_ns":"{end_ns}"']
    if engine.instance:
        parts.append(f'"instance":{quoted(engine.instance)}')
    model = _model(attributes) or engine.model
    if model:
        parts.append(f'"model":{quoted(model)}')
    request_id = text_of(attributes.get(_REQUEST_ID))
    if request_id:
        parts.append(f'"request_id":{quoted(request_id)}')
    _add_numbers(parts, attributes)
    reason = text_of(attributes.get(_FINISH_REASONS[0])) or text_of(attributes.get(_FINISH_REASONS[1]))
    if reason:
        parts.append(f'"finish_reason":{quoted(reason)}')
    if engine.simulated or _is_set(attributes.get(_SIMULATED)):
        parts.append('"simulated":true')
    parts += detail
    return (",".join(parts) + "}").encode()


def _add_numbers(parts: list[str], attributes: Mapping[str, Scalar]) -> None:
    for name, key in _SECONDS:
        value = attributes.get(key)
        if value is not None:
            parts.append(
                f'"{name}":"{value!r}"' if type(value) is float else f'"{name}":{number_json(value)}'
            )
    for name, (key, newer_key) in _TOKENS:
        value = attributes.get(key)
        if value is None:
            value = attributes.get(newer_key)
        if value is not None:
            parts.append(f'"{name}":{value}' if type(value) is int else f'"{name}":{count_json(value)}')


_BAD = b'{"bad":'


def is_bad(line: bytes) -> bool:
    """Return whether `line` stands for a span that could not be expressed."""
    return line.startswith(_BAD)


def bad_line(reason: str, *, engine: Engine | None = None, start_ns: int | None = None) -> bytes:
    """Write a span that cannot be expressed: why, and where to look; nothing of its content."""
    parts = [f'{{"bad":{quoted(reason)}']
    if start_ns is not None:
        parts.append(f'"start_ns":"{start_ns}"')
    if engine is not None and engine.instance:
        parts.append(f'"instance":{quoted(engine.instance)}')
    return (",".join(parts) + "}").encode()


def _model(attributes: Mapping[str, Scalar]) -> str:
    return text_of(attributes.get(_MODELS[0])) or text_of(attributes.get(_MODELS[1]))


def text_of(value: Scalar | None) -> str:
    """Return `value` as text that UTF-8 can hold (JSON can escape half a character)."""
    if value is None or isinstance(value, bytes):
        return ""
    text = value if isinstance(value, str) else str(value)
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def number_json(value: Scalar) -> str:
    """Return `value` as JSON that says the same number, or that it is none."""
    if isinstance(value, bool | bytes):
        return _NO_NUMBER
    if isinstance(value, str):
        text = value.strip()
        if len(text) > _LONGEST_NUMBER or not text.isascii():
            return _NO_NUMBER
        try:
            float(text)
        except ValueError:
            return _NO_NUMBER
        return f'"{text}"'
    return f'"{value!r}"'


def count_json(value: Scalar) -> str:
    """Return `value` as JSON that says the same count; 7.0 is 7."""
    if isinstance(value, float) and math.isfinite(value) and value.is_integer():
        return str(int(value))
    return number_json(value)


def _is_set(value: Scalar | None) -> bool:
    return value in (True, "true", "1")
