"""Own APISIX's JSON: the log object of its logging plugins, and the access log of the shipped format, with its AI fields.

Both are in milliseconds where APISIX counts itself (``latency``, ``llm_time_to_first_token``) and in seconds where
nginx does (``request_time``). Bodies, queries and headers other than the named ones are not read. APISIX writes 0
where it knows no tokens and no first token, so 0 is "not known". Its time to first token begins when the request
leaves for the model: what the request waited before that is added, and without it there is none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from collectors.gateway.formats.format import GatewayFormat, UnreadableLine
from collectors.gateway.formats.measured import (
    count_or_nothing,
    end_of,
    header,
    mapping,
    only_one,
    streamed,
    sum_of,
)
from collectors.gateway.formats.times import duration_text, seconds_text, us_of_seconds
from collectors.gateway.formats.values import (
    MILLISECONDS,
    SECONDS,
    bearer_key,
    is_absent,
    json_object,
    plain,
    seconds_in,
    seconds_or_nothing,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from collectors.gateway.formats.format import Fields

_OBJECT = (b'"apisix_latency"', b'"start_time"')
_FLAT = (b'"llm_time_to_first_token"', b'"msec"')
_STREAM = {"ai_stream": "true", "ai_chat": "false"}
_AS_THEY_ARE = (
    "status", "request_id", "traceparent", "tenant", "method", "uri", "server", "request_completion", "limit_req_status",
    "limit_conn_status", "upstream_addr", "upstream_status", "upstream_response_time", "request_length", "bytes_sent",
)  # fmt: skip


class ApisixJson(GatewayFormat):
    """One request of an APISIX logging plugin, or of the shipped access log."""

    name = "apisix-json"
    title = "APISIX's JSON"

    def recognise(self, line: bytes) -> str | None:
        """Recognise keys that only APISIX writes."""
        if not line.lstrip().startswith((b"{", b"[{")):
            return None
        if all(key in line for key in _OBJECT):
            return "it has the keys apisix_latency and start_time"
        return (
            "it has the keys llm_time_to_first_token and msec" if all(key in line for key in _FLAT) else None
        )

    def read(self, line: bytes) -> Fields:
        """Return what the line says; raises `UnreadableLine`."""
        said = json_object(only_one(line))
        fields = _of_access_log(said) if "msec" in said else _of_plugin(said)
        return {
            key: value for key, value in fields.items() if not is_absent(value) or key == "request_completion"
        }


def _of_access_log(said: Mapping[str, Any]) -> Fields:
    ended = us_of_seconds(plain(said["msec"]))
    if ended is None:
        raise UnreadableLine("msec: not a number of seconds")
    fields = {key: plain(said[key]) for key in _AS_THEY_ARE if key in said}
    fields["time"] = seconds_text(ended)
    fields["request_time"] = seconds_in(
        plain(said.get("request_time")), unit_us=SECONDS, field="request_time"
    )
    if is_absent(fields.get("tenant", "")):
        fields["tenant"] = plain(said.get("consumer_name"))
    return fields | _model(said, fields, prefix="llm_")


def _of_plugin(said: Mapping[str, Any]) -> Fields:
    started = us_of_seconds(duration_text(plain(said.get("start_time")), unit_us=MILLISECONDS) or "")
    if started is None:
        raise UnreadableLine("start_time: not a number of milliseconds")
    duration = seconds_in(plain(said.get("latency")), unit_us=MILLISECONDS, field="latency")
    request, answer = mapping(said.get("request")), mapping(said.get("response"))
    sent, status = mapping(request.get("headers")), plain(answer.get("status"))
    fields = {
        "time": end_of(started, duration, field="latency"),
        "request_time": duration,
        "status": status,
        "method": plain(request.get("method")),
        "uri": plain(request.get("uri")),
        "server": plain(said.get("route_id")),
        "upstream_addr": plain(said.get("upstream")),
        "upstream_response_time": seconds_or_nothing(
            plain(said.get("upstream_latency")), unit_us=MILLISECONDS
        ),
        "request_length": plain(request.get("size")),
        "bytes_sent": plain(answer.get("size")),
        "request_id": header(sent, "x-request-id"),
        "traceparent": header(sent, "traceparent"),
        "tenant": plain(mapping(said.get("consumer")).get("username")) or header(sent, "x-tenant"),
        "api_key": bearer_key(header(sent, "authorization")),
        "stream": streamed(status, header(mapping(answer.get("headers")), "content-type")),
    }
    return fields | _model(mapping(said.get("llm_summary")), fields, prefix="")


def _model(said: Mapping[str, Any], fields: Fields, *, prefix: str) -> Fields:
    """Return what ai-proxy says, in its log variables (``llm_…``) or its summary; never a prompt or an answer."""
    first_name = "llm_time_to_first_token" if prefix else "duration"
    upstream_name = "apisix_upstream_response_time" if prefix else "upstream_response_time"
    known = {
        "model": plain(said.get(f"{prefix}model"))
        or plain(said.get("request_llm_model" if prefix else "request_model")),
        "prompt_tokens": count_or_nothing(plain(said.get(f"{prefix}prompt_tokens"))),
        "completion_tokens": count_or_nothing(plain(said.get(f"{prefix}completion_tokens"))),
        "cached_tokens": count_or_nothing(plain(said.get(f"{prefix}cache_read_input_tokens"))),
    }
    if stream := _STREAM.get(plain(said.get("request_type")), "") or plain(said.get("stream")):
        known["stream"] = stream
    took = plain(said.get(upstream_name))
    if "." in took:  # nginx's own $upstream_response_time, in seconds, of a request that is no model's
        known["upstream_response_time"] = fields.get("upstream_response_time") or took
        return known
    in_model = us_of_seconds(seconds_or_nothing(took, unit_us=MILLISECONDS))
    whole = us_of_seconds(fields["request_time"])
    if in_model and whole is not None and whole >= in_model:
        known["forwarded"] = seconds_text(whole - in_model)
        first = seconds_or_nothing(plain(said.get(first_name)), unit_us=MILLISECONDS)
        if us_of_seconds(first) and known.get("stream", fields.get("stream")) != "false":
            known["time_to_first_token"] = sum_of(known["forwarded"], first)
    return known


FORMAT = ApisixJson()
