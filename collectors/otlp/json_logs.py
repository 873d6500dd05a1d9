"""Own the reading of OTLP log requests in JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from collectors.otlp.engine_lines import RESOURCE_ATTRIBUTES, bad_line, engine_of
from collectors.otlp.json_encoding import (
    Unreadable,
    decode_json_object,
    either,
    objects,
    parsed,
    scalars,
    time_ns,
)
from collectors.otlp.log_records import EVENT, RECORD_ATTRIBUTES, LogReading
from collectors.otlp.problems import MalformedRequest

if TYPE_CHECKING:
    from collectors.otlp.engine_lines import Engine, EngineLines

_RESOURCE_LOGS = ("resourceLogs", "resource_logs")


def decode_log_json(body: bytes | str) -> EngineLines:
    """Turn one log request into lines; raises `MalformedRequest` where it is none."""
    request = parsed(body)
    if not isinstance(request, dict):
        raise MalformedRequest("the JSON is not an object with resourceLogs")
    if request and request.keys().isdisjoint(_RESOURCE_LOGS):
        raise MalformedRequest("the JSON object has no resourceLogs")
    return _decoded(request)


def decode_any_json(body: bytes | str) -> EngineLines:
    """Turn a request of either signal into lines; raises `MalformedRequest` where it is none."""
    request = parsed(body)
    if isinstance(request, dict) and not request.keys().isdisjoint(_RESOURCE_LOGS):
        return _decoded(request)
    return decode_json_object(request)


def _decoded(request: dict[str, Any]) -> EngineLines:
    reading = LogReading()
    for resource_logs in objects(request, *_RESOURCE_LOGS, bad=reading.lines):
        resource = resource_logs.get("resource")
        attributes = resource.get("attributes") if isinstance(resource, dict) else None
        engine = engine_of(scalars(attributes, RESOURCE_ATTRIBUTES))
        for scope_logs in objects(resource_logs, "scopeLogs", "scope_logs", bad=reading.lines):
            for record in objects(scope_logs, "logRecords", "log_records", bad=reading.lines):
                _add(reading, record, engine)
    return reading.result()


def _add(reading: LogReading, record: dict[str, Any], engine: Engine) -> None:
    attributes = scalars(record.get("attributes"), RECORD_ATTRIBUTES)
    event = either(record, "eventName", "event_name") or attributes.get(EVENT)
    try:
        at_ns = time_ns(either(record, "timeUnixNano", "time_unix_nano"), "time") or time_ns(
            either(record, "observedTimeUnixNano", "observed_time_unix_nano"), "observed time"
        )
    except Unreadable as problem:
        if isinstance(event, str) and event.startswith("fairclock."):
            reading.lines.append(bad_line(str(problem), engine=engine))
        else:
            reading.ignored += 1
        return
    reading.add(event if isinstance(event, str) else "", at_ns, attributes, engine)
