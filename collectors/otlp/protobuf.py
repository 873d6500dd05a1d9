"""Own the reading of OTLP trace requests in protobuf."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from collectors.otlp.engine_lines import (
    ENGINE_ATTRIBUTES,
    RESOURCE_ATTRIBUTES,
    SPAN_ATTRIBUTES,
    SPAN_NAME,
    UNREADABLE,
    Engine,
    EngineLines,
    Scalar,
    bad_line,
    engine_line,
    engine_of,
)
from collectors.otlp.problems import MalformedRequest
from collectors.otlp.wire import WireError, submessages

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_TRACE_ID_BYTES = 16
_SPAN_ID_BYTES = 8
_NO_TRACE_ID = bytes(_TRACE_ID_BYTES)
_NO_SPAN_ID = bytes(_SPAN_ID_BYTES)
# opentelemetry/proto/collector/trace/v1/trace_service.proto and trace/v1/trace.proto
# collector/logs/v1/logs_service.proto and logs/v1/logs.proto have the same numbers
_RESOURCE_PARTS = 1
_RESOURCE = 1
_SCOPE_PARTS = 2
_RECORDS = 2


def decode_protobuf(body: bytes) -> EngineLines:
    """Turn one ExportTraceServiceRequest into engine lines; raises `MalformedRequest` where it is none."""
    try:
        request = ExportTraceServiceRequest.FromString(body)
    except DecodeError:
        return _decode_apart(body)
    if body and not request.resource_spans:
        raise MalformedRequest("the body is not an ExportTraceServiceRequest in protobuf")
    reading = _Reading()
    for resource_spans in request.resource_spans:
        engine = resource_engine(resource_spans.resource)
        for scope_spans in resource_spans.scope_spans:
            reading.add(scope_spans.spans, engine)
    return reading.result()


def records_apart(body: bytes) -> Iterator[tuple[Engine, bytes]]:
    """Yield each span or log record of a request with its engine, unparsed; raises `WireError` where it breaks.

    Requests of traces and of logs are built alike: resources, their scopes, the records of these.
    """
    for resource_part in submessages(body, _RESOURCE_PARTS):
        resources = list(submessages(resource_part, _RESOURCE))
        engine = resource_engine_apart(resources[-1] if resources else b"")
        for scope_part in submessages(resource_part, _SCOPE_PARTS):
            for data in submessages(scope_part, _RECORDS):
                yield engine, data


def _decode_apart(body: bytes) -> EngineLines:
    """Take a request apart span by span, so that a span nobody can parse costs no other."""
    reading = _Reading()
    try:
        for engine, data in records_apart(body):
            reading.add_apart(data, engine)
    except WireError as error:
        raise MalformedRequest("the body is not an ExportTraceServiceRequest in protobuf") from error
    return reading.result()


class _Reading:
    """What was made of the spans so far."""

    def __init__(self) -> None:
        self._lines: list[bytes] = []
        self._ends_ns: list[int] = []
        self._ignored = 0

    def add(self, spans: Iterable[Any], engine: Engine) -> None:
        for span in spans:
            if span.name != SPAN_NAME:
                self._ignored += 1
                continue
            attributes = scalars(span.attributes, SPAN_ATTRIBUTES)
            if ENGINE_ATTRIBUTES.isdisjoint(attributes):
                self._ignored += 1
                continue
            self._lines.append(_line(span, attributes, engine))
            self._ends_ns.append(span.end_time_unix_nano)

    def add_apart(self, data: bytes, engine: Engine) -> None:
        try:
            span = Span.FromString(data)
        except DecodeError:
            self._lines.append(bad_line("not readable as a span", engine=engine))
        else:
            self.add([span], engine)

    def result(self) -> EngineLines:
        return EngineLines(lines=self._lines, ends_ns=self._ends_ns, ignored=self._ignored)


def _line(span: Any, attributes: dict[str, Scalar], engine: Engine) -> bytes:
    trace_id, span_id = span.trace_id, span.span_id
    start_ns = span.start_time_unix_nano
    if len(trace_id) != _TRACE_ID_BYTES:
        if trace_id:
            return bad_line("trace id is not 16 bytes", engine=engine, start_ns=start_ns)
        trace_id = _NO_TRACE_ID
    if len(span_id) != _SPAN_ID_BYTES:
        if span_id:
            return bad_line("span id is not 8 bytes", engine=engine, start_ns=start_ns)
        span_id = _NO_SPAN_ID
    return engine_line(
        trace_id="" if trace_id == _NO_TRACE_ID else trace_id.hex(),
        span_id="" if span_id == _NO_SPAN_ID else span_id.hex(),
        start_ns=start_ns,
        end_ns=span.end_time_unix_nano,
        attributes=attributes,
        engine=engine,
    )


def resource_engine(resource: Any) -> Engine:
    """Name the engine that a Resource stands for."""
    return engine_of(scalars(resource.attributes, RESOURCE_ATTRIBUTES))


def resource_engine_apart(data: bytes) -> Engine:
    """Name the engine of a Resource that is not parsed yet; nothing where it cannot be."""
    try:
        return resource_engine(Resource.FromString(data))
    except DecodeError:
        return Engine()


def scalars(attributes: Iterable[Any], allowed: frozenset[str]) -> dict[str, Scalar]:
    """Return the allowed attributes; of a list of texts the first, of anything else only that it is there."""
    found: dict[str, Scalar] = {}
    for attribute in attributes:
        key = attribute.key
        if key in allowed:
            value = attribute.value
            which = value.WhichOneof("value")
            if which == "array_value":
                value = value.array_value.values
                found[key] = value[0].string_value if value else ""
            elif which in {"double_value", "int_value", "string_value", "bool_value"}:
                found[key] = getattr(value, which)
            elif which is not None:
                found[key] = UNREADABLE
    return found
