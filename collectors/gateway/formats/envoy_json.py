"""Own Envoy's JSON logs: the keys that Istio, Envoy Gateway and Contour write by default, and their usual variants."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from collectors.gateway.formats.envoy_request import flagged, forwarded_seconds, sent_on, timed
from collectors.gateway.formats.format import GatewayFormat, UnreadableLine
from collectors.gateway.formats.times import us_of_seconds
from collectors.gateway.formats.values import bearer_key, is_absent, json_object, path_of, plain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from collectors.gateway.formats.format import Fields

_START = ("start_time", "startTime", "@timestamp", "timestamp")
_STATUS = ("response_code", "responseCode", "status")
_FLAGS = ("response_flags", "responseFlags", "response_flags_long")
_SERVICE = ("upstream_service_time", "x-envoy-upstream-service-time", "x_envoy_upstream_service_time")
_PATH = ("x-envoy-original-path", "x-envoy-origin-path", "original_path", "path", ":path")
_AUTHORIZATION = ("authorization", "Authorization")
_SAME = (
    "model", "region", "stream", "prompt_tokens", "cached_tokens", "completion_tokens", "finish_reason", "incomplete",
    "substituted", "inference_mode", "model_version", "priority", "simulated", "api_key", "api_key_sha256",
)  # fmt: skip
_OTHERS: tuple[tuple[str, tuple[str, ...]], ...] = (
    *((key, (key,)) for key in _SAME),
    ("method", ("method", ":method")),
    ("request_id", ("request_id", "x-request-id", "x_request_id", "requestId")),
    ("traceparent", ("traceparent",)),
    ("tenant", ("tenant", "x-tenant", "x_tenant")),
    ("server", ("authority", ":authority")),
    ("request_length", ("bytes_received", "bytesReceived")),
    ("bytes_sent", ("bytes_sent", "bytesSent")),
    ("x_request_start", ("x-request-start", "x_request_start")),
    ("client_subject", ("downstream_peer_subject", "client_subject")),
)  # fmt: skip


class EnvoyJson(GatewayFormat):
    """JSON with one key a command operator."""

    name = "envoy-json"
    title = "Envoy's JSON"

    def recognise(self, line: bytes) -> str | None:
        """Recognise a response code, its flags and a duration."""
        needed = (b'"response_code', b'"response_flags', b'"duration"')
        if line.lstrip().startswith(b"{") and all(key in line for key in needed):
            return "it has the keys response_code, response_flags and duration"
        return None

    def ended_us(self, line: bytes) -> int | None:
        """Return start and duration together."""
        try:
            found = json_object(line)
            return us_of_seconds(timed(_first(found, _START), plain(found.get("duration")))["time"])
        except UnreadableLine:
            return None

    def read(self, line: bytes) -> Fields:
        """Return what the keys say."""
        found = json_object(line)
        fields = timed(_first(found, _START), plain(found.get("duration")))
        service = _first(found, _SERVICE)
        for key, names in _OTHERS:
            value = _first(found, names)
            if not is_absent(value):
                fields[key] = value
        path = _first(found, _PATH)
        if not is_absent(path):
            fields["uri"] = path_of(path)
        fields |= flagged(_first(found, _STATUS), _first(found, _FLAGS))
        fields |= sent_on(
            plain(found.get("upstream_host")), service, plain(found.get("upstream_request_attempt_count"))
        )
        forwarded = forwarded_seconds(
            plain(found.get("response_duration")), service, plain(found.get("request_tx_duration"))
        )
        if forwarded:
            fields["forwarded"] = forwarded
        key = bearer_key(_first(found, _AUTHORIZATION))
        if key:
            fields["api_key"] = key
        return fields


def _first(found: Mapping[str, Any], names: tuple[str, ...]) -> str:
    for name in names:
        value = plain(found.get(name)) if name in found else ""
        if not is_absent(value):
            return value
    return ""


FORMAT = EnvoyJson()
