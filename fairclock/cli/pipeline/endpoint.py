"""Own the address at which a long-running command answers: health, figures, and frames of sidecars."""

from __future__ import annotations

import hmac
import ipaddress
import ssl
from contextlib import contextmanager
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from collectors.otlp.addresses import Address, bind, parse_address
from collectors.otlp.http_server import HttpServer
from exporters.prometheus import chosen, takes_gzip
from fairclock.config.credentials import load_pair
from fairclock.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from starlette.requests import Request
    from starlette.routing import BaseRoute

    from exporters.prometheus import Format
    from fairclock.cli.configuration import HttpSection

OPTION = "--listen"


def health_routes(
    *,
    ended: Callable[[], Sequence[str]],
    ready: Callable[[], Mapping[str, str]],
    scrape: Callable[[Format, bool], bytes],
    token: Callable[[], str] | None = None,
) -> list[Route]:
    """Return the routes of ``/healthz``, ``/readyz`` and ``/metrics``.

    `ended` names the parts that have ended and should not have; `ready` says what is wrong with each part that
    taking new data depends on, an empty text where nothing is; `scrape` returns every figure in a format, compressed or not. `token`
    returns what a scrape must show; None where it need show nothing.
    """

    async def healthz(_: Request) -> Response:
        gone = ended()
        return PlainTextResponse(f"ended: {', '.join(gone)}\n" if gone else "ok\n", 500 if gone else 200)

    async def readyz(_: Request) -> Response:
        checks = await run_in_threadpool(ready)
        is_ready = not any(checks.values())
        shown = {name: problem or "ok" for name, problem in checks.items()}
        return JSONResponse({"ready": is_ready, "checks": shown}, 200 if is_ready else 503)

    async def metrics(request: Request) -> Response:
        if token is not None:
            shown = request.headers.get("authorization", "").partition(" ")[2].strip()
            if not hmac.compare_digest(shown.encode(), (await run_in_threadpool(token)).encode()):
                return PlainTextResponse(
                    "a token is needed\n", 401, headers={"www-authenticate": 'Bearer realm="fairclock"'}
                )
        format_, content_type = chosen(request.headers.get("accept", ""))
        compressed = takes_gzip(request.headers.get("accept-encoding", ""))
        headers = {"content-type": content_type, "vary": "accept, accept-encoding"}
        if compressed:
            headers["content-encoding"] = "gzip"
        return Response(await run_in_threadpool(scrape, format_, compressed), headers=headers)

    return [Route("/healthz", healthz), Route("/readyz", readyz), Route("/metrics", metrics)]


@contextmanager
def answering(section: HttpSection, routes: Sequence[BaseRoute], *, option: str = OPTION) -> Iterator[str]:
    """Answer at the configured address; yield its URL.

    Raises `UsageError` where the address is taken, `ConfigurationError` where the certificate cannot be used.
    """
    if section.certificate is not None and section.key is not None:
        check_certificate(section.certificate, section.key)
    address = parse_address(section.address, option=option)
    bound = bind(address, option=option)
    shown = Address(host=address.host, port=bound.getsockname()[1])
    server = HttpServer(
        Starlette(routes=list(routes)),
        bound,
        name="endpoint",
        certificate=section.certificate,
        key=section.key,
    )
    server.start()
    try:
        yield f"{'http' if section.certificate is None else 'https'}://{shown}"
    finally:
        server.stop()


def is_loopback(address: str) -> bool:
    """Return whether an address is a loopback one, so that nobody else can reach it."""
    host = address.rpartition(":")[0].strip("[]")
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_certificate(certificate: Path, key: Path) -> None:
    """Raise `ConfigurationError` unless the two are a certificate and its key."""
    for path in (certificate, key):
        try:
            path.read_bytes()
        except OSError as error:
            raise ConfigurationError(
                str(path),
                "cannot be read",
                found=error.strerror,
                remedy="correct http.certificate and http.key",
            ) from error
    try:
        load_pair(ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), certificate, key)
    except (ssl.SSLError, ValueError) as error:
        raise ConfigurationError(
            str(certificate),
            f"is no certificate that fits {key}",
            found=getattr(error, "reason", None) or str(error),
            remedy="name a PEM file with the certificate and its chain, and one with its key, without a password",
        ) from error
