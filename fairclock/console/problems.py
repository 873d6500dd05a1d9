"""Own how the API says that something is wrong: ``application/problem+json`` (RFC 9457), never a trace."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from starlette.responses import Response

from fairclock.console.readings.models.problem import Problem
from fairclock.errors import (
    FairclockError,
    NotAllowed,
    NotEvaluable,
    NotShown,
    StoreError,
    TooBusy,
    UsageError,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

_LOG = logging.getLogger(__name__)
MEDIA_TYPE = "application/problem+json"
_NAMED = "urn:fairclock:problem:"
_RETRY_AFTER_SECONDS = "5"
_KINDS: tuple[tuple[type[FairclockError], int, str, str], ...] = (
    (NotShown, 404, "not-found", "there is nothing of that name"),
    (NotAllowed, 403, "not-allowed", "that is not for you to do"),
    (TooBusy, 503, "too-busy", "the answer takes too long"),
    (StoreError, 503, "store-away", "the store does not answer"),
    (NotEvaluable, 422, "not-evaluable", "the question cannot be answered"),
    (UsageError, 422, "wrong-question", "the question is not well put"),
)


def problem(
    status: int,
    *,
    kind: str,
    title: str,
    detail: str,
    where: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Return the answer that tells of a problem."""
    said = Problem(type=f"{_NAMED}{kind}", title=title, status=status, detail=detail, where=where)
    return Response(said.model_dump_json(), status, headers, media_type=MEDIA_TYPE)


def answered(error: FairclockError) -> Response:
    """Return the answer for an error: what to do stands in it, what the store said in its own words does not."""
    for kind, status, name, title in _KINDS:
        if isinstance(error, kind):
            headers = {"Retry-After": _RETRY_AFTER_SECONDS} if status == 503 else None  # noqa: PLR2004
            detail = "try again in a few seconds" if kind is StoreError else str(error)
            where = None if kind is StoreError else error.where
            return problem(status, kind=name, title=title, detail=detail, where=where, headers=headers)
    _LOG.error("the console cannot answer: %s", error)
    return failed()


def failed() -> Response:
    """Return the answer after a fault that is not the question's; what it was stands in the log, where files may be named."""
    return problem(
        500,
        kind="failure",
        title="the console failed",
        detail="this is no fault of the question; its log says more",
    )
