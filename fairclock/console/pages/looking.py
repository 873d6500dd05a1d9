"""Own the way from a request to how its page is looked at, and what its form holds."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from fairclock.console.access.callers import LOCAL
from fairclock.console.access.gate import FORM_FIELD
from fairclock.console.pages.choices import LANGUAGE, THEME, language_for, theme_for
from fairclock.console.pages.view import Reader, View
from fairclock.errors import UsageError

if TYPE_CHECKING:
    from starlette.requests import Request

    from fairclock.console.access.callers import Caller
    from fairclock.console.server import Console

_LARGEST_FORM_BYTES = 64 << 10
_MOST_FIELDS = 50


def view_of(console: Console, request: Request) -> View:
    """Return how `request` looks at its page."""
    caller: Caller | None = request.state.caller
    query = {
        name: value for name, value in request.query_params.items() if value and name not in (LANGUAGE, THEME)
    }
    return View(
        language=language_for(request),
        theme=theme_for(request),
        path=request.url.path,
        query=query,
        now=datetime.now(UTC),
        reader=None if caller is None else _reader(caller),
        form_token=console.gate.form_token(request),
        form_field=FORM_FIELD,
    )


def _reader(caller: Caller) -> Reader:
    return Reader(
        name=caller.name,
        tenant=caller.tenant,
        is_local=caller.name == LOCAL,
        may_propose=caller.may_propose,
        may_audit=caller.may_audit,
    )


async def form_of(request: Request) -> dict[str, str]:
    """Return the fields of a form that was sent, the last of equal names; UsageError for one that is too large."""
    pieces: list[bytes] = []
    total = 0
    async for piece in request.stream():
        total += len(piece)
        if total > _LARGEST_FORM_BYTES:
            raise UsageError("form", "is too large", remedy=f"send at most {_LARGEST_FORM_BYTES // 1024} KiB")
        pieces.append(piece)
    text = b"".join(pieces).decode("utf-8", "replace")
    try:
        return dict(parse_qsl(text, keep_blank_values=True, max_num_fields=_MOST_FIELDS))
    except ValueError as error:
        raise UsageError("form", "has too many fields", remedy="send the form as the page gave it") from error


def safe_way(text: str) -> str:
    """Return where to go after signing in: a way on this console, whatever the address said."""
    is_plain = text.startswith("/") and not text.startswith(("//", "/\\")) and text.isprintable()
    return text if is_plain and "\\" not in text else "/"
