"""Own the addresses of pages: each asks what the API asks, and shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import HTMLResponse, RedirectResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from fairclock.console.access.doors import keep_session, sign_in, sign_out
from fairclock.console.access.gate import FORM_FIELD, Refusal, address_of
from fairclock.console.api.endpoints import ENDPOINTS, Asked
from fairclock.console.api.parameters import checked
from fairclock.console.pages.choices import keep_choices
from fairclock.console.pages.exclusions import Filled, proposal_of
from fairclock.console.pages.looking import form_of, safe_way, view_of
from fairclock.console.pages.making import (
    exclusions_html,
    method_html,
    page_html,
    problem_html,
    sign_in_html,
    words_for,
)
from fairclock.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute

    from fairclock.console.api.endpoints import Endpoint
    from fairclock.console.server import Console

    Handler = Callable[[Request], Awaitable[Response]]

_PATHS = {
    "overview": "/",
    "tenant": "/tenants/{tenant}",
    "requests": "/requests",
    "request": "/requests/{key}",
    "incidents": "/incidents",
    "cost": "/cost",
    "probes": "/probes",
    "sources": "/sources",
    "reports": "/reports",
    "exclusions": "/exclusions",
    "changes": "/changes",
}
"""Where each page lies; its reading is that of the endpoint of the same name."""
_REFUSED = {
    Refusal.NO_TOKEN: "no_token",
    Refusal.UNKNOWN: "unknown",
    Refusal.OTHER_SCOPE: "other_scope",
    Refusal.TOO_MANY: "too_many",
}
_SEE_OTHER, _FORBIDDEN, _UNAUTHORIZED, _TOO_MANY, _UNPROCESSABLE = 303, 403, 401, 429, 422


def routes(console: Console) -> list[BaseRoute]:
    """Return the routes of every page, of the form, of signing in and out, and of what pages load."""
    endpoints = {each.name: each for each in ENDPOINTS}
    return [
        Mount("/static", StaticFiles(packages=[("fairclock.console", "static")]), name="static"),
        *(
            Route(path, _page(console, endpoints[name]), methods=["GET"], name=f"page.{name}")
            for name, path in _PATHS.items()
        ),
        Route("/exclusions", _propose(console), methods=["POST"], name="page.propose"),
        Route("/method", _method(console), methods=["GET"], name="page.method"),
        Route("/sign-in", _sign_in_page(console), methods=["GET"], name="page.sign_in"),
        Route("/sign-in", _sign_in(console), methods=["POST"], name="page.signed_in"),
        Route("/sign-out", _sign_out(console), methods=["POST"], name="page.sign_out"),
        Route("/favicon.ico", _icon, methods=["GET"], name="page.icon"),
    ]


def _page(console: Console, endpoint: Endpoint) -> Handler:
    known = {each.name for each in endpoint.parameters if each.place == "query"}

    async def show(request: Request) -> Response:
        view = view_of(console, request)
        asked = Asked(
            console=console,
            request=request,
            caller=request.state.caller,
            path=request.path_params,
            query=checked(
                endpoint.parameters, [(name, value) for name, value in view.query.items() if name in known]
            ),
        )
        for each in endpoint.parameters:
            if each.place == "path":
                each.check(request.path_params[each.name])
        page = await endpoint.answer(asked)
        return _html(console, request, page_html(page, view))  # type: ignore[arg-type]  # these answer with pages

    return show


def _propose(console: Console) -> Handler:
    async def take(request: Request) -> Response:
        view, form = view_of(console, request), await form_of(request)
        if not console.gate.may_change(request, form.get(FORM_FIELD, "")):
            return _html(
                console, request, problem_html(view, status=_FORBIDDEN, kind="stale"), status=_FORBIDDEN
            )
        page = await console.readings.exclusions(request.state.caller)
        words = words_for(page, view)
        proposal = proposal_of(form, words.zone, words)
        if isinstance(proposal, Filled):
            return _html(
                console, request, exclusions_html(page, view, filled=proposal), status=_UNPROCESSABLE
            )
        try:
            kept = await console.readings.propose(request.state.caller, proposal, address=address_of(request))
        except UsageError as refused:
            filled = Filled(values=form, problem=str(refused))
            return _html(console, request, exclusions_html(page, view, filled=filled), status=_UNPROCESSABLE)
        page = await console.readings.exclusions(request.state.caller)
        return _html(console, request, exclusions_html(page, view, kept=kept))

    return take


def _method(console: Console) -> Handler:
    async def show(request: Request) -> Response:
        return _html(console, request, method_html(view_of(console, request)))

    return show


def _sign_in_page(console: Console) -> Handler:
    async def show(request: Request) -> Response:
        way = safe_way(request.query_params.get("next", "/"))
        return _html(console, request, sign_in_html(view_of(console, request), next_path=way))

    return show


def _sign_in(console: Console) -> Handler:
    async def take(request: Request) -> Response:
        view, form = view_of(console, request), await form_of(request)
        way = safe_way(form.get("next", "/"))
        if not console.gate.may_change(request, form.get(FORM_FIELD, "")):
            html = sign_in_html(view, next_path=way, problem="stale")
            return _html(console, request, html, status=_FORBIDDEN)
        entry = await sign_in(console, request, form.get("token", ""))
        if entry.caller is None:
            refusal = entry.refusal or Refusal.UNKNOWN
            html = sign_in_html(view, next_path=way, problem=_REFUSED[refusal])
            status = _TOO_MANY if refusal is Refusal.TOO_MANY else _UNAUTHORIZED
            return _html(console, request, html, status=status)
        return keep_session(console, request, RedirectResponse(way, _SEE_OTHER), form["token"])

    return take


def _sign_out(console: Console) -> Handler:
    async def take(request: Request) -> Response:
        form = await form_of(request)
        if not console.gate.may_change(request, form.get(FORM_FIELD, "")):
            html = problem_html(view_of(console, request), status=_FORBIDDEN, kind="stale")
            return _html(console, request, html, status=_FORBIDDEN)
        return await sign_out(console, request, RedirectResponse("/sign-in", _SEE_OTHER))

    return take


async def _icon(_: Request) -> Response:
    return RedirectResponse("/static/icon.svg", _SEE_OTHER)


def _html(console: Console, request: Request, text: str, *, status: int = 200) -> Response:
    return keep_choices(request, HTMLResponse(text, status), is_secure=console.is_secure)
