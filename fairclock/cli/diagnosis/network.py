"""Own the checks of addresses: those listened on, and the one forwarded to."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import httpx

from collectors.otlp.addresses import bind, parse_address
from exporters.forwarding.batches import encode_batch
from exporters.forwarding.destination import Destination, Outcome, read_token
from exporters.forwarding.url import check_url
from fairclock.cli.diagnosis.finding import error, from_error, ok, warning
from fairclock.cli.pipeline.delivering import TOKEN_VARIABLE
from fairclock.cli.pipeline.endpoint import check_certificate
from fairclock.errors import FairclockError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from exporters.forwarding.configuration import ForwardSection
    from fairclock.cli.configuration import Configuration
    from fairclock.cli.diagnosis.finding import Finding

_OFF = "off"
_ANSWER_SECONDS = 10.0  # one that is busy is no other program


def port_findings(settings: Configuration) -> Iterator[Finding]:
    """Look whether the addresses are free, or taken by a Fairclock that runs already."""
    addresses = {
        "http.address": settings.http.address,
        "otlp.grpc": settings.otlp.grpc,
        "otlp.http": settings.otlp.http,
        "gateway.syslog.tcp": settings.gateway.syslog.tcp,
    }
    runs = settings.http.address != _OFF and _is_fairclock(settings)
    for name, address in addresses.items():
        if address == _OFF:
            continue
        try:
            bind(parse_address(address, option=name), option=name).close()
        except UsageError as problem:
            if runs:
                yield ok(name, f"{address}, in use; a Fairclock runs already")
            else:
                yield warning(
                    name,
                    f"{problem.problem} ({problem.found})",
                    f"stop the program that listens there, or name another address under {name}",
                )
        else:
            yield ok(name, f"{address}, free")
    if settings.http.certificate is not None and settings.http.key is not None:
        try:
            check_certificate(settings.http.certificate, settings.http.key)
        except FairclockError as problem:
            yield from_error("http.certificate", problem)
        else:
            yield ok("http.certificate", str(settings.http.certificate))


def _is_fairclock(settings: Configuration) -> bool:
    scheme = "http" if settings.http.certificate is None else "https"
    address = settings.http.address.replace("0.0.0.0:", "127.0.0.1:").replace("[::]:", "[::1]:")
    try:
        # Its certificate may be for another name; nothing is told to it, nor to the environment's proxy.
        answer = httpx.get(
            f"{scheme}://{address}/readyz",
            timeout=_ANSWER_SECONDS,
            verify=False,  # noqa: S501
            trust_env=False,
        )
        return "ready" in answer.json()
    except (httpx.HTTPError, ValueError, TypeError):
        return False


def forward_finding(section: ForwardSection, *, now_us: int) -> Finding:
    """Send an empty batch where a sidecar's frames would go: address, TLS, token and scope in one."""
    name = "forward.to"
    try:
        url = check_url(section.to or "", plain_http=section.plain_http)
        if section.token_file is not None:
            token = read_token(section.token_file)
        else:
            token = os.environ.get(TOKEN_VARIABLE, "").strip()
        if not token:
            return error(name, "there is no token", f"write forward.token_file, or set {TOKEN_VARIABLE}")
        destination = Destination(url, token=lambda: token, ca=section.ca)
    except FairclockError as problem:
        return from_error(name, problem)
    try:
        answer = destination.deliver(encode_batch([], sent_us=now_us), frames=0)
    finally:
        destination.close()
    if answer.outcome is Outcome.TAKEN:
        return ok(name, f"{url} takes frames")
    remedies = {
        Outcome.LATER: "see that fairclock up runs there, and that its address and certificate are right",
        Outcome.UNAUTHORISED: "make a token there: fairclock tokens create --scope collector",
    }
    detail, _, remedy = answer.problem.partition("; ")
    fallback = remedies.get(answer.outcome, "see what listens there")
    return error(name, f"{url}: {detail}", remedy or fallback)
