"""Own the guard before every page and endpoint: it asks the gate, turns away, and puts headers on what is answered."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse

from fairclock.console.access.doors import form_cookie_header, note
from fairclock.console.access.gate import Refusal
from fairclock.console.access.headers import protect
from fairclock.console.access.sessions import FORM_COOKIE, new_name
from fairclock.console.problems import answered, failed, problem
from fairclock.errors import FairclockError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from fairclock.console.access.gate import Entry
    from fairclock.console.server import Console

    ProblemPage = Callable[["Console", Request, Exception], Awaitable[Response]]

_LOG = logging.getLogger(__name__)

API = "/api/"
STATIC = "/static/"
OPEN_PATHS = ("/sign-in", STATIC, "/favicon.ico")
_STATUS = {Refusal.TOO_MANY: 429, Refusal.OTHER_SCOPE: 403, Refusal.NO_TOKEN: 401, Refusal.UNKNOWN: 401}


class Guard:
    """Let through who is known; `console` is what the gate and the audit log are of.

    Whoever opens a page is told by `problem_page` why it is not shown; the API's answers are problems.
    """

    def __init__(self, app: ASGIApp, *, console: Console, problem_page: ProblemPage | None = None) -> None:
        self._app = app
        self._console = console
        self._problem_page = problem_page

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        path = request.url.path
        made = "" if FORM_COOKIE in request.cookies or path.startswith(STATIC) else new_name()
        request.state.form_cookie = made
        began = False

        async def protected(message: Message) -> None:
            nonlocal began
            began = True
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                keeps = path.startswith(STATIC) and message["status"] == 200  # noqa: PLR2004 - names itself
                protect(headers, keeps=keeps)
                if made and not path.startswith(API + "v1/openapi"):
                    headers.append("Set-Cookie", form_cookie_header(made, is_secure=self._console.is_secure))
            await send(message)

        try:
            turned_away = await self._turned_away(request, path)
            await (turned_away or self._app)(scope, receive, protected)
        except Exception as error:
            if began:
                raise
            _LOG.exception("the console failed at %s", path)
            await (await self._failed(request, path, error))(scope, receive, protected)

    async def _turned_away(self, request: Request, path: str) -> Response | None:
        """Return the answer for whoever is not let through; else None, with ``request.state.caller`` set."""
        request.state.caller, request.state.by_header = None, False
        if path.startswith(STATIC):
            return None
        try:
            entry = await run_in_threadpool(self._console.gate.enter, request)
            if entry.refusal in {Refusal.UNKNOWN, Refusal.OTHER_SCOPE}:
                await note(self._console, request, None, action="token", outcome=str(entry.refusal))
        except FairclockError as error:
            return await self._said(request, path, error, answered(error))
        if entry.caller is not None:
            request.state.caller, request.state.by_header = entry.caller, entry.by_header
            return None
        is_open = any(path == each or (each.endswith("/") and path.startswith(each)) for each in OPEN_PATHS)
        if is_open and entry.refusal is not Refusal.TOO_MANY:
            return None
        if (
            path.startswith(API)
            or entry.refusal is not Refusal.NO_TOKEN
            or request.method not in {"GET", "HEAD"}
        ):
            refused = _refused(entry)
            said = HTTPException(refused.status_code, str(entry.refusal), dict(refused.headers))
            return await self._said(request, path, said, refused)
        return RedirectResponse(f"/sign-in?next={_way(request)}", 303)

    async def _said(self, request: Request, path: str, error: Exception, otherwise: Response) -> Response:
        """Return the page that tells of `error`; `otherwise` where no page was asked for."""
        if self._problem_page is None or path.startswith(API):
            return otherwise
        return await self._problem_page(self._console, request, error)

    async def _failed(self, request: Request, path: str, error: Exception) -> Response:
        """Return the answer after a fault of the program; nothing of it is told."""
        try:
            return await self._said(request, path, error, failed())
        except Exception:  # noqa: BLE001 - whatever it was, it is logged, and the headers are put on
            _LOG.exception("the page that tells of a fault failed, too")
            return failed()


def _refused(entry: Entry) -> Response:
    refusal = entry.refusal or Refusal.NO_TOKEN
    headers: dict[str, Any] = {}
    status = _STATUS[refusal]
    if refusal is Refusal.TOO_MANY:
        headers["Retry-After"] = str(int(entry.wait_seconds) + 1)
    elif status == 401:  # noqa: PLR2004 - it names itself
        headers["WWW-Authenticate"] = "Bearer"
    return problem(
        status,
        kind=refusal.name.lower().replace("_", "-"),
        title=str(refusal),
        detail=f"{refusal}; send Authorization: Bearer with a token (fairclock tokens add), or sign in",
        headers=headers,
    )


def _way(request: Request) -> str:
    query = f"?{request.url.query}" if request.url.query else ""
    return quote(f"{request.url.path}{query}", safe="")
