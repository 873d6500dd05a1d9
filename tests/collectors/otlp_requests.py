"""Factories of OTLP trace requests as vLLM sends them."""

import json
import math

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

START_NS = 1_795_980_364_086_605_824
GOOD_ATTRIBUTES = {
    "gen_ai.latency.time_to_first_token": 0.09658432006835938,
    "gen_ai.latency.e2e": 0.3376791477203369,
    "gen_ai.latency.time_in_queue": 9.574899991093844e-05,
    "gen_ai.usage.prompt_tokens": 7,
    "gen_ai.usage.completion_tokens": 40,
    "gen_ai.latency.time_in_model_prefill": 0.038553036000053,
    "gen_ai.latency.time_in_model_decode": 0.24294486099995538,
    "gen_ai.latency.time_in_model_inference": 0.2814978970000084,
    "gen_ai.request.id": "cmpl-req-3-0",
    "gen_ai.request.top_p": 1.0,
    "gen_ai.request.max_tokens": 40,
    "gen_ai.request.n": 1,
}
RESOURCE = {"host.name": "gpu-1", "vllm.process_id": "4242", "service.name": "vllm"}


GOOD_LINE = {
    "trace_id": "00000000000000000000000000000001",
    "span_id": "0000000000000001",
    "start_ns": str(START_NS),
    "end_ns": str(START_NS + 337_679_147),
    "instance": "gpu-1:4242",
    "request_id": "cmpl-req-3-0",
    "e2e": "0.3376791477203369",
    "queue": "9.574899991093844e-05",
    "prefill": "0.038553036000053",
    "decode": "0.24294486099995538",
    "inference": "0.2814978970000084",
    "ttft": "0.09658432006835938",
    "prompt_tokens": 7,
    "completion_tokens": 40,
}
NOTHING = "(absent)"
"""Stands for a key that is not there, in expected values."""


def any_value(value):  # noqa: PLR0911 - a table of types
    if isinstance(value, AnyValue):
        return value
    if isinstance(value, bool):
        return AnyValue(bool_value=value)
    if isinstance(value, int):
        return AnyValue(int_value=value)
    if isinstance(value, float):
        return AnyValue(double_value=value)
    if isinstance(value, bytes):
        return AnyValue(bytes_value=value)
    if isinstance(value, list):
        return AnyValue(array_value=ArrayValue(values=map(any_value, value)))
    return AnyValue(string_value=value)


def key_values(attributes):
    return [KeyValue(key=key, value=any_value(value)) for key, value in attributes.items()]


def good_span(number=0, *, attributes=None, **changes):
    """A span of vLLM; `attributes` change the good ones, None takes one away."""
    merged = {**GOOD_ATTRIBUTES, **(attributes or {})}
    fields = {
        "name": "llm_request",
        "trace_id": (number + 1).to_bytes(16),
        "span_id": (number + 1).to_bytes(8),
        "start_time_unix_nano": START_NS + number * 10**9,
        "end_time_unix_nano": START_NS + number * 10**9 + 337_679_147,
        "attributes": key_values({key: value for key, value in merged.items() if value is not None}),
    }
    return Span(**{**fields, **changes})


def request_of(*spans, resource=None):
    request = ExportTraceServiceRequest()
    resource_spans = request.resource_spans.add()
    resource_spans.resource.attributes.extend(key_values(RESOURCE if resource is None else resource))
    resource_spans.scope_spans.add().spans.extend(spans)
    return request


def json_of(request):
    """Return `request` as OTLP's JSON, written from the specification and not from the product."""
    return json.dumps({"resourceSpans": [_resource_spans(each) for each in request.resource_spans]}).encode()


def _resource_spans(resource_spans):
    return {
        "resource": {"attributes": _attributes(resource_spans.resource.attributes)},
        "scopeSpans": [
            {"scope": {"name": "vllm"}, "spans": [_span(span) for span in scope.spans]}
            for scope in resource_spans.scope_spans
        ],
    }


def _span(span):
    return {
        "traceId": span.trace_id.hex(),
        "spanId": span.span_id.hex(),
        "name": span.name,
        "kind": 2,
        "startTimeUnixNano": str(span.start_time_unix_nano),
        "endTimeUnixNano": str(span.end_time_unix_nano),
        "attributes": _attributes(span.attributes),
    }


def _attributes(attributes):
    return [{"key": each.key, "value": _value(each.value)} for each in attributes]


def _value(value):  # noqa: PLR0911 - a table of types
    match value.WhichOneof("value"):
        case "string_value":
            return {"stringValue": value.string_value}
        case "bool_value":
            return {"boolValue": value.bool_value}
        case "int_value":
            return {"intValue": str(value.int_value)}
        case "double_value":
            number = value.double_value
            return {
                "doubleValue": number
                if math.isfinite(number)
                else {"inf": "Infinity", "-inf": "-Infinity"}.get(str(number), "NaN")
            }
        case "array_value":
            return {"arrayValue": {"values": [_value(each) for each in value.array_value.values]}}
        case "bytes_value":
            return {"bytesValue": "AAAA"}
    return {}
