"""Own the answers that are no model's: errors in the shape that clients of OpenAI's API read."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from starlette.responses import JSONResponse

if TYPE_CHECKING:
    from collections.abc import Mapping

_KINDS = {
    HTTPStatus.BAD_REQUEST: "BadRequestError",
    HTTPStatus.UNAUTHORIZED: "AuthenticationError",
    HTTPStatus.NOT_FOUND: "NotFoundError",
    HTTPStatus.METHOD_NOT_ALLOWED: "MethodNotAllowedError",
    HTTPStatus.SERVICE_UNAVAILABLE: "ServiceUnavailableError",
}


def failure(
    status: HTTPStatus,
    message: str,
    *,
    parameter: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    """Return the answer that says what was wrong; `parameter` names the field or header."""
    error = {
        "message": message,
        "type": _KINDS.get(status, status.phrase),
        "param": parameter,
        "code": int(status),
    }
    return JSONResponse({"error": error}, status_code=status, headers=headers)
