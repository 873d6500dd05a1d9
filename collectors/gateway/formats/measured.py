"""Own what several readers make of what a gateway measured: an end of a start, a list of tries of a count, a stream of a type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from collectors.gateway.formats.format import UnreadableLine
from collectors.gateway.formats.times import seconds_text, us_of_seconds
from collectors.gateway.formats.values import is_absent, json_object, plain

if TYPE_CHECKING:
    import re
    from collections.abc import Mapping

_MOST_TRIES = 255
_REDACTED = "REDACTED"
NO_PARENT = "0000000000000001"
"""The span id of a traceparent of which only the trace is known."""


def end_of(start_us: int, seconds: str, *, field: str) -> str:
    """Return when what began at `start_us` ended `seconds` later; raises `UnreadableLine` where they are negative."""
    us = us_of_seconds(seconds)
    if us is None:
        raise UnreadableLine(f"{field}: negative")
    return seconds_text(start_us + us)


def said_once(line: bytes, key: bytes, value: re.Pattern[bytes]) -> re.Match[bytes] | None:
    """Return where a JSON line says `value` of `key`, without parsing it; None where that takes parsing it.

    A key between unescaped quotes is none of a text that a client sent: quotes in there are escaped.
    """
    return value.search(line) if line.count(key) == 1 else None


def sum_of(*seconds: str) -> str:
    """Return durations added up, or an empty text where one of them is not known."""
    each = [us_of_seconds(text) for text in seconds]
    known = [us for us in each if us is not None]
    return seconds_text(sum(known)) if len(known) == len(each) else ""


def tries(last: str, retries: int) -> str:
    """Return the list of addresses as nginx writes it, where only the last and the number before it are known."""
    if retries <= 0:
        return last
    return ", ".join(["-"] * min(retries, _MOST_TRIES - 1) + [last or "-"])


def whole_number(value: str) -> int:
    """Return a count, or 0 where `value` is none."""
    return int(value) if value.isascii() and value.isdigit() and len(value) < len("10000000000") else 0


def count_or_nothing(value: str) -> str:
    """Return a count of tokens; gateways that write 0 for "not known" leave no difference: 0 is absent."""
    return value if whole_number(value) else ""


def mapping(value: object) -> Mapping[str, Any]:
    """Return a JSON object, or an empty one where `value` is none."""
    return value if isinstance(value, dict) else {}


def header(headers: Mapping[str, Any], name: str) -> str:
    """Return the header `name` (in lower case), whatever its case in `headers`; the first of several, no redacted one."""
    value = headers.get(name)
    if value is None:
        value = next((each for key, each in headers.items() if key.lower() == name), None)
    if isinstance(value, list):
        value = value[0] if value else None
    text = plain(value)
    return "" if text == _REDACTED else text


def streamed(status: str, content_type: str) -> str:
    """Return whether the answer was a stream, where its type says so; an error's type says nothing about it."""
    if status != "200" or is_absent(content_type):
        return ""
    kind = content_type.partition(";")[0].strip().lower()
    return {"text/event-stream": "true", "application/json": "false"}.get(kind, "")


def traceparent_of(trace_id: str, span_id: str = "") -> str:
    """Return the traceparent of a trace's and a span's id, or an empty text where there is no trace."""
    if is_absent(trace_id):
        return ""
    return f"00-{trace_id.lower()}-{span_id.lower() or NO_PARENT}-01"


def only_one(line: bytes) -> bytes:
    """Return the one object of a batch of one, ``[{…}]``; raises `UnreadableLine` for a batch of several.

    A batch of several requests in one line cannot be counted as lines: it is to be written one a line.
    """
    stripped = line.strip()
    if not stripped.startswith(b"["):
        return line
    inner = stripped[1:-1].strip() if stripped.endswith(b"]") else b""
    try:
        json_object(inner)
    except UnreadableLine as error:
        raise UnreadableLine(
            "a batch of several requests in one line: set the batch to 1, or split it"
        ) from error
    return inner
