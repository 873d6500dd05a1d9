"""Own what a sender is told, in the encoding in which it asked.

See https://opentelemetry.io/docs/specs/otlp/#otlphttp-response.
"""

from __future__ import annotations

import json
from enum import IntEnum, StrEnum

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from fairclock.errors import FairclockError, SpoolFull

RETRY_AFTER_SECONDS = 5
_RETRY_INFO = b"type.googleapis.com/google.rpc.RetryInfo"
_DEAD_LETTERS = "what has no possible timings was set aside; the reasons are in Fairclock's dead_letters"


class ContentType(StrEnum):
    """The two encodings of OTLP over HTTP."""

    PROTOBUF = "application/x-protobuf"
    JSON = "application/json"


class Signal(StrEnum):
    """What is received, by what a partial success calls it in JSON; in protobuf the answers are the same bytes."""

    TRACES = "rejectedSpans"
    LOGS = "rejectedLogRecords"


class Code(IntEnum):
    """The codes of google.rpc.Code that are answered here."""

    INVALID_ARGUMENT = 3
    RESOURCE_EXHAUSTED = 8
    UNIMPLEMENTED = 12
    UNAVAILABLE = 14


def success(content_type: ContentType, *, rejected: int, signal: Signal = Signal.TRACES) -> bytes:
    """Return an Export…ServiceResponse; with `rejected` spans or log records it is a partial success."""
    if content_type is ContentType.JSON:
        partial = {"partialSuccess": {signal.value: str(rejected), "errorMessage": _DEAD_LETTERS}}
        return json.dumps(partial if rejected else {}).encode()
    response = ExportTraceServiceResponse()
    if rejected:
        response.partial_success.rejected_spans = rejected
        response.partial_success.error_message = _DEAD_LETTERS
    return response.SerializeToString()


def code_of(error: FairclockError) -> Code:
    """Return the code for an `error` that sending again may overcome."""
    return Code.RESOURCE_EXHAUSTED if isinstance(error, SpoolFull) else Code.UNAVAILABLE


def failure(
    content_type: ContentType, code: Code, message: str, *, retry_after_seconds: int | None = None
) -> bytes:
    """Return a google.rpc.Status; in protobuf it says, as google.rpc.RetryInfo, when to send again."""
    if content_type is ContentType.JSON:
        return json.dumps({"code": int(code), "message": message}, ensure_ascii=False).encode()
    # Status {int32 code = 1; string message = 2; repeated Any details = 3}: not worth a package of their own.
    status = bytes([0x08, code]) + _field(2, message.encode())
    if retry_after_seconds is not None:
        duration = b"\x08" + _varint(retry_after_seconds)  # Duration {int64 seconds = 1}
        retry_info = _field(1, duration)  # RetryInfo {Duration retry_delay = 1}
        status += _field(3, _field(1, _RETRY_INFO) + _field(2, retry_info))
    return status


def _field(number: int, value: bytes) -> bytes:
    """Return a length-delimited field of protobuf."""
    return bytes([number << 3 | 2]) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    encoded = bytearray()
    while value > 0x7F:  # noqa: PLR2004 - seven bits a byte
        encoded.append(0x80 | value & 0x7F)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)
