"""Own the input of the benchmarks: an hour of requests, as nginx and vLLM would write them, from a seed."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

HOUR_START_SECONDS = 1_791_370_800  # 2026-10-07T07:00:00Z
_TENANTS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request as both sides saw it; durations in milliseconds and microseconds as the side writes them."""

    number: int
    trace_id: str
    received_ms: int
    end_to_end_ms: int
    queue_us: int
    prefill_us: int
    decode_us: int
    prompt_tokens: int
    completion_tokens: int

    @property
    def tenant(self) -> str:
        """Return who asked."""
        return f"tenant-{self.number % _TENANTS:03d}"


def requests(count: int, *, seed: int) -> Iterator[Request]:
    """Yield `count` requests received within one hour, in order of their numbers."""
    source = random.Random(seed)
    for number in range(count):
        queue_us = int(source.expovariate(1 / 80_000))
        prefill_us = 20_000 + int(source.expovariate(1 / 60_000))
        completion_tokens = 2 + int(source.expovariate(1 / 120))
        decode_us = completion_tokens * source.randrange(8_000, 12_000)
        yield Request(
            number=number,
            trace_id=f"{source.getrandbits(128):032x}",
            received_ms=HOUR_START_SECONDS * 1000 + source.randrange(3_600_000),
            end_to_end_ms=(queue_us + prefill_us + decode_us) // 1000 + source.randrange(3, 12),
            queue_us=queue_us,
            prefill_us=prefill_us,
            decode_us=decode_us,
            prompt_tokens=source.randrange(16, 2048),
            completion_tokens=completion_tokens,
        )


def gateway_line(request: Request) -> bytes:
    """Write what the shipped nginx snippet logs."""
    end_ms = request.received_ms + request.end_to_end_ms
    seconds = f"{request.end_to_end_ms / 1000:.3f}"
    values = {
        "time": f"{end_ms / 1000:.3f}",
        "request_id": f"req-{request.number}",
        "traceparent": f"00-{request.trace_id}-{request.trace_id[:16]}-01",
        "tenant": request.tenant,
        "method": "POST",
        "uri": "/v1/chat/completions",
        "status": "200",
        "request_time": seconds,
        "request_completion": "OK",
        "limit_req_status": "PASSED",
        "limit_conn_status": "",
        "connection_time": seconds,
        "connection_requests": "1",
        "upstream_addr": "127.0.0.1:8000",
        "upstream_status": "200",
        "upstream_connect_time": "0.000",
        "upstream_header_time": seconds,
        "upstream_response_time": seconds,
        "x_request_start": "",
        "request_length": "2048",
        "bytes_sent": "4096",
        "server": "llm.example",
        "stream": "true",
    }
    return json.dumps(values, separators=(",", ":")).encode()


def engine_line(request: Request) -> bytes:
    """Write the canonical line that the OTLP adapter makes of vLLM's span."""
    start_ns = (request.received_ms + 1) * 1_000_000
    inside_us = request.queue_us + request.prefill_us + request.decode_us
    values = {
        "trace_id": request.trace_id,
        "span_id": request.trace_id[16:],
        "start_ns": str(start_ns),
        "end_ns": str(start_ns + inside_us * 1000),
        "instance": "engine-0",
        "request_id": f"chatcmpl-req-{request.number}",
        "e2e": str(inside_us / 1e6),
        "queue": str(request.queue_us / 1e6),
        "prefill": str(request.prefill_us / 1e6),
        "decode": str(request.decode_us / 1e6),
        "inference": str((request.prefill_us + request.decode_us) / 1e6),
        "ttft": str((request.queue_us + request.prefill_us) / 1e6),
        "prompt_tokens": request.prompt_tokens,
        "completion_tokens": request.completion_tokens,
    }
    return json.dumps(values, separators=(",", ":")).encode()


def otlp_body(some: Sequence[Request]) -> bytes:
    """Write vLLM's spans of `some` requests as one OTLP export in protobuf."""
    export = ExportTraceServiceRequest()
    resource = export.resource_spans.add()
    for key, value in (("host.name", "gpu-0"), ("vllm.process_id", "1"), ("service.name", "vllm")):
        resource.resource.attributes.add(key=key).value.string_value = value
    spans = resource.scope_spans.add().spans
    for request in some:
        start_ns = (request.received_ms + 1) * 1_000_000
        inside_us = request.queue_us + request.prefill_us + request.decode_us
        span = spans.add(
            name="llm_request",
            trace_id=bytes.fromhex(request.trace_id),
            span_id=bytes.fromhex(request.trace_id[16:]),
            start_time_unix_nano=start_ns,
            end_time_unix_nano=start_ns + inside_us * 1000,
        )
        for key, microseconds in (
            ("e2e", inside_us),
            ("time_in_queue", request.queue_us),
            ("time_in_model_prefill", request.prefill_us),
            ("time_in_model_decode", request.decode_us),
            ("time_in_model_inference", request.prefill_us + request.decode_us),
            ("time_to_first_token", request.queue_us + request.prefill_us),
        ):
            span.attributes.add(key=f"gen_ai.latency.{key}").value.double_value = microseconds / 1e6
        for key, count in (
            ("usage.prompt_tokens", request.prompt_tokens),
            ("usage.completion_tokens", request.completion_tokens),
            ("request.max_tokens", request.completion_tokens),
            ("request.n", 1),
        ):
            span.attributes.add(key=f"gen_ai.{key}").value.int_value = count
        span.attributes.add(key="gen_ai.request.id").value.string_value = f"chatcmpl-req-{request.number}"
        span.attributes.add(key="gen_ai.request.top_p").value.double_value = 1.0
    return export.SerializeToString()
