"""Own the address that a sidecar is given to forward to."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit

from fairclock.errors import UsageError

_EXAMPLE = "write https://fairclock.example:8780"


def check_url(url: str, *, plain_http: bool) -> str:
    """Return `url` without a slash at its end; `UsageError` where it is none, or would show the token on the way."""
    parts = urlsplit(url)
    try:
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or parts.query or parts.fragment or parts.username is not None:
        raise UsageError("--to", "not the address of fairclock up", remedy=_EXAMPLE)
    if parts.scheme == "http" and not plain_http and not _is_this_machine(parts.hostname or ""):
        raise UsageError(
            "--to",
            "the token would travel unencrypted",
            found=f"{parts.scheme}://{parts.hostname}",
            remedy="use https, or allow it with --plain-http where the network is trusted",
        )
    return url.rstrip("/")


def _is_this_machine(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
