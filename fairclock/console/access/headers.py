"""Own the headers that every answer of the console carries, and where a changing request may come from."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from starlette.datastructures import MutableHeaders
    from starlette.requests import Request

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
DOCUMENT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; sandbox; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Of a report that is shown as it was made: its style sheet lies in it, and nothing in it may run."""
_ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


def protect(headers: MutableHeaders, *, keeps: bool = False) -> None:
    """Add the headers; `keeps` where a browser may keep the answer (what is the same for everybody)."""
    for name, value in _ALWAYS.items():
        headers[name] = value
    headers.setdefault("Content-Security-Policy", POLICY)
    headers["Cache-Control"] = "public, max-age=3600" if keeps else "no-store"


def is_from_here(request: Request) -> bool:
    """Return whether a request does not come from a page of another site."""
    site = request.headers.get("sec-fetch-site")
    if site is not None and site not in {"same-origin", "none"}:
        return False
    origin = request.headers.get("origin")
    return origin is None or urlsplit(origin).netloc.lower() == request.headers.get("host", "").lower()
