"""Own which requests a file of OTLP holds: told apart by content, never by name.

Read are one request in JSON, requests in JSON line by line (the OpenTelemetry Collector's file exporter), one
request in protobuf, and the Collector's own protobuf files (each request after its length in four bytes).
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from collectors.byte_streams import Truncated
from collectors.lines import LineSplitter
from collectors.otlp.engine_lines import EngineLines, bad_line
from collectors.otlp.json_logs import decode_any_json
from collectors.otlp.problems import MalformedRequest, OversizedRequest
from collectors.otlp.protobuf_logs import decode_any_protobuf

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LARGEST_REQUEST_BYTES = 256 << 20
_BLANKS = b"\xef\xbb\xbf \t\r\n"
_PROTOBUF_STARTS = (b"\n", b"\0")  # the tag of resource_spans, which is also a newline; a length
_PREFIX_BYTES = 4
_BAD_LINE = EngineLines(lines=(bad_line("not a trace or log request in OTLP's JSON"),), ends_ns=(), ignored=0)


def requests_in(chunks: Iterable[bytes]) -> Iterator[EngineLines]:
    """Yield each request; a line of JSON that is none is a bad line of its own.

    Raises `MalformedRequest` or `OversizedRequest` for a file that is no OTLP at all, and `Truncated` as the
    chunks do, after what came before it.
    """
    remaining = iter(chunks)
    head = b""
    for chunk in remaining:
        head += chunk
        if head.strip(_BLANKS):
            break
    if _is_json(head) and not head.startswith(_PROTOBUF_STARTS):
        yield from _json_requests(chain([head], remaining))
    elif head.strip(_BLANKS):
        yield from _whole(_all_of(chain([head], remaining)))


def _is_json(text: bytes) -> bool:
    """Return whether some line begins an object; the first may be cut off by a rotation."""
    return text.lstrip(_BLANKS).startswith(b"{") or b'\n{"' in text


def _json_requests(chunks: Iterable[bytes]) -> Iterator[EngineLines]:
    lines = (line for line in _lines(chunks) if line.strip())
    first = next(lines, None)
    if first is None:
        return
    try:
        yield decode_any_json(first)
    except MalformedRequest as problem:
        yield from _document_or_lines(first, lines, problem)
    for line in lines:
        yield _decoded(line)


def _document_or_lines(
    first: bytes, lines: Iterator[bytes], problem: MalformedRequest
) -> Iterator[EngineLines]:
    """Read one request over several lines or, where that is none, lines of which the first is damaged."""
    held = [first]
    size = len(first)
    broken: Truncated | None = None
    try:
        for line in lines:
            held.append(line)
            size += len(line)
            if size > LARGEST_REQUEST_BYTES:
                break
    except Truncated as truncated:
        broken = truncated
    if len(held) == 1 and broken is None:
        raise problem
    try:
        yield decode_any_json(b"\n".join(held))
    except MalformedRequest:
        yield from map(_decoded, held)
    if broken is not None:
        raise broken


def _lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    splitter = LineSplitter(LARGEST_REQUEST_BYTES)
    for chunk in chunks:
        yield from splitter.feed(chunk)
    yield from splitter.finish()


def _decoded(line: bytes) -> EngineLines:
    try:
        return decode_any_json(line)
    except MalformedRequest:
        return _BAD_LINE


def _whole(body: bytes) -> Iterator[EngineLines]:
    """Read a body that is protobuf, or JSON after empty lines."""
    try:
        yield decode_any_protobuf(body)
    except MalformedRequest:
        if _is_json(body):
            yield from _json_requests([body])
            return
        requests = _prefixed(body)
        if not requests:
            raise
        yield from map(decode_any_protobuf, requests)


def _prefixed(body: bytes) -> list[bytes]:
    """Take apart requests of which each follows its length; none if the lengths do not add up."""
    requests = []
    position = 0
    while position < len(body):
        start = position + _PREFIX_BYTES
        position = start + int.from_bytes(body[position:start])
        requests.append(body[start:position])
    return requests if position == len(body) else []


def _all_of(chunks: Iterable[bytes]) -> bytes:
    held = []
    size = 0
    for chunk in chunks:
        held.append(chunk)
        size += len(chunk)
        if size > LARGEST_REQUEST_BYTES:
            raise OversizedRequest(
                f"larger than {LARGEST_REQUEST_BYTES >> 20} MiB, and not JSON line by line"
            )
    return b"".join(held)
