"""Own the settings of the plugin, all of them environment variables.

A value that cannot be used never keeps vLLM from starting: the default stands in for it, and a warning says so.
"""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from collections.abc import Mapping

DEFAULT_ENDPOINT = "http://127.0.0.1:4318"
_PATH = "/v1/logs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where OTLP logs are posted to."""

    secure: bool
    host: str
    port: int
    path: str

    def __str__(self) -> str:
        """Return it as a URL."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http{'s' if self.secure else ''}://{host}:{self.port}{self.path}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the environment says.

    endpoint: None where the plugin is off.
    headers: sent with every request, a token for example.
    instance: the engine's name; '' for host and process.
    queue_records: how many records may wait; more are dropped, and counted.
    flush_seconds: how long a record waits at most before it is sent.
    state_seconds: how far apart two records of one engine's state are at least.
    timeout_seconds: how long one request to the collector may take.
    warnings: what could not be used.
    """

    endpoint: Endpoint | None
    headers: tuple[tuple[str, str], ...] = ()
    ca_file: str = ""
    instance: str = ""
    queue_records: int = 16_384
    flush_seconds: float = 1.0
    state_seconds: float = 1.0
    timeout_seconds: float = 10.0
    warnings: tuple[str, ...] = ()


def read_settings(environment: Mapping[str, str]) -> Settings:
    """Read the variables ``FAIRCLOCK_…``; raises nothing."""
    warnings: list[str] = []
    return Settings(
        endpoint=_endpoint(environment.get("FAIRCLOCK_OTLP_ENDPOINT", ""), warnings),
        headers=_headers(environment.get("FAIRCLOCK_OTLP_HEADERS", ""), warnings),
        ca_file=environment.get("FAIRCLOCK_OTLP_CA", "").strip(),
        instance=environment.get("FAIRCLOCK_INSTANCE", "").strip(),
        queue_records=int(_number(environment, "FAIRCLOCK_QUEUE_RECORDS", 16_384, (1, 10_000_000), warnings)),
        flush_seconds=_number(environment, "FAIRCLOCK_FLUSH_SECONDS", 1.0, (0.01, 60.0), warnings),
        state_seconds=_number(environment, "FAIRCLOCK_STATE_SECONDS", 1.0, (0.01, 3_600.0), warnings),
        timeout_seconds=_number(environment, "FAIRCLOCK_TIMEOUT_SECONDS", 10.0, (0.1, 300.0), warnings),
        warnings=tuple(warnings),
    )


def resource_attributes(
    settings: Settings, environment: Mapping[str, str], *, frontends: int
) -> dict[str, str]:
    """Name this engine, as OpenTelemetry's resource does.

    Several API servers in front of the same engines (`frontends`) are children of one process: that process names them.
    """
    named = _otel_attributes(environment.get("OTEL_RESOURCE_ATTRIBUTES", ""))
    named["service.name"] = environment.get("OTEL_SERVICE_NAME") or named.get("service.name") or "vllm"
    named.setdefault("host.name", socket.gethostname())
    pid = os.getpid()
    if settings.instance:
        named["service.instance.id"] = settings.instance
    elif "service.instance.id" not in named:
        named["service.instance.id"] = f"{named['host.name']}:{pid if frontends <= 1 else os.getppid()}"
    named["vllm.process_id"] = str(pid)
    return named


def _endpoint(text: str, warnings: list[str]) -> Endpoint | None:
    text = text.strip()
    if text.lower() == "off":
        return None
    try:
        parts = urlsplit(text or DEFAULT_ENDPOINT)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username is not None:
        warnings.append(
            "FAIRCLOCK_OTLP_ENDPOINT: not a URL such as http://collector:4318; nothing is reported to Fairclock"
        )
        return None
    secure = parts.scheme == "https"
    path = _PATH if parts.path in {"", "/"} else parts.path
    return Endpoint(secure=secure, host=parts.hostname, port=port or (443 if secure else 4318), path=path)


def _headers(text: str, warnings: list[str]) -> tuple[tuple[str, str], ...]:
    """Read ``name=value,name=value``, with %xx for a comma or an equals sign in a value."""
    headers = []
    for part in filter(None, (each.strip() for each in text.split(","))):
        name, equals, value = part.partition("=")
        value = unquote(value.strip())
        if not equals or not name.strip() or not (name + value).isprintable():
            warnings.append("FAIRCLOCK_OTLP_HEADERS: a part is not name=value and is not sent")
            continue
        headers.append((name.strip(), value))
    return tuple(headers)


def _otel_attributes(text: str) -> dict[str, str]:
    pairs = (part.partition("=") for part in text.split(",") if "=" in part)
    return {name.strip(): unquote(value.strip()) for name, _, value in pairs if name.strip()}


def _number(
    environment: Mapping[str, str],
    name: str,
    default: float,
    limits: tuple[float, float],
    warnings: list[str],
) -> float:
    text = environment.get(name, "").strip()
    if not text:
        return default
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not limits[0] <= value <= limits[1]:
        warnings.append(f"{name}: not a number from {limits[0]:g} to {limits[1]:g}; {default:g} is used")
        return default
    return value
