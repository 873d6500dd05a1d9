"""Own the console as one application: who may ask, the pages, the API, what every answer carries.

Pages are given in by `fairclock.console.pages.routes(console)`. Whatever they are asked has passed the guard:
``request.state.caller`` is the `Caller` (None on `OPEN_PATHS`, where anybody may ask), and a browser without one was
sent to ``/sign-in?next=…``. Headers, the content security policy and ``Cache-Control`` are put on afterwards. A route
that changes something checks ``console.gate.may_change(request, given)`` before anything else, where `given` is the
form's field ``form_token`` (`FORM_FIELD`); ``console.gate.form_token(request)`` is what to render into the form.
``fairclock.console.access.doors`` signs in and out. `FairclockError`s that a page raises become an error page through
``fairclock.console.pages.problem_page(console, request, error)``, an API's `application/problem+json`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware

from fairclock.console.access.guard import API, OPEN_PATHS, Guard
from fairclock.console.problems import answered, problem
from fairclock.errors import FairclockError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute

    from fairclock.console.access.gate import Gate
    from fairclock.console.readings.protocol import Readings
    from fairclock.store.audit import AuditEntry

    ProblemPage = Callable[["Console", Request, Exception], Awaitable[Response]]

__all__ = ["OPEN_PATHS", "Console", "console_app"]
_TITLES = {404: "there is nothing at this address", 405: "that cannot be done at this address"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Console:
    """What pages and the API work with; `note` keeps an entry of the audit log."""

    readings: Readings
    gate: Gate
    note: Callable[[AuditEntry], object]
    is_secure: bool = False
    """whether cookies may only travel by HTTPS"""


def console_app(
    console: Console, routes: Sequence[BaseRoute], *, problem_page: ProblemPage | None = None
) -> Starlette:
    """Return the application of the pages' and the API's routes; `problem_page` answers what pages cannot."""

    async def failed(request: Request, error: Exception) -> Response:
        if problem_page is not None and not request.url.path.startswith(API):
            return await problem_page(console, request, error)
        if isinstance(error, FairclockError):
            return answered(error)
        if isinstance(error, HTTPException):
            title = _TITLES.get(error.status_code, error.detail)
            return problem(
                error.status_code, kind=f"http-{error.status_code}", title=title,
                detail=f"{title}; see /api/v1/openapi.json", headers=error.headers,
            )  # fmt: skip
        raise error

    made = Starlette(
        routes=list(routes),
        middleware=[Middleware(Guard, console=console, problem_page=problem_page)],
        exception_handlers={FairclockError: failed, HTTPException: failed},
    )
    # else a name that somebody wrote into Host would stand in Location
    made.router.redirect_slashes = False
    return made
