"""Own where ``fairclock up`` is told of degradations by gateways and operators: ``POST /v1/degradations``.

A sender is known by its token before its body is read; the body is one small JSON object. Saying the same
again adds nothing, so a sender that heard no answer sends again.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from exporters.answers import bearer_of, not_now, refusal
from fairclock.cli.degradations import shown
from fairclock.errors import FairclockError
from fairclock.store.tokens import Scope
from sla.degradations import Degradation

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request

    from fairclock.model.remedies import DegradationEntry
    from fairclock.store.tokens import Token

    Record = Callable[[Degradation, str], tuple[DegradationEntry, bool]]

PATH = "/v1/degradations"
LARGEST_BODY_BYTES = 64 << 10
_ALLOWED = {Scope.OPERATOR, Scope.ADMIN}
_BODY_SECONDS = 10.0
_MOST_PROBLEMS = 20


def degradations_route(record: Record, find: Callable[[str], Token | None]) -> Route:
    """Return the route; `find` knows tokens by their text, `record` keeps what was said by whom.

    201 answers something new, 200 what was known already. A `FairclockError` of either is answered with 503.
    """

    async def take(request: Request) -> Response:
        try:
            token = await run_in_threadpool(find, bearer_of(request))
        except FairclockError as error:
            return not_now(error)
        refused = _refused(token, request)
        if refused is not None:
            return refused
        try:
            body = await asyncio.wait_for(_body(request), _BODY_SECONDS)
        except TimeoutError:
            return refusal(408, f"the body took longer than {_BODY_SECONDS:.0f} s")
        if body is None:
            return refusal(413, f"the body is larger than {LARGEST_BODY_BYTES} bytes")
        return await run_in_threadpool(_answer, record, body, token.name if token else "")

    return Route(PATH, take, methods=["POST"])


def _refused(token: Token | None, request: Request) -> Response | None:
    if token is None:
        return refusal(401, "the token is not known here, or was revoked")
    if token.scope not in _ALLOWED:
        return refusal(403, "the token has another scope than operator or admin")
    if request.headers.get("Content-Type", "").partition(";")[0].strip().lower() != "application/json":
        return refusal(415, "this takes application/json")
    return None


def _answer(record: Record, body: bytes, author: str) -> Response:
    try:
        said = Degradation.model_validate_json(body)
    except ValidationError as error:
        return refusal(400, "this is no degradation", problems=_problems(error))
    try:
        entry, is_new = record(said, author)
    except FairclockError as error:
        return not_now(error)
    return JSONResponse({**shown(entry), "new": is_new}, 201 if is_new else 200)


def _problems(error: ValidationError) -> list[dict[str, str]]:
    """Return each problem with its path; what was sent is not repeated."""
    found = error.errors(include_url=False, include_context=False, include_input=False)
    return [
        {"path": ".".join(map(str, each["loc"])), "problem": each["msg"].removeprefix("Value error, ")}
        for each in found[:_MOST_PROBLEMS]
    ]


async def _body(request: Request) -> bytes | None:
    """Return the body; None where it is larger than it may be."""
    pieces: list[bytes] = []
    total = 0
    try:
        async for piece in request.stream():
            total += len(piece)
            if total > LARGEST_BODY_BYTES:
                return None
            pieces.append(piece)
    except ClientDisconnect:
        return b""  # nobody is there to be answered
    return b"".join(pieces)
