"""Own the reading of OTLP trace requests in JSON.

The specification wants lowerCamelCase keys, ids in hex and 64-bit integers as strings. Senders differ: snake_case
keys, ids in base64 and integers as numbers are read too. Unknown keys are passed over.
"""

from __future__ import annotations

import base64
import binascii
import json
from typing import Any

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

_TRACE_ID_BYTES = 16
_SPAN_ID_BYTES = 8
_LARGEST_INTEGER = 2**64
_RESOURCE_SPANS = ("resourceSpans", "resource_spans")
_OTHER_SIGNALS = ("resourceLogs", "resource_logs", "resourceMetrics", "resource_metrics", "resourceProfiles")


class Unreadable(Exception):  # noqa: N818 - one span's, and kept in this module
    """A span that cannot be expressed; `str()` is the reason."""


def decode_json(body: bytes | str) -> EngineLines:
    """Turn one request into engine lines; raises `MalformedRequest` where it is none.

    A request of another signal (logs, metrics) is one thing passed over.
    """
    return decode_json_object(parsed(body))


def decode_json_object(request: Any) -> EngineLines:
    """Turn one request that is parsed already into engine lines; raises as `decode_json` does."""
    if not isinstance(request, dict):
        raise MalformedRequest("the JSON is not an object with resourceSpans")
    reading = _Reading()
    if request and request.keys().isdisjoint(_RESOURCE_SPANS):
        if request.keys().isdisjoint(_OTHER_SIGNALS):
            raise MalformedRequest("the JSON object has no resourceSpans")
        reading.ignored += 1
    for resource_spans in reading.objects(request, *_RESOURCE_SPANS):
        resource = resource_spans.get("resource")
        attributes = resource.get("attributes") if isinstance(resource, dict) else None
        engine = engine_of(scalars(attributes, RESOURCE_ATTRIBUTES))
        for scope_spans in reading.objects(resource_spans, "scopeSpans", "scope_spans"):
            for span in reading.objects(scope_spans, "spans", "spans"):
                reading.add(span, engine)
    return EngineLines(lines=reading.lines, ends_ns=reading.ends_ns, ignored=reading.ignored)


def parsed(body: bytes | str) -> Any:
    """Read JSON of any kind; raises `MalformedRequest`."""
    text = body if isinstance(body, str) else body.decode("utf-8-sig", "replace")
    try:
        try:
            return json.loads(text)
        except json.JSONDecodeError:
            raise
        except ValueError:  # an integer of thousands of digits must not cost the rest
            return json.loads(text, parse_int=float)
    except json.JSONDecodeError as error:
        raise MalformedRequest(f"not JSON: {error.msg} at character {error.pos}") from error
    except RecursionError as error:
        raise MalformedRequest("the JSON is nested too deeply") from error


