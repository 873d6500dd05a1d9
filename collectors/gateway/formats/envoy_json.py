"""Own Envoy's JSON logs: the keys that Istio, Envoy Gateway and Contour write by default, and their usual variants."""

from __future__ import annotations

from typing import TYPE_CHECKING

from collectors.gateway.formats.envoy_request import flagged, forwarded_seconds, sent_on, timed
from collectors.gateway.formats.format import GatewayFormat, UnreadableLine
from collectors.gateway.formats.times import us_of_seconds
from collectors.gateway.formats.values import bearer_key, json_object, path_of, plain

if TYPE_CHECKING:
    from collectors.gateway.formats.format import Fields

_SAME = (
    "model", "region", "stream", "prompt_tokens", "cached_tokens", "completion_tokens", "finish_reason", "incomplete",
    "substituted", "inference_mode", "model_version", "priority", "simulated", "api_key", "api_key_sha256", "traceparent",
)  # fmt: skip
_NAMES: dict[str, tuple[str, ...]] = {
    **{key: (key,) for key in _SAME},
    "method": ("method", ":method"),
    "uri": ("x-envoy-original-path", "x-envoy-origin-path", "original_path", "path", ":path"),
    "request_id": ("request_id", "x-request-id", "x_request_id", "requestId"),
    "tenant": ("tenant", "x-tenant", "x_tenant"),
    "server": ("authority", ":authority"),
    "request_length": ("bytes_received", "bytesReceived"),
    "bytes_sent": ("bytes_sent", "bytesSent"),
    "x_request_start": ("x-request-start", "x_request_start"),
    "client_subject": ("downstream_peer_subject", "client_subject"),
}
"""Keys of Envoy's that say what one of ours does, the best first."""
_PARTS: dict[str, tuple[str, ...]] = {
    "START_TIME": ("start_time", "startTime", "@timestamp", "timestamp"),
    "DURATION": ("duration",),
    "RESPONSE_CODE": ("response_code", "responseCode", "status"),
    "RESPONSE_FLAGS": ("response_flags", "responseFlags", "response_flags_long"),
    "SERVICE_TIME": (
        "upstream_service_time",
        "x-envoy-upstream-service-time",
        "x_envoy_upstream_service_time",
    ),
    "UPSTREAM_HOST": ("upstream_host", "upstreamHost"),
    "ATTEMPTS": ("upstream_request_attempt_count",),
    "RESPONSE_DURATION": ("response_duration",),
    "REQUEST_TX_DURATION": ("request_tx_duration",),
    "AUTHORIZATION": ("authorization", "Authorization"),
}
"""Keys of which something is made."""
_PLACES = {
    name: (key, rank)
    for names_of in (_NAMES, _PARTS)
    for key, names in names_of.items()
    for rank, name in enumerate(names)
}


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
            said = _said(line)
            return us_of_seconds(timed(said.get("START_TIME", ""), said.get("DURATION", ""))["time"])
        except UnreadableLine:
            return None

    def read(self, line: bytes) -> Fields:
        """Return what the keys say."""
        said = _said(line)
        take = said.pop
        fields = timed(take("START_TIME", ""), take("DURATION", ""))
        service = take("SERVICE_TIME", "")
        flags = flagged(take("RESPONSE_CODE", ""), take("RESPONSE_FLAGS", ""))
        upstream = sent_on(take("UPSTREAM_HOST", ""), service, take("ATTEMPTS", ""))
        forwarded = forwarded_seconds(take("RESPONSE_DURATION", ""), service, take("REQUEST_TX_DURATION", ""))
        key = bearer_key(take("AUTHORIZATION", ""))
        fields |= said
        fields |= flags
        fields |= upstream
        if "uri" in fields:
            fields["uri"] = path_of(fields["uri"])
        if forwarded:
            fields["forwarded"] = forwarded
        if key:
            fields["api_key"] = key
        return fields


def _said(line: bytes) -> Fields:
    """Return what is said under the names that are known; of several names for one thing the best counts."""
    said: Fields = {}
    ranks: dict[str, int] = {}
    for name, value in json_object(line).items():
        place = _PLACES.get(name)
        if place is None or value is None:
            continue
        key, rank = place
        text = plain(value)
        if text and text != "-" and rank < ranks.get(key, rank + 1):
            said[key] = text
            ranks[key] = rank
    return said


FORMAT = EnvoyJson()
