"""Own nginx's log in the operator's own log_format: which variable says what.

Necessary are a time, `$status` and `$request_time`. A variable of the operator's own that is called as a
canonical key (`$tenant`, `$model`, `$prompt_tokens`, with or without ``fairclock_``) means it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from collectors.gateway.formats.format import GatewayFormat, UnreadableLine
from collectors.gateway.formats.nginx_directive import COMBINED, WHERE, Variable, parse_log_format
from collectors.gateway.formats.nginx_pattern import compiled
from collectors.gateway.formats.nginx_values import unescaped
from collectors.gateway.formats.times import seconds_text, us_of_iso, us_of_log_time, us_of_seconds
from collectors.gateway.formats.values import bearer_key, is_absent, request_line, text_of
from fairclock.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable

    from collectors.gateway.formats.format import Fields

_SAME = """
status request_time request_completion limit_req_status limit_conn_status connection_time connection_requests upstream_addr
upstream_status upstream_connect_time upstream_header_time upstream_response_time request_length tenant model region stream
prompt_tokens cached_tokens completion_tokens finish_reason incomplete substituted inference_mode model_version priority
error_code simulated queue time_to_first_token forwarded traceparent api_key api_key_sha256 client_subject
"""
_SOURCES: dict[str, tuple[str, ...]] = {
    **{key: (key, f"fairclock_{key}") for key in _SAME.split()},
    "request_id": ("fairclock_request_id", "http_x_request_id", "req_id", "request_id"),
    "traceparent": ("fairclock_traceparent", "traceparent", "http_traceparent"),
    "tenant": ("fairclock_tenant", "tenant", "http_x_tenant"),
    "method": ("request_method",),
    "uri": ("fairclock_uri", "request_uri", "uri", "document_uri"),
    "server": ("server_name",),
    "bytes_sent": ("bytes_sent", "body_bytes_sent"),
    "x_request_start": ("fairclock_request_start", "http_x_request_start", "http_x_queue_start"),
    "client_subject": ("client_subject", "ssl_client_s_dn", "ssl_client_s_dn_legacy"),
    "api_key": ("api_key", "fairclock_api_key", "http_x_api_key", "http_api_key"),
}  # fmt: skip
_TIMES: tuple[tuple[str, Callable[[str], int | None]], ...] = (
    ("msec", us_of_seconds),
    ("time_iso8601", us_of_iso),
    ("time_local", us_of_log_time),
)
_NOTHING_MEANS_SOMETHING = (
    "request_completion"  # nothing, which escape=default writes as -, means: not completed
)
_CONTENT_TYPES = {"text/event-stream": "true", "application/json": "false"}
INGRESS = (
    '$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent" '
    "$request_length $request_time [$proxy_upstream_name] [$proxy_alternative_upstream_name] $upstream_addr "
    "$upstream_response_length $upstream_response_time $upstream_status $req_id"
)


class NginxLogFormat(GatewayFormat):
    """Lines of one log_format; without an argument it reads none."""

    name = "nginx"
    title = "nginx's log in a log_format of your own"

    def __init__(self, argument: str = "") -> None:
        """Compile the log_format; raises `ConfigurationError` where a line could be read in more than one way."""
        self.argument = argument
        if not argument:
            return
        log_format = parse_log_format(argument)
        variables = [part.name for part in log_format.parts if isinstance(part, Variable)]
        _require(variables, argument)
        self._escape = log_format.escape
        pattern, names = compiled(log_format)
        self._match = pattern.fullmatch
        groups: dict[str, int] = {}
        for number, name in enumerate(names, start=1):
            groups.setdefault(name, number)
        self._time_group, self._time_of, self._time_name = next(
            (groups[name], read, name) for name, read in _TIMES if name in groups
        )
        sources = {
            key: [groups[name] - 1 for name in names if name in groups] for key, names in _SOURCES.items()
        }
        self._only = [(key, numbers[0]) for key, numbers in sources.items() if len(numbers) == 1]
        self._several = [(key, numbers) for key, numbers in sources.items() if len(numbers) > 1]
        self._verify_group = groups.get("ssl_client_verify")
        self._request_group = groups.get("request")
        self._type_group = groups.get("sent_http_content_type")
        self._authorization_group = groups.get("http_authorization")

    def with_argument(self, argument: str) -> Self:
        """Return the format of `argument`: a log_format's text, or the whole directive."""
        return type(self)(argument)

    def recognise(self, line: bytes) -> str | None:
        """Recognise nothing without a log_format: only its owner knows it."""
        if self.argument and self._match(text_of(line)):
            return "it fits the log_format that was given"
        return None

    def ended_us(self, line: bytes) -> int | None:
        """Return the time that the log_format writes."""
        found = self._match(text_of(line)) if self.argument else None
        return None if found is None else self._time_of(found[self._time_group])

    def read(self, line: bytes) -> Fields:
        """Return what the variables say."""
        if not self.argument:
            raise UnreadableLine("log_format: not given")
        found = self._match(text_of(line))
        if found is None:
            raise UnreadableLine("not a line of this log_format")
        values = found.groups()
        end_us = self._time_of(values[self._time_group - 1])
        if end_us is None:
            raise UnreadableLine(f"${self._time_name}: not a time")
        fields: Fields = {"time": seconds_text(end_us)}
        for key, number in self._only:
            value = values[number]
            if not is_absent(value):
                fields[key] = unescaped(value, self._escape) if "\\" in value else value
            elif key == _NOTHING_MEANS_SOMETHING:
                fields[key] = ""
        for key, numbers in self._several:
            value = next((values[number] for number in numbers if not is_absent(values[number])), "")
            if value:
                fields[key] = unescaped(value, self._escape)
        self._add_derived(fields, values)
        return fields

    def _add_derived(self, fields: Fields, values: tuple[str, ...]) -> None:
        if self._request_group is not None:
            method, path = request_line(unescaped(values[self._request_group - 1], self._escape))
            fields.setdefault("method", method)
            fields.setdefault("uri", path)
        if self._type_group is not None and fields.get("status") == "200":
            kind = values[self._type_group - 1].partition(";")[0].strip().lower()
            if kind in _CONTENT_TYPES:
                fields.setdefault("stream", _CONTENT_TYPES[kind])
        if self._verify_group is not None and values[self._verify_group - 1] != "SUCCESS":
            fields.pop("client_subject", None)
        if self._authorization_group is not None:
            key = bearer_key(unescaped(values[self._authorization_group - 1], self._escape))
            if key:
                fields.setdefault("api_key", key)