class _Reading:
    """What was made of the spans so far."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self.ends_ns: list[int] = []
        self.ignored = 0

    def objects(self, parent: dict[str, Any], camel: str, snake: str) -> list[dict[str, Any]]:
        return objects(parent, camel, snake, bad=self.lines)

    def add(self, span: dict[str, Any], engine: Engine) -> None:
        if span.get("name") != SPAN_NAME:
            self.ignored += 1
            return
        attributes = scalars(span.get("attributes"), SPAN_ATTRIBUTES)
        if ENGINE_ATTRIBUTES.isdisjoint(attributes):
            self.ignored += 1
            return
        try:
            start_ns = time_ns(either(span, "startTimeUnixNano", "start_time_unix_nano"), "start time")
            end_ns = time_ns(either(span, "endTimeUnixNano", "end_time_unix_nano"), "end time")
            self.lines.append(_line(span, start_ns, end_ns, attributes, engine))
            self.ends_ns.append(end_ns)
        except Unreadable as problem:
            self.lines.append(bad_line(str(problem), engine=engine))


def objects(parent: dict[str, Any], camel: str, snake: str, *, bad: list[bytes]) -> list[dict[str, Any]]:
    """Return the objects listed in `parent`; what is none becomes a line of `bad`."""
    value = either(parent, camel, snake)
    if value is None:
        return []
    if not isinstance(value, list):
        bad.append(bad_line(f"{camel} is not a list"))
        return []
    found = []
    for each in value:
        if isinstance(each, dict):
            found.append(each)
        elif each is not None:
            bad.append(bad_line(f"an element of {camel} is not an object"))
    return found


def _line(
    span: dict[str, Any], start_ns: int, end_ns: int, attributes: dict[str, Scalar], engine: Engine
) -> bytes:
    try:
        trace_id = _identifier(either(span, "traceId", "trace_id"), _TRACE_ID_BYTES, "trace id")
        span_id = _identifier(either(span, "spanId", "span_id"), _SPAN_ID_BYTES, "span id")
    except Unreadable as problem:
        return bad_line(str(problem), engine=engine, start_ns=start_ns)
    return engine_line(
        trace_id=trace_id,
        span_id=span_id,
        start_ns=start_ns,
        end_ns=end_ns,
        attributes=attributes,
        engine=engine,
    )


def either(parent: dict[str, Any], camel: str, snake: str) -> Any:
    """Return what `parent` holds under either spelling of a key."""
    value = parent.get(camel)
    return parent.get(snake) if value is None else value


def _identifier(value: Any, size: int, what: str) -> str:
    """Return an id as lower-case hex, '' for none; reads hex, and base64 of exactly `size` bytes."""
    if value is None or value == "":
        return ""
    data = b""
    if isinstance(value, str):
        try:
            data = bytes.fromhex(value) if len(value) == 2 * size else _base64(value)
        except (ValueError, binascii.Error):
            data = b""
    if len(data) != size:
        raise Unreadable(f"{what} is not {size} bytes")
    return data.hex() if any(data) else ""


def _base64(text: str) -> bytes:
    standard = text.replace("-", "+").replace("_", "/").rstrip("=")
    return base64.b64decode(standard + "=" * (-len(standard) % 4), validate=True)


def time_ns(value: Any, what: str) -> int:
    """Return nanoseconds; 0 where there is no time, as in protobuf."""
    if value is None or value == "":
        return 0
    number = _integer(value)
    if number is None:
        raise Unreadable(f"{what} is not a number of nanoseconds")
    return number


def _integer(value: Any) -> int | None:
    """Read an integer from a number or a text of one; None for anything else and beyond 64 bits."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = int(value)
    except (ValueError, OverflowError):
        return None
    exact = not isinstance(value, float) or number == value
    return number if exact and abs(number) < _LARGEST_INTEGER else None


def scalars(attributes: Any, allowed: frozenset[str]) -> dict[str, Scalar]:
    """Return the allowed attributes; of a list of texts the first, of anything else only that it is there."""
    found: dict[str, Scalar] = {}
    if not isinstance(attributes, list):
        return found
    for attribute in attributes:
        if not isinstance(attribute, dict):
            continue
        key = attribute.get("key")
        if isinstance(key, str) and key in allowed:
            held = attribute.get("value")
            number = held.get("doubleValue") if type(held) is dict else None
            value = number if type(number) is float else _scalar(held)  # most are plain numbers
            if value is not None:
                found[key] = value
    return found


def _scalar(value: Any) -> Scalar | None:
    """Return what an AnyValue holds, None where it is empty."""
    if value is None:
        return None
    if not isinstance(value, dict):
        return UNREADABLE
    for name, held in value.items():
        if held is not None:
            reader = _READERS.get(name)
            return UNREADABLE if reader is None else reader(held)
    return None


def _double(held: Any) -> Scalar:
    if isinstance(held, bool) or not isinstance(held, int | float | str):
        return UNREADABLE
    try:
        return float(held)
    except (ValueError, OverflowError):
        return UNREADABLE


def _whole(held: Any) -> Scalar:
    number = _integer(held)
    return UNREADABLE if number is None else number


def _string(held: Any) -> Scalar:
    return held if isinstance(held, str) else UNREADABLE


def _boolean(held: Any) -> Scalar:
    return held if isinstance(held, bool) else UNREADABLE


def _first(held: Any) -> Scalar:
    values = held.get("values") if isinstance(held, dict) else None
    first = _scalar(values[0]) if isinstance(values, list) and values else None
    return first if isinstance(first, str) else ""


_READERS = {
    "stringValue": _string,
    "string_value": _string,
    "doubleValue": _double,
    "double_value": _double,
    "intValue": _whole,
    "int_value": _whole,
    "boolValue": _boolean,
    "bool_value": _boolean,
    "arrayValue": _first,
    "array_value": _first,
}
