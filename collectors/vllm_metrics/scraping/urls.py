"""Own what the address of a scrape may be."""

from __future__ import annotations

from urllib.parse import urlsplit


def url_problem(url: str) -> str:
    """Return what is wrong with `url` as the address of a scrape, or an empty text."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return "is no address"
    if parts.scheme not in {"http", "https"}:
        return "is neither http nor https"
    if not parts.hostname or port == 0 or any(each.isspace() or not each.isprintable() for each in url):
        return "is no address"
    if parts.username is not None or parts.password is not None:
        return "holds a user or a password"
    return "has a fragment" if parts.fragment else ""


def with_default_path(url: str) -> str:
    """Return `url`, with /metrics where it has no path."""
    parts = urlsplit(url)
    return parts._replace(path="/metrics").geturl() if parts.path in {"", "/"} else url


def place_of(url: str) -> str:
    """Return host and port of `url`, and its path where that is not /metrics: what tells targets apart."""
    parts = urlsplit(url)
    port = parts.port or {"http": 80, "https": 443}[parts.scheme]
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    path = "" if parts.path in {"", "/", "/metrics"} else parts.path
    query = f"?{parts.query}" if parts.query else ""
    return f"{host}:{port}{path}{query}"
