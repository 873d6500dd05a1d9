"""Own the pages that say what is wrong, and what to do about it."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse

from fairclock.console.pages.choices import keep_choices
from fairclock.console.pages.looking import view_of
from fairclock.console.pages.making import problem_html
from fairclock.console.problems import AWAY, RETRY_AFTER, kind_of
from fairclock.errors import FairclockError

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from fairclock.console.server import Console

_SAID = frozenset({"not_allowed", "busy", "not_evaluable", "wrong"})
"""Of which the error's own sentence is shown; a missing page has none, and a store's is for its log."""
_OF_STATUS = {401: "unknown", 403: "not_allowed", 404: "not_found", 429: "too_many"}
_MISSING, _FAILURE = 404, 500
_KEPT_HEADERS = frozenset({"retry-after", "www-authenticate", "allow"})
_LOG = logging.getLogger(__name__)


async def problem_page(console: Console, request: Request, error: Exception) -> Response:
    """Return the page for what a page, or nothing at that address, raised.

    Where nothing is, its links repeat nothing of what was asked for: what else came here by mistake may hold a secret.
    """
    status, kind = _kind(error)
    detail = str(error) if isinstance(error, FairclockError) and kind in _SAID else ""
    view = view_of(console, request)
    if status == _MISSING:
        view = replace(view, path="/", query={})
    html = problem_html(view, status=status, kind=kind, detail=detail)
    if isinstance(error, FairclockError) and status == _FAILURE:
        _LOG.error("the console cannot answer: %s", error)
    headers = dict(RETRY_AFTER if status == AWAY else {})
    if isinstance(error, HTTPException):
        headers |= {
            name: text for name, text in (error.headers or {}).items() if name.lower() in _KEPT_HEADERS
        }
    response = HTMLResponse(html, status, headers)
    return keep_choices(request, response, is_secure=console.is_secure)


def _kind(error: Exception) -> tuple[int, str]:
    kind = kind_of(error)
    if kind is not None:
        return kind.status, kind.page
    if isinstance(error, HTTPException):
        return error.status_code, _OF_STATUS.get(error.status_code, "wrong")
    return _FAILURE, "failure"
