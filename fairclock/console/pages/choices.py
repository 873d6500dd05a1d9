"""Own what a reader chose: language and theme, by address, cookie, or what their browser asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairclock.console.pages.view import THEMES
from fairclock.documents.languages import LANGUAGES

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

LANGUAGE, THEME = "lang", "theme"
_COOKIES = {LANGUAGE: "fairclock_language", THEME: "fairclock_theme"}
_KNOWN = {LANGUAGE: LANGUAGES, THEME: THEMES}
_KEPT_SECONDS = 365 * 86_400


def language_for(request: Request) -> str:
    """Return the language of the address, else of the cookie, else the first that the browser asks for."""
    return _chosen(request, LANGUAGE) or _asked_for(request.headers.get("accept-language", ""))


def theme_for(request: Request) -> str:
    """Return the theme of the address, else of the cookie, else the system's."""
    return _chosen(request, THEME) or THEMES[0]


def keep_choices(request: Request, response: Response, *, is_secure: bool) -> Response:
    """Let the browser remember what the address chose."""
    for name, cookie in _COOKIES.items():
        value = request.query_params.get(name)
        if value in _KNOWN[name]:
            response.set_cookie(
                cookie,
                value,
                max_age=_KEPT_SECONDS,
                path="/",
                secure=is_secure,
                httponly=True,
                samesite="lax",
            )
    return response


def _chosen(request: Request, name: str) -> str | None:
    for value in (request.query_params.get(name), request.cookies.get(_COOKIES[name])):
        if value in _KNOWN[name]:
            return value
    return None


def _asked_for(header: str) -> str:
    """Return the language with the greatest weight in an Accept-Language header; the first of equals."""
    wanted: list[tuple[float, str]] = []
    for part in header.split(","):
        tag, _, weight = part.strip().partition(";q=")
        code = tag.partition("-")[0].strip().lower()
        if code in LANGUAGES:
            try:
                wanted.append((float(weight or 1), code))
            except ValueError:
                continue
    return max(wanted, key=lambda each: each[0])[1] if wanted else LANGUAGES[0]
