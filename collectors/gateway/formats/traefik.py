"""Own Traefik's access log, as JSON (durations in nanoseconds) and in its Common Log Format.

The Common Log Format has the start to the second and the duration cut to milliseconds: the end is that start plus
the duration, and of what the cut leaves open the upper bound counts (12ms may have been 12.9: 13 ms).
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from collectors.gateway.formats.format import GatewayFormat, UnreadableLine
from collectors.gateway.formats.measured import (
    end_of,
    header,
    mapping,
    said_once,
    streamed,
    traceparent_of,
    tries,
    whole_number,
)
from collectors.gateway.formats.times import us_of_iso, us_of_log_time
from collectors.gateway.formats.values import (
    MILLISECONDS,
    is_absent,
    json_object,
    path_of,
    plain,
    seconds_in,
    seconds_or_nothing,
    text_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from collectors.gateway.formats.format import Fields

_NS_PER_US = 1_000
_KEYS = (b'"DownstreamStatus"', b'"Duration"')
_USUAL_START = re.compile(rb'"StartUTC": ?"([0-9T:.-]{10,40}Z)"')
_USUAL_DURATION = re.compile(rb'"Duration": ?(\d{1,18})[,}]')
_REQUEST = re.compile(
    r'\[(\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4})\] "(\S+) (\S+) \S+" (\d{1,3}|-) (\d+|-) ',
    re.ASCII,
)
_END = re.compile(r' ("[^"]*"|-) ("[^"]*"|-) (\d{1,18})ms\Z', re.ASCII)
_RECOGNISED = re.compile(
    rb'[^\[]{1,300}\[\d\d/[A-Z][a-z]{2}/\d{4}:[\d:]{8} [+-]\d{4}\] ".*" (?:\d{3}|-) .* (?:"[^"]*"|-) (?:"[^"]*"|-) \d+ms$',
)


class TraefikJson(GatewayFormat):
    """One line of ``accessLog.format: json``."""

    name = "traefik-json"
    title = "Traefik's JSON"

    def recognise(self, line: bytes) -> str | None:
        """Recognise keys that only Traefik writes."""
        found = line.lstrip().startswith(b"{") and all(key in line for key in _KEYS)
        return "it has the keys DownstreamStatus and Duration" if found else None

    def ended_us(self, line: bytes) -> int | None:
        """Return start and duration together, without reading the rest."""
        started = said_once(line, b'"StartUTC":', _USUAL_START)
        duration = said_once(line, b'"Duration":', _USUAL_DURATION)
        started_us = us_of_iso(started[1].decode()) if started else None
        if started_us is None or duration is None:
            return super().ended_us(line)
        return started_us + int(duration[1]) // _NS_PER_US

    def read(self, line: bytes) -> Fields:
        """Return what the line says; raises `UnreadableLine`."""
        said = json_object(line)
        started = plain(said.get("StartUTC")) or plain(said.get("StartLocal"))
        if not started:
            raise UnreadableLine("StartUTC: absent")
        started_us = us_of_iso(started)
        if started_us is None:
            raise UnreadableLine("StartUTC: not an instant")
        duration = _seconds_of_ns(plain(said.get("Duration")))
        if not duration:
            raise UnreadableLine("Duration: not a number of nanoseconds")
        status = plain(said.get("DownstreamStatus")) or plain(said.get("OriginStatus"))
        fields = {
            "time": end_of(started_us, duration, field="Duration"),
            "request_time": duration,
            "status": status,
            "method": plain(said.get("RequestMethod")),
            "uri": plain(said.get("RequestPath")),
            "server": plain(said.get("RouterName")),
            "upstream_addr": tries(_address(said), whole_number(plain(said.get("RetryAttempts")))),
            "bytes_sent": plain(said.get("DownstreamContentSize")),
            "request_length": plain(said.get("RequestContentSize")),
            "client_subject": plain(said.get("TLSClientSubject")),
            "stream": streamed(status, plain(said.get("downstream_Content-Type"))),
        }
        origin = _seconds_of_ns(plain(said.get("OriginDuration")))
        if origin and fields["upstream_addr"]:
            fields["upstream_response_time"] = origin
        fields |= _identity(said)
        return {key: value for key, value in fields.items() if not is_absent(value)}


class TraefikClf(GatewayFormat):
    """One line of Traefik's Common Log Format, which ends in its duration: ``12ms``."""

    name = "traefik-clf"
    title = "Traefik's Common Log Format"

    def recognise(self, line: bytes) -> str | None:
        """Recognise a common log's line that ends in two quoted names and milliseconds."""
        found = len(line) < 1 << 16 and _RECOGNISED.match(line) is not None
        return "its common log lines end in a router, a server and milliseconds" if found else None

    def read(self, line: bytes) -> Fields:
        """Return what the line says; raises `UnreadableLine`."""
        text = text_of(line).rstrip()
        found = list(islice(_REQUEST.finditer(text), 2))
        if not found:
            raise UnreadableLine("request: no time in brackets, request line and status")
        if (
            len(found) > 1
        ):  # a forwarded address or an agent that looks like a log line, so that it may be taken for one
            raise UnreadableLine("request: twice in one line")
        started, method, target, status, size = found[0].groups()
        started_us = us_of_log_time(started)
        if started_us is None:
            raise UnreadableLine("start: not an instant")
        end = _END.search(text, found[0].end() - 1)
        if end is None:
            raise UnreadableLine("duration: the line does not end in milliseconds")
        if status == "-":
            raise UnreadableLine("status: absent (Traefik answered itself; its JSON says what)")
        router, server, milliseconds = end.groups()
        duration = seconds_in(str(int(milliseconds) + 1), unit_us=MILLISECONDS, field="duration")
        return {
            "time": end_of(started_us, duration, field="duration"),
            "request_time": duration,
            "status": status,
            "method": method,
            "uri": path_of(target),
            "server": router.strip('"'),
            "upstream_addr": _host(server.strip('"')),
            "bytes_sent": size,
        }


def _seconds_of_ns(text: str) -> str:
    if (
        is_absent(text)
        or not text.removeprefix("-").isdigit()
        or not text.isascii()
        or len(text) > len("-1" + "0" * 18)
    ):
        return ""
    return seconds_or_nothing(str(int(text) // _NS_PER_US), unit_us=1)


def _address(said: Mapping[str, Any]) -> str:
    url = said.get("ServiceURL")
    return plain(said.get("ServiceAddr")) or plain(mapping(url).get("Host")) or _host(plain(url))


def _host(url: str) -> str:
    try:
        return urlsplit(url).netloc.rpartition("@")[2]
    except ValueError:  # a bracket that is no IPv6 address
        return ""


def _identity(said: Mapping[str, Any]) -> Fields:
    """Return ids and tenant: what Traefik sent on where it says so, else what the client sent."""
    trace = plain(said.get("trace_id")) or plain(said.get("TraceId"))
    span = plain(said.get("span_id")) or plain(said.get("SpanId"))
    return {
        "request_id": header(said, "downstream_x-request-id") or header(said, "request_x-request-id"),
        "traceparent": traceparent_of(trace, span) or header(said, "request_traceparent"),
        "tenant": header(said, "request_x-tenant"),
    }


JSON_FORMAT = TraefikJson()
CLF_FORMAT = TraefikClf()
