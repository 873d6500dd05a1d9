"""Own one scrape: the request, its limits, and what its answer means."""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import dataclass
from typing import TYPE_CHECKING

import httpx

from fairclock.config import credentials
from fairclock.config.credentials import load_pair, trust_in
from fairclock.errors import ConfigurationError
from fairclock.model.failures import words_of

if TYPE_CHECKING:
    from collectors.vllm_metrics.scraping.targets import Access, Target

LARGEST_BODY_BYTES = 16 << 20
_ACCEPT = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.8,*/*;q=0.1"
_KEEP_ALIVE_SECONDS = 120.0


class ScrapeFailedError(Exception):
    """Say in a few words why a scrape came to nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """What a target answered, unpacked."""

    content: bytes
    content_type: str


class Fetcher:
    """Ask targets; connections are kept, and shared by targets that are let in by the same certificates."""

    def __init__(self, *, transport: httpx.AsyncBaseTransport | None = None) -> None:
        """Open nothing yet; `transport` stands for the network in tests."""
        self._transport = transport
        self._clients: dict[tuple[object, ...], httpx.AsyncClient] = {}

    async def close(self) -> None:
        """Close every connection."""
        for client in self._clients.values():
            await client.aclose()
        self._clients.clear()

    async def fetch(self, target: Target) -> Body:
        """Return what `target` answers within its time; raises `ScrapeFailedError`."""
        try:
            async with asyncio.timeout(target.timeout_seconds):
                return await self._fetch(target)
        except TimeoutError as error:
            raise ScrapeFailedError(f"no whole answer within {target.timeout_seconds:g} s") from error
        except (httpx.HTTPError, OSError) as error:  # httpx lets through what TLS says after its handshake
            raise ScrapeFailedError(_said(error)) from error
        except ConfigurationError as error:
            raise ScrapeFailedError(str(error)) from error

    async def _fetch(self, target: Target) -> Body:
        headers = {"Accept": _ACCEPT, "Accept-Encoding": "gzip", "User-Agent": "fairclock"}
        headers.update(target.access.headers)
        if target.access.token_file is not None:
            headers["Authorization"] = f"Bearer {read_token(target.access)}"
        request = self._client(target.access).stream("GET", target.url, headers=headers)
        async with request as response:
            if response.is_redirect:
                raise ScrapeFailedError("it redirects to another address; name that one")
            if response.status_code != httpx.codes.OK:
                raise ScrapeFailedError(f"HTTP {response.status_code}")
            content = bytearray()
            async for chunk in response.aiter_bytes():
                content += chunk
                if len(content) > LARGEST_BODY_BYTES:
                    raise ScrapeFailedError(f"the answer has more than {LARGEST_BODY_BYTES >> 20} MiB")
            return Body(content=bytes(content), content_type=response.headers.get("Content-Type", ""))

    def _client(self, access: Access) -> httpx.AsyncClient:
        key = (access.ca, access.certificate, access.key)
        if key not in self._clients:
            self._clients[key] = httpx.AsyncClient(
                verify=trust(access),
                limits=httpx.Limits(max_connections=None, keepalive_expiry=_KEEP_ALIVE_SECONDS),
                timeout=None,  # noqa: S113 - the whole scrape has one
                follow_redirects=False,  # token and headers are for this address and no other
                trust_env=False,  # a proxy of the system's stands between this and no engine
                transport=self._transport,
            )
        return self._clients[key]


def trust(access: Access) -> ssl.SSLContext:
    """Return by what the other side is known, and shown who asks; raises `ConfigurationError`."""
    context = trust_in(access.ca, remedy="name a PEM file as ca")
    if access.certificate is not None and access.key is not None:
        try:
            load_pair(context, access.certificate, access.key)
        except (OSError, ssl.SSLError, ValueError) as error:
            raise ConfigurationError(
                str(access.certificate),
                f"is no certificate that fits {access.key}",
                found=str(error),
                remedy="name two PEM files, the key without a password",
            ) from error
    return context


def read_token(access: Access) -> str:
    """Return the bearer token; raises `ConfigurationError`."""
    path = access.token_file
    assert path is not None  # noqa: S101 - asked only where there is one
    return credentials.read_token(
        path, if_unreadable="correct token_file", if_empty="write the token into it, and nothing else"
    )


def _said(error: httpx.HTTPError | OSError) -> str:
    return "the answer cannot be unpacked" if isinstance(error, httpx.DecodingError) else words_of(error)
