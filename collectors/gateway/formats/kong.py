"""Own Kong's log object, as file-log, http-log and the other logging plugins write it: milliseconds, and its AI statistics.

Bodies (``ai.*.payload``), queries and headers other than the named ones are not read. Kong writes 0 tokens where it
counted none, so 0 is "not known". Its time to first token begins when the request leaves for the model: what the
request waited in Kong before that is added, and without it there is none.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from collectors.gateway.formats.format import GatewayFormat, UnreadableLine
from collectors.gateway.formats.measured import (
    count_or_nothing,
    end_of,
    header,
    mapping,
    only_one,
    said_once,
    streamed,
    sum_of,
    traceparent_of,
)
from collectors.gateway.formats.times import duration_text, us_of_seconds
from collectors.gateway.formats.values import (
    MILLISECONDS,
    bearer_key,
    is_absent,
    json_object,
    path_of,
    plain,
    seconds_in,
    seconds_or_nothing,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from collectors.gateway.formats.format import Fields

_KEYS = (b'"latencies"', b'"started_at"', b'"request"')
_USUAL_START = re.compile(rb'"started_at": ?(\d{13})[,}]')
_USUAL_LATENCY = re.compile(rb'"latencies": ?\{(?:"[a-z_]+": ?-?\d+, ?)*?"request": ?(\d{1,12})[,}]')
_NO_MODEL = "UNSPECIFIED"
_STREAM = {"stream": "true", "oneshot": "false"}


class KongJson(GatewayFormat):
    """One request of a Kong logging plugin."""

    name = "kong-json"
    title = "Kong's JSON"

    def recognise(self, line: bytes) -> str | None:
        """Recognise keys that only Kong writes."""
        found = line.lstrip().startswith((b"{", b"[{")) and all(key in line for key in _KEYS)
        return "it has the keys latencies and started_at" if found else None

    def ended_us(self, line: bytes) -> int | None:
        """Return start and latency together, without reading the rest."""
        started = said_once(line, b'"started_at":', _USUAL_START)
        latency = said_once(line, b'"latencies":', _USUAL_LATENCY)
        if started is None or latency is None or line.startswith(b"["):
            return super().ended_us(line)
        return (int(started[1]) + int(latency[1])) * MILLISECONDS

    def read(self, line: bytes) -> Fields:
        """Return what the line says; raises `UnreadableLine`."""
        said = json_object(only_one(line))
        started = _started(said)
        request, answer = mapping(said.get("request")), mapping(said.get("response"))
        latency = plain(mapping(said.get("latencies")).get("request"))
        duration = seconds_in(latency, unit_us=MILLISECONDS, field="latencies.request")
        status = plain(answer.get("status"))
        tries = said.get("tries")
        each = [mapping(one) for one in tries] if isinstance(tries, list) else []
        sent, got = mapping(request.get("headers")), mapping(answer.get("headers"))
        fields = {
            "time": end_of(started, duration, field="latencies.request"),
            "request_time": duration,
            "status": status,
            "method": plain(request.get("method")),
            "uri": path_of(plain(request.get("uri"))),
            "server": plain(mapping(said.get("route")).get("name"))
            or plain(mapping(said.get("service")).get("name")),
            "upstream_addr": ", ".join(_address(one) for one in each),
            "upstream_status": plain(said.get("upstream_status")),
            "forwarded": _forwarded(started, each),
            "request_length": plain(request.get("size")),
            "bytes_sent": plain(answer.get("size")),
            "request_id": header(sent, "x-request-id") or plain(request.get("id")),
            "traceparent": _traceparent(said, sent),
            "tenant": _consumer(said) or header(sent, "x-tenant"),
            "api_key": bearer_key(header(sent, "authorization")),
            "stream": streamed(status, header(got, "content-type")),
        }
        fields |= _model(mapping(said.get("ai")), fields)
        return {key: value for key, value in fields.items() if not is_absent(value)}


def _started(said: Mapping[str, Any]) -> int:
    text = plain(said.get("started_at"))
    if is_absent(text):
        raise UnreadableLine("started_at: absent")
    us = us_of_seconds(duration_text(text, unit_us=MILLISECONDS) or "")
    if us is None:
        raise UnreadableLine("started_at: not a number of milliseconds")
    return us


def _forwarded(started_us: int, tries: list[Mapping[str, Any]]) -> str:
    """Return how long the request was in Kong before its last try began: two instants of the same clock."""
    begun = plain(tries[-1].get("balancer_start")) if tries else ""
    us = us_of_seconds(seconds_or_nothing(begun, unit_us=MILLISECONDS))
    if us is None or us < started_us:
        return ""
    return duration_text(str(us - started_us), unit_us=1) or ""


def _address(one: Mapping[str, Any]) -> str:
    ip, port = plain(one.get("ip")), plain(one.get("port"))
    if not ip:
        return "-"
    return f"[{ip}]:{port}" if ":" in ip else f"{ip}:{port}"


def _traceparent(said: Mapping[str, Any], sent: Mapping[str, Any]) -> str:
    return header(sent, "traceparent") or traceparent_of(plain(mapping(said.get("trace_id")).get("w3c")))


def _consumer(said: Mapping[str, Any]) -> str:
    consumer = mapping(said.get("consumer"))
    return plain(consumer.get("username")) or plain(consumer.get("custom_id"))


def _model(ai: Mapping[str, Any], fields: Fields) -> Fields:
    """Return what the AI plugins say: of ``ai.proxy`` or the first plugin that knows a model; never a payload."""
    plugins = [mapping(ai.get("proxy")), *(mapping(value) for value in ai.values())]
    said = next((each for each in plugins if "meta" in each), {})
    meta, usage = mapping(said.get("meta")), mapping(said.get("usage"))
    model = plain(meta.get("request_model"))
    known = {
        "model": plain(meta.get("response_model")) if model in ("", _NO_MODEL) else model,
        "prompt_tokens": count_or_nothing(plain(usage.get("prompt_tokens", usage.get("prompt_token")))),
        "completion_tokens": count_or_nothing(
            plain(usage.get("completion_tokens", usage.get("completion_token")))
        ),
    }
    known["stream"] = _STREAM.get(plain(meta.get("request_mode")), "") or fields["stream"]
    first = seconds_or_nothing(plain(usage.get("time_to_first_token")), unit_us=MILLISECONDS)
    if us_of_seconds(first) and known["stream"] != "false":
        known["time_to_first_token"] = sum_of(fields["forwarded"], first)
    return known


FORMAT = KongJson()
