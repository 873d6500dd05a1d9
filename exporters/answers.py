"""Own what the addresses of ``fairclock up`` have in common: who asks, and how a request is refused or put off."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from fairclock.errors import FairclockError

_BEARER = "bearer "
_RETRY_AFTER_SECONDS = 5


def bearer_of(request: Request) -> str:
    """Return the token that a request carries; an empty text where it carries none."""
    header = request.headers.get("Authorization", "")
    return header[len(_BEARER) :].strip() if header[: len(_BEARER)].lower() == _BEARER else ""


def refusal(status: int, text: str, **more: Any) -> Response:
    """Return the answer that says in `text` why a request is not taken."""
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else None  # noqa: PLR2004 - it names itself
    return JSONResponse({"problem": text, **more}, int(status), headers)


def not_now(error: FairclockError) -> Response:
    """Return the answer that tells a sender to come again."""
    return JSONResponse({"problem": str(error)}, 503, {"Retry-After": str(_RETRY_AFTER_SECONDS)})
