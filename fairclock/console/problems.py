"""Own how the API says that something is wrong: ``application/problem+json`` (RFC 9457), never a trace."""

from __future__ import annotations

import logging
from dataclasses import dataclass
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
AWAY = 503
RETRY_AFTER = {"Retry-After": "5"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """What errors of one class are answered with; `page` is what the pages' words call it."""

    raised: type[FairclockError]
    status: int
    name: str
    title: str
    page: str


KINDS = (
    Kind(raised=NotShown, status=404, name="not-found", title="there is nothing of that name", page="not_found"),
    Kind(raised=NotAllowed, status=403, name="not-allowed", title="that is not for you to do", page="not_allowed"),
    Kind(raised=TooBusy, status=AWAY, name="too-busy", title="the answer takes too long", page="busy"),
    Kind(raised=StoreError, status=AWAY, name="store-away", title="the store does not answer", page="store"),
    Kind(raised=NotEvaluable, status=422, name="not-evaluable", title="the question cannot be answered", page="not_evaluable"),
    Kind(raised=UsageError, status=422, name="wrong-question", title="the question is not well put", page="wrong"),
)  # fmt: skip


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
    kind = kind_of(error)
    if kind is None:
        _LOG.error("the console cannot answer: %s", error)
        return failed()
    is_away = kind.raised is StoreError
    return problem(
        kind.status,
        kind=kind.name,
        title=kind.title,
        detail="try again in a few seconds" if is_away else str(error),
        where=None if is_away else error.where,
        headers=RETRY_AFTER if kind.status == AWAY else None,
    )


def kind_of(error: Exception) -> Kind | None:
    """Return of which kind an error is; None for one that no question can be at fault for."""
    return next((each for each in KINDS if isinstance(error, each.raised)), None)


def failed() -> Response:
    """Return the answer after a fault that is not the question's; what it was stands in the log, where files may be named."""
    return problem(
        500,
        kind="failure",
        title="the console failed",
        detail="this is no fault of the question; its log says more",
    )
