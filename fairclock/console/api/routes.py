"""Own the API's routes: parameters and bodies are checked, answers are the models as JSON with an ETag."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from pydantic import ValidationError
from starlette.responses import Response
from starlette.routing import Route

from fairclock.console.access.gate import FORM_HEADER
from fairclock.console.access.headers import DOCUMENT_POLICY
from fairclock.console.api.document import openapi_text
from fairclock.console.api.endpoints import ENDPOINTS, Asked
from fairclock.console.api.parameters import checked
from fairclock.console.problems import answered, problem
from fairclock.console.readings.reports import document_form
from fairclock.errors import FairclockError, UsageError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.requests import Request

    from fairclock.console.api.endpoints import Endpoint
    from fairclock.console.server import Console

PREFIX = "/api/v1"
LARGEST_BODY_BYTES = 64 << 10
_MOST_PROBLEMS = 10
_HEAD = re.compile(r'\{"range":(?P<range>\{[^{}]*\}),"as_of":"(?P<as_of>[^"]*)"')
_NAME = re.compile(r'"(?:name|month|time_zone)":"[^"]*"')
_PASSING = re.compile(r'"(?:as_of|elapsed_to)":"[^"]*"')


def api_routes(console: Console) -> list[Route]:
    """Return the routes of every endpoint, of the reports' files, and of the document."""
    by_path: dict[str, list[Endpoint]] = {}
    for each in ENDPOINTS:
        by_path.setdefault(each.path, []).append(each)
    routes = [
        Route(
            f"{PREFIX}{path}",
            _endpoint(console, {each.method: each for each in found}),
            methods=[each.method for each in found],
            name=f"api.{found[0].name}",
        )
        for path, found in by_path.items()
    ]

    async def openapi(_: Request) -> Response:
        return Response(openapi_text(), media_type="application/vnd.oai.openapi+json;version=3.1")

    return [
        *routes,
        Route(
            f"{PREFIX}/reports/{{contract}}/{{file}}", _document(console), methods=["GET"], name="api.report"
        ),
        Route(f"{PREFIX}/openapi.json", openapi, methods=["GET"], name="api.openapi"),
    ]


def _endpoint(console: Console, by_method: dict[str, Endpoint]) -> Callable[[Request], Awaitable[Response]]:
    async def take(request: Request) -> Response:
        endpoint = by_method["GET" if request.method == "HEAD" else request.method]
        try:
            asked = await _asked(console, endpoint, request)
            if isinstance(asked, Response):
                return asked
            found = await endpoint.answer(asked)
        except FairclockError as error:
            return answered(error)
        return _answer(request, found.model_dump_json(by_alias=True), status=endpoint.status)

    return take


async def _asked(console: Console, endpoint: Endpoint, request: Request) -> Asked | Response:
    query = checked(endpoint.parameters, request.query_params.multi_items())
    for each in endpoint.parameters:
        if each.place == "path":
            each.check(request.path_params[each.name])
    body = None
    if endpoint.body is not None:
        refused = _may_not_change(console, request)
        if refused is not None:
            return refused
        text = await _body(request)
        if text is None:
            return problem(
                413,
                kind="too-large",
                title="the body is too large",
                detail=f"send at most {LARGEST_BODY_BYTES} bytes",
            )
        try:
            body = endpoint.body.model_validate_json(text)
        except ValidationError as error:
            raise UsageError("body", _sentence(error), remedy="see /api/v1/openapi.json") from error
    return Asked(
        console=console,
        request=request,
        caller=request.state.caller,
        path=request.path_params,
        query=query,
        body=body,
    )


def _may_not_change(console: Console, request: Request) -> Response | None:
    """Return why a changing request is not taken: a browser's must carry its form token, whoever it is."""
    media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media != "application/json":
        return problem(
            415, kind="wrong-media", title="this takes application/json", detail="send application/json"
        )
    if request.state.by_header or console.gate.may_change(request, request.headers.get(FORM_HEADER, "")):
        return None
    return problem(
        403,
        kind="no-form-token",
        title="the form token is missing or not this browser's",
        detail=f"send {FORM_HEADER} with what /api/v1/session says, or a token as Authorization: Bearer",
    )


def _document(console: Console) -> Callable[[Request], Awaitable[Response]]:
    async def take(request: Request) -> Response:
        try:
            checked((), [each for each in request.query_params.multi_items() if each[0] != "lang"])
            month, form, language = document_form(
                request.path_params["file"], request.query_params.get("lang", "en")
            )
            found = await console.readings.document(
                request.state.caller, request.path_params["contract"], month, form=form, language=language
            )
        except FairclockError as error:
            return answered(error)
        headers = {"Content-Security-Policy": DOCUMENT_POLICY}
        if form in {"pdf", "csv"}:
            headers["Content-Disposition"] = f'attachment; filename="{_ascii(found.name)}"'
        return Response(found.content, headers=headers, media_type=found.media_type)

    return take


def _answer(request: Request, text: str, *, status: int) -> Response:
    """Return `text` with its ETag, or 304 where the caller has the same figures: `as_of` alone is no difference."""
    tag = f'W/"{hashlib.sha256(_lasting(text).encode()).hexdigest()[:32]}"'
    headers = {"ETag": tag}
    if request.method in {"GET", "HEAD"} and tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(text, status, headers, media_type="application/json")


def _lasting(text: str) -> str:
    """Return what of an answer stays the same while no figure changes: not as of when it is, nor a range that ends then.

    A quote within a JSON string is written with a backslash, so that no text of anybody's is taken for a key.
    """
    head = _HEAD.match(text)
    if head is not None and f'"ends_at":"{head["as_of"]}"' in head["range"]:
        text = f"{_NAME.findall(head['range'])}{text[head.end() :]}"
    return _PASSING.sub("", text)


async def _body(request: Request) -> bytes | None:
    pieces: list[bytes] = []
    total = 0
    async for piece in request.stream():
        total += len(piece)
        if total > LARGEST_BODY_BYTES:
            return None
        pieces.append(piece)
    return b"".join(pieces)


def _sentence(error: ValidationError) -> str:
    """Return what is wrong with a body; what was sent is not repeated."""
    found = error.errors(include_url=False, include_context=False, include_input=False)
    said = [
        f"{'.'.join(map(str, each['loc'])) or 'the body'}: {each['msg'].removeprefix('Value error, ')}"
        for each in found[:_MOST_PROBLEMS]
    ]
    return "; ".join(said)


def _ascii(name: str) -> str:
    return "".join(
        each if each.isascii() and each.isprintable() and each not in '"\\' else "_" for each in name
    )
