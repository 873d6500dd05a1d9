"""Own where ``fairclock up`` takes frames from sidecars: ``POST /v1/frames``.

A sender is answered once the spool has its frames. It is known by its token before any of its body is held, and
only so many bodies are held at a time.
"""

from __future__ import annotations

import asyncio
import logging
from enum import IntEnum
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse
from starlette.routing import Route

from exporters.answers import bearer_of, not_now, refusal
from exporters.forwarding.batches import LARGEST_BATCH_BYTES, MEDIA_TYPE, PATH, decode_batch
from fairclock.errors import FairclockError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from starlette.requests import Request
    from starlette.responses import Response

    from fairclock.model import Frame

_LOG = logging.getLogger(__name__)
_MOST_AT_ONCE = 4
_BODY_SECONDS = 60.0


class Permission(IntEnum):
    """What a token allows, as the status that answers it."""

    GRANTED = 200
    UNKNOWN = 401
    OTHER_SCOPE = 403


_REFUSALS = {
    Permission.UNKNOWN: "the token is not known here, or was revoked",
    Permission.OTHER_SCOPE: "the token has another scope than collector",
}


def frames_route(
    append: Callable[[Sequence[Frame]], None],
    permission: Callable[[str], Permission],
    *,
    counted: Callable[[int], None] = lambda _: None,
) -> Route:
    """Return the route; `append` returns once the frames are safe, `permission` is asked for each token.

    `counted` is told how many frames were taken. A `FairclockError` from the first two is answered with 503.
    """
    holding = asyncio.Semaphore(_MOST_AT_ONCE)

    async def take(request: Request) -> Response:
        try:
            granted = await run_in_threadpool(permission, bearer_of(request))
        except FairclockError as error:
            await _drain(request)
            return not_now(error)
        if granted is not Permission.GRANTED:
            await _drain(request)
            return refusal(granted, _REFUSALS[granted])
        if request.headers.get("Content-Type") != MEDIA_TYPE:
            await _drain(request)
            return refusal(415, f"this takes {MEDIA_TYPE}; let both sides run the same Fairclock")
        async with holding:
            try:
                body = await asyncio.wait_for(_body(request), _BODY_SECONDS)
            except TimeoutError:
                return refusal(408, f"the body took longer than {_BODY_SECONDS:.0f} s")
            if body is None:
                return refusal(413, f"the body is larger than {LARGEST_BATCH_BYTES} bytes")
            return await run_in_threadpool(_answer, body)

    def _answer(body: bytes) -> Response:
        try:
            frames = decode_batch(body)
        except ValueError as error:
            _LOG.warning("a sender's batch is refused: %s", error)
            return refusal(400, str(error))
        try:
            append(frames)
        except FairclockError as error:
            return not_now(error)
        counted(len(frames))
        return JSONResponse({"frames": len(frames)})

    return Route(PATH, take, methods=["POST"])


async def _body(request: Request) -> bytes | None:
    """Return the body; None where it is larger than it may be."""
    pieces: list[bytes] = []
    total = 0
    try:
        async for piece in request.stream():
            total += len(piece)
            if total > LARGEST_BATCH_BYTES:
                pieces.clear()
            else:
                pieces.append(piece)
    except ClientDisconnect:
        return b""  # nobody is there to be answered
    return b"".join(pieces) if total <= LARGEST_BATCH_BYTES else None


async def _drain(request: Request) -> None:
    """Read on, and hold nothing: a sender hears the answer only after it has sent."""
    try:
        async with asyncio.timeout(_BODY_SECONDS):
            total = 0
            async for piece in request.stream():
                total += len(piece)
                if total > LARGEST_BATCH_BYTES:
                    return
    except (ClientDisconnect, TimeoutError):
        return
