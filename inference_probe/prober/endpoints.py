"""Own where probes go: an address that is looked up once, its TLS, and the bytes of a request."""

from __future__ import annotations

import json
import socket
import ssl
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from fairclock.errors import FairclockError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

PROBE_HEADER = "X-Fairclock-Probe"
"""Marks a request as a probe, with its run."""

_Address = tuple[socket.AddressFamily, socket.SocketKind, int, str, Any]
_TRIED_SECONDS = 2.0

_PORTS = {"http": 80, "https": 443}
_ROUTES = {"chat": "/v1/chat/completions", "completions": "/v1/completions"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """An OpenAI-compatible service. `url` has no credentials in it; `address` is what its name meant at the start."""

    url: str
    host: str
    port: int
    address: str
    family: socket.AddressFamily
    base_path: str
    tls: ssl.SSLContext | None = None
    api_key: str = field(default="", repr=False)

    @property
    def host_header(self) -> str:
        """Return the host as HTTP names it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS["https" if self.tls else "http"] else f"{host}:{self.port}"

    def request(self, route: str, body: Mapping[str, Any], headers: Mapping[str, str]) -> bytes:
        """Return the bytes of a POST of `body`; a header's line breaks are refused."""
        content = json.dumps(body, ensure_ascii=False).encode()
        lines = {
            "Host": self.host_header,
            "User-Agent": "fairclock-prober",
            "Accept-Encoding": "identity",
            "Content-Type": "application/json",
            "Content-Length": str(len(content)),
            **({"Authorization": f"Bearer {self.api_key}"} if self.api_key else {}),
            **headers,
        }
        if any("\r" in each or "\n" in each for pair in lines.items() for each in pair):
            raise UsageError("headers", "a header has a line break in it", remedy="remove it")
        head = f"POST {self.base_path}{_ROUTES[route]} HTTP/1.1\r\n" + "".join(
            f"{name}: {value}\r\n" for name, value in lines.items()
        )
        return head.encode("utf-8") + b"\r\n" + content


def endpoint(url: str, *, api_key: str = "", ca: Path | None = None) -> Endpoint:
    """Look `url` up; its path may end with /v1. Raises where it is no address or has none."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    if parts.scheme not in _PORTS or not parts.hostname or parts.username or parts.query or parts.fragment:
        raise UsageError(
            url.rpartition("@")[2],
            "not an endpoint's address",
            remedy="write http(s)://host[:port][/path]; a key comes by --key-env",
        )
    port = port or _PORTS[parts.scheme]
    try:
        found = socket.getaddrinfo(parts.hostname, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:  # a label of a name may be empty, or too long
        raise FairclockError(
            parts.hostname,
            "the name has no address",
            found=getattr(error, "strerror", None) or "not a name",
            remedy="correct the address",
        ) from error
    family, _, _, _, address = _first_that_answers(found)
    return Endpoint(
        url=f"{parts.scheme}://{parts.netloc}{parts.path}".rstrip("/"),
        host=parts.hostname,
        port=port,
        address=str(address[0]),
        family=family,
        base_path=parts.path.rstrip("/").removesuffix("/v1"),
        tls=_trust(ca) if parts.scheme == "https" else None,
        api_key=api_key,
    )


def _first_that_answers(found: Sequence[_Address]) -> _Address:
    """Return the first address that takes a connection, as a customer's client would: a name may mean several. Else the first."""
    for each in found if len(found) > 1 else ():
        with suppress(OSError), socket.socket(each[0], socket.SOCK_STREAM) as tried:
            tried.settimeout(_TRIED_SECONDS)
            tried.connect(each[4])
            return each
    return found[0]


def _trust(ca: Path | None) -> ssl.SSLContext:
    from fairclock.config.credentials import trust_in  # noqa: PLC0415 - only where there is TLS

    return ssl.create_default_context() if ca is None else trust_in(ca, remedy="name a PEM file")
