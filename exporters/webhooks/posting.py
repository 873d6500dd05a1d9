"""Own one POST: to the address that was checked, over verified TLS, without redirects, with a bounded answer.

The transport is used without a client: a client would log the address, which is a secret for half of the services,
follow the environment's proxies, and keep cookies.
"""

from __future__ import annotations

import ssl
from dataclasses import dataclass, field
from datetime import timedelta
from email.utils import parsedate_to_datetime
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import httpx

from exporters.webhooks.addresses import AddressRefused, canonical_host, checked_addresses, resolve
from exporters.webhooks.configuration import url_problem
from fairclock.config.credentials import trust_in

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from datetime import datetime
    from pathlib import Path

    from exporters.webhooks.addresses import Resolve
    from exporters.webhooks.credentials import Secret

_LARGEST_ANSWER_BYTES = 65_536
_LONGEST_ANSWER = timedelta(seconds=20)
_TIMEOUTS = {"connect": 5.0, "read": 10.0, "write": 10.0, "pool": 5.0}
_LONGEST_WAIT_SECONDS = 3_600.0
_PORTS = {"http": 80, "https": 443}
_WORDS: Mapping[type[Exception], str] = {
    httpx.ConnectTimeout: "no connection within 5 s",
    httpx.ReadTimeout: "no answer within 10 s",
    httpx.WriteTimeout: "it does not take the message within 10 s",
    httpx.RemoteProtocolError: "what answers there is no HTTP, or it broke off",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is posted; neither address nor headers nor body are shown."""

    url: Secret
    body: bytes = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """What came back; `status` 0 where nothing did, and then `problem` says why."""

    status: int = 0
    body: bytes = b""
    retry_after_seconds: float | None = None
    problem: str = ""


class Poster:
    """Post requests; hosts in `allowed` may be internal, and be spoken to without TLS.

    Raises `ConfigurationError` where the certificates of `ca` cannot be used.
    """

    def __init__(
        self,
        *,
        allowed: Collection[str],
        now: Callable[[], datetime],
        ca: Path | None = None,
        resolve: Resolve = resolve,
    ) -> None:
        self._allowed = frozenset(canonical_host(each) for each in allowed)
        self._now = now
        self._resolve = resolve
        self._trust = _trust(ca)

    def post(self, request: Request) -> Response:
        """Post once and return what came of it; never raises for the network's sake."""
        url = request.url.reveal()
        if problem := url_problem(url):
            return Response(problem=f"the address {problem}")
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or _PORTS[parts.scheme]
        if parts.scheme != "https" and canonical_host(host) not in self._allowed:
            return Response(problem="the address is without TLS; write https")
        try:
            addresses = checked_addresses(host, port, allowed=self._allowed, resolve=self._resolve)
        except AddressRefused as refused:
            return Response(problem=str(refused))
        response = Response()
        for address in addresses:
            response, is_connected = self._post_to(address, port, host, request)
            if is_connected:
                break
        return response

    def _post_to(self, address: str, port: int, host: str, request: Request) -> tuple[Response, bool]:
        """Return the answer, and whether there was a connection."""
        try:
            url = httpx.URL(request.url.reveal()).copy_with(host=address, port=port)
            original = httpx.URL(request.url.reveal())
            made = httpx.Request(
                "POST",
                url,
                content=request.body,
                headers={
                    "User-Agent": "fairclock",
                    "Accept-Encoding": "identity",  # so that a small answer cannot become a large one
                    "Connection": "close",
                    **request.headers,
                    "Host": original.netloc.decode("ascii"),
                },
                extensions={"timeout": _TIMEOUTS, "sni_hostname": _server_name(original, host)},
            )
            with httpx.HTTPTransport(verify=self._trust, trust_env=False) as transport:
                response = transport.handle_request(made)
                try:
                    return self._read(response), True
                finally:
                    response.close()
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            return Response(problem=_said(error)), False
        except (httpx.HTTPError, httpx.StreamError, httpx.InvalidURL, OSError, ValueError) as error:
            return Response(problem=_said(error)), True

    def _read(self, response: httpx.Response) -> Response:
        body = b""
        until = self._now() + _LONGEST_ANSWER
        for chunk in response.iter_raw():
            body += chunk
            if len(body) >= _LARGEST_ANSWER_BYTES or self._now() >= until:
                break
        return Response(
            status=response.status_code,
            body=body[:_LARGEST_ANSWER_BYTES],
            retry_after_seconds=_asked_seconds(response.headers.get("Retry-After", ""), self._now()),
        )


def _server_name(url: httpx.URL, host: str) -> str:
    """Return the name that the certificate has to be for."""
    return url.raw_host.decode("ascii").strip("[]").rstrip(".") or host


def _asked_seconds(text: str, now: datetime) -> float | None:
    """Return for how long an answer asks to be left alone: a number of seconds, or a date."""
    text = text.strip()
    if text.isascii() and text.isdigit():
        return min(float(text), _LONGEST_WAIT_SECONDS)
    try:
        seconds = (parsedate_to_datetime(text) - now).total_seconds()
    except (TypeError, ValueError, OverflowError):
        return None
    return min(max(seconds, 0.0), _LONGEST_WAIT_SECONDS)


def _said(error: Exception) -> str:
    """Return what went wrong, without anything that may hold the address."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"its certificate is not accepted ({cause.verify_message})"
        if isinstance(cause, ssl.SSLError):
            return f"TLS failed ({cause.reason})"
        if isinstance(cause, OSError) and cause.strerror:
            return cause.strerror
        cause = cause.__cause__ or cause.__context__
    return _WORDS.get(type(error), type(error).__name__)


_systems_trust = cache(ssl.create_default_context)


def _trust(ca: Path | None) -> ssl.SSLContext:
    return _systems_trust() if ca is None else trust_in(ca, remedy="name a PEM file")