class IngressNginx(NginxLogFormat):
    """ingress-nginx's default, `upstreaminfo`."""

    name = "ingress-nginx"
    title = "ingress-nginx's default log"

    def __init__(self) -> None:
        """Compile the default."""
        super().__init__(INGRESS)
        self.argument = "upstreaminfo"

    @property
    def full_name(self) -> str:
        """Return the name alone: there is but one such log_format."""
        return self.name

    def with_argument(self, argument: str) -> Self:
        """Refuse: a log_format of one's own goes with nginx."""
        raise ConfigurationError(
            "gateway.format",
            f"{self.name} has a log_format already",
            remedy="use nginx with log_format",
            found=argument,
        )

    def recognise(self, line: bytes) -> str | None:
        """Recognise the upstream names in brackets and the request id at the end."""
        if self._match(text_of(line)):
            return "behind the user agent it has lengths, times and upstreams as upstreaminfo writes them"
        return None


def _require(variables: list[str], text: str) -> None:
    missing = []
    if not any(name in variables for name, _ in _TIMES):
        missing.append("a time ($msec, else $time_iso8601 or $time_local)")
    missing += [f"${name}" for name in ("status", "request_time") if name not in variables]
    if missing:
        is_combined = text.strip() in {"combined", COMBINED}
        raise ConfigurationError(
            WHERE,
            (
                "nginx's built-in combined format does not say how long a request took: it lacks "
                if is_combined
                else "lacks "
            )
            + " and ".join(missing),
            remedy="add what is missing to the log_format in nginx.conf, or log with the one that Fairclock ships "
            "(collectors/gateway/nginx); older lines cannot be measured",
        )


FORMAT = NginxLogFormat()
INGRESS_FORMAT = IngressNginx()
