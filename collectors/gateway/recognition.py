"""Own what to say about a log that is none of the formats read here."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from collectors.gateway.formats import FORMATS, UnreadableLine
from collectors.lines import shape_of

if TYPE_CHECKING:
    from collectors.gateway.formats import GatewayFormat

_SNIPPET = "write the log with the log_format that Fairclock ships (collectors/gateway/nginx)"
_TEXT_CONTROLS = frozenset(b"\t\n\r\x1b")
_KINDS: tuple[tuple[re.Pattern[bytes], str, str], ...] = (
    (re.compile(rb'\s*\{.*"resource_?[sS]pans"'), "OTLP spans", "use: fairclock ingest otlp"),
    (
        re.compile(rb'\s*\{(?=.*"time")(?=.*"request_time")(?=.*"status")'),
        "JSON whose time, request_time or status is no number",
        "log $msec, $request_time and $status",
    ),
    (re.compile(rb"\s*\{"), "JSON without the keys time, request_time and status", _SNIPPET),
    (
        re.compile(rb'\S+ \S+ \S+ \[\d{1,2}/\w{3}/\d{4}:[\d:]+ [+-]\d{4}\] "'),
        "nginx's combined (or Apache's) format",
        _SNIPPET,
    ),
    (
        re.compile(rb'\[\d{4}-\d\d-\d\dT\S+Z?\] "'),
        "Envoy's text in a format of your own",
        "log Envoy's or Istio's default text, or JSON (docs/gateways.md)",
    ),
    (
        re.compile(rb".*haproxy\[\d+\]: "),
        "HAProxy's log, but not option httplog's",
        "log with option httplog",
    ),
    (
        re.compile(rb"\d{4}/\d\d/\d\d \d\d:\d\d:\d\d \[\w+\] \d+#\d+: "),
        "nginx's error log",
        "name the access log",
    ),
    (re.compile(rb"<\d{1,3}>"), "syslog", "give the lines without the syslog header"),
    (re.compile(rb"# HELP |# TYPE "), "Prometheus metrics", "name the gateway's log"),
    (re.compile(rb"[^{]*,[^{]*,"), "comma-separated values", _SNIPPET),
)


def recognised(line: bytes) -> tuple[str, str]:
    """Return what `line` looks like, and what to do; shows none of its content but its shape."""
    control = sum(byte < 0x20 and byte not in _TEXT_CONTROLS for byte in line)  # noqa: PLR2004 - the first printable
    if control * 20 > len(line) or (control and not _is_text(line)):
        return "looks like a binary file", "name the gateway's log"
    for form in FORMATS.values():
        if form.recognise(line) is not None and _reads(form, line):
            return f"looks like {form.title}", f"name it: --format {form.name}, or leave it to auto"
    for pattern, name, remedy in _KINDS:
        if pattern.match(line):
            return f"looks like {name}", remedy
    return f"lines such as {shape_of(line)}", _SNIPPET


def _reads(form: GatewayFormat, line: bytes) -> bool:
    if form.passes_through:
        return False
    try:
        form.read(line)
    except UnreadableLine:
        return False
    return True


def _is_text(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True
