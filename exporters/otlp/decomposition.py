"""Own how a request is taken apart into spans: the gateway's, and in it queue, prefill and decode, each as long as it was.

Only durations are known of what happened inside an engine, since clocks of two hosts are never subtracted. So the phases lie
end to end on the gateway's clock, from where the request was handed on; where they would end after the answer they begin
that much earlier. Their lengths are exact, where they lie is not, and `fairclock.position` says so.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags

from fairclock import __version__
from fairclock.model import to_us

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

PHASES = ("queue", "prefill", "decode")
_SCOPE = InstrumentationScope("fairclock", __version__)
_NS_PER_US = 1_000
_SPAN_BYTES = 8
_SPAN_BITS = 64
_SAMPLED_BITS = 56
_FAILED_FROM = 500
_OPERATIONS = (
    ("/chat/completions", "chat"),
    ("/completions", "text_completion"),
    ("/embeddings", "embeddings"),
    ("/messages", "chat"),
    ("/responses", "chat"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedRequest:
    """One joined request; None is what was not measured or logged. It has no text of anybody's in it."""

    received_at: datetime
    request_id: str
    trace_id: str
    content_hash: int
    k: int
    tenant: str
    model: str
    route: str
    region: str
    upstream: str
    status: int
    outcome: str
    error_code: str
    stream: bool | None
    inference_mode: str
    model_version: str
    attempts: int
    end_to_end_us: int
    forwarded_us: int | None
    queue_us: int | None
    prefill_us: int | None
    decode_us: int | None
    time_to_first_token_us: int | None
    prompt_tokens: int | None
    cached_tokens: int | None
    completion_tokens: int | None
    engine: str
    simulated: bool


def resource_of(service: str) -> Resource:
    """Return whose spans they are."""
    return Resource({"service.name": service, "telemetry.sdk.language": "python"})


def is_sampled(request: FinishedRequest, *, one_in: int) -> bool:
    """Return whether a request is the one in so many that is sent: by the lowest bits of the trace id, as W3C has it."""
    lowest = _trace_id(request) & ((1 << _SAMPLED_BITS) - 1)
    # those of the greatest numbers, so that who sends fewer sends some of the same
    return one_in * ((1 << _SAMPLED_BITS) - lowest) <= 1 << _SAMPLED_BITS


def spans_of(
    request: FinishedRequest, resource: Resource, *, is_alone: bool = True
) -> Iterator[ReadableSpan]:
    """Yield the spans of a request; taking it apart again gives the same ids.

    is_alone: no other request has its trace. Then the gateway's span has the id that nginx tells the engine, so that the
    engine's own spans are children of it.
    """
    trace_id = _trace_id(request)
    span_id = trace_id >> _SPAN_BITS if request.trace_id and is_alone else 0
    root = _context(trace_id, span_id or _id(request, "gateway"))
    start_ns = to_us(request.received_at) * _NS_PER_US
    operation = next((name for end, name in _OPERATIONS if request.route.endswith(end)), "")
    name = f"{operation or 'request'} {request.model}".strip()
    yield ReadableSpan(
        name=name,
        context=root,
        resource=resource,
        attributes=_attributes(request, operation),
        kind=SpanKind.SERVER,
        status=_status(request),
        start_time=start_ns,
        end_time=start_ns + request.end_to_end_us * _NS_PER_US,
        instrumentation_scope=_SCOPE,
    )
    lengths = (request.queue_us, request.prefill_us, request.decode_us)
    known = [each for each in lengths if each is not None]
    at_us = max(0, min(request.forwarded_us or 0, request.end_to_end_us - sum(known)))
    for phase, length_us in zip(PHASES, lengths, strict=True):
        if length_us is None:
            continue
        begin_ns = start_ns + at_us * _NS_PER_US
        yield ReadableSpan(
            name=phase,
            context=_context(trace_id, _id(request, phase)),
            parent=root,
            resource=resource,
            attributes={"fairclock.phase": phase, "fairclock.position": "laid end to end"},
            kind=SpanKind.INTERNAL,
            start_time=begin_ns,
            end_time=begin_ns + length_us * _NS_PER_US,
            instrumentation_scope=_SCOPE,
        )
        at_us += length_us


def _attributes(
    request: FinishedRequest, operation: str
) -> dict[str, str | int | bool | float | tuple[str, ...]]:
    seconds = request.time_to_first_token_us
    found: dict[str, str | int | bool | float | tuple[str, ...] | None] = {
        "gen_ai.operation.name": operation or None,
        "gen_ai.provider.name": "vllm" if request.engine == "joined" else None,
        "gen_ai.request.model": request.model or None,
        "gen_ai.request.stream": request.stream,
        "gen_ai.usage.input_tokens": request.prompt_tokens,
        "gen_ai.usage.output_tokens": request.completion_tokens,
        "gen_ai.usage.cache_read.input_tokens": request.cached_tokens,
        "gen_ai.response.time_to_first_chunk": None if seconds is None else seconds / 1_000_000,
        "http.route": request.route or None,
        "http.response.status_code": request.status,
        "http.request.header.x-request-id": (request.request_id,) if request.request_id else None,
        "server.address": request.upstream or None,
        "error.type": _error(request),
        "cloud.region": request.region or None,
        "fairclock.tenant": request.tenant or None,
        "fairclock.outcome": request.outcome,
        "fairclock.attempts": request.attempts,
        "fairclock.engine": request.engine,
        "fairclock.model_version": request.model_version or None,
        "fairclock.inference_mode": request.inference_mode or None,
        "fairclock.simulated": request.simulated or None,
    }
    return {key: value for key, value in found.items() if value is not None}


def _error(request: FinishedRequest) -> str | None:
    if request.outcome == "ok":
        return None
    return request.error_code or request.outcome


def _status(request: FinishedRequest) -> Status:
    """Return an error only for what the service did wrong: what a client did is none of a server's span."""
    failed = request.status >= _FAILED_FROM or request.outcome in {"timeout", "incomplete", "substituted"}
    return Status(StatusCode.ERROR, request.outcome) if failed else Status(StatusCode.UNSET)


def _trace_id(request: FinishedRequest) -> int:
    # what has no trace gets one of its own, the same whenever it is sent
    return int(request.trace_id, 16) if request.trace_id else _digest(request, "trace", 2 * _SPAN_BYTES)


def _id(request: FinishedRequest, part: str) -> int:
    return _digest(request, part, _SPAN_BYTES)


def _digest(request: FinishedRequest, part: str, length: int) -> int:
    said = f"{part} {request.content_hash} {request.k}".encode()
    # an id of zeros is none
    return int.from_bytes(hashlib.blake2b(said, digest_size=length).digest(), "big") or 1


def _context(trace_id: int, span_id: int) -> SpanContext:
    return SpanContext(trace_id, span_id, is_remote=False, trace_flags=TraceFlags(TraceFlags.SAMPLED))
