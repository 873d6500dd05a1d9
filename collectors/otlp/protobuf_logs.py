"""Own the reading of OTLP log requests in protobuf."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord

from collectors.otlp.log_records import EVENT, RECORD_ATTRIBUTES, LogReading
from collectors.otlp.problems import MalformedRequest
from collectors.otlp.protobuf import decode_protobuf, records_apart, resource_engine, scalars
from collectors.otlp.wire import WireError, first_field

if TYPE_CHECKING:
    from collectors.otlp.engine_lines import Engine, EngineLines

# A LogRecord begins with its time (1, fixed 64 bits), or its severity (2, a varint); a Span has bytes in both places.
_FIRST_OF_LOGS = {(1, 1), (2, 0), (11, 1)}


def decode_log_protobuf(body: bytes) -> EngineLines:
    """Turn one ExportLogsServiceRequest into lines; raises `MalformedRequest` where it is none."""
    try:
        request = ExportLogsServiceRequest.FromString(body)
    except DecodeError:
        return _decode_apart(body)
    if body and not request.resource_logs:
        raise MalformedRequest("the body is not an ExportLogsServiceRequest in protobuf")
    reading = LogReading()
    for resource_logs in request.resource_logs:
        engine = resource_engine(resource_logs.resource)
        for scope_logs in resource_logs.scope_logs:
            for record in scope_logs.log_records:
                _add(reading, record, engine)
    return reading.result()


def decode_any_protobuf(body: bytes) -> EngineLines:
    """Turn a request of either signal into lines: nothing but its records' first field says which it is of."""
    return decode_log_protobuf(body) if _holds_logs(body) else decode_protobuf(body)


def _decode_apart(body: bytes) -> EngineLines:
    """Take a request apart record by record, so that one nobody can parse costs no other."""
    reading = LogReading()
    try:
        for engine, data in records_apart(body):
            try:
                record = LogRecord.FromString(data)
            except DecodeError:
                reading.add_unreadable(engine)
            else:
                _add(reading, record, engine)
    except WireError as error:
        raise MalformedRequest("the body is not an ExportLogsServiceRequest in protobuf") from error
    return reading.result()


def _add(reading: LogReading, record: Any, engine: Engine) -> None:
    attributes = scalars(record.attributes, RECORD_ATTRIBUTES)
    event = getattr(record, "event_name", "") or attributes.get(EVENT, "")
    at_ns = record.time_unix_nano or record.observed_time_unix_nano
    reading.add(event if isinstance(event, str) else "", at_ns, attributes, engine)


def _holds_logs(body: bytes) -> bool:
    try:
        return any(first_field(data) in _FIRST_OF_LOGS for _, data in islice(records_apart(body), 1))
    except WireError:
        return False
