"""Own signing in and out: from a token that somebody typed to a session of their browser, each noted."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool

from fairclock.console.access.gate import Refusal, address_of
from fairclock.console.access.sessions import FORM_COOKIE, SESSION_COOKIE, SESSION_SECONDS
from fairclock.store.audit import AuditEntry

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from fairclock.console.access.callers import Caller
    from fairclock.console.access.gate import Entry
    from fairclock.console.server import Console

MOST_CHARACTERS = 200
"""Of what is typed as a token; longer text is none."""


async def sign_in(console: Console, request: Request, text: str) -> Entry:
    """Return whose token `text` is, or why nobody is let in; noted in the audit log either way.

    Who has to wait is not noted again: an address would fill the log, and the store, as fast as it asks.
    """
    address = address_of(request)
    entry = await run_in_threadpool(console.gate.admit, text.strip()[:MOST_CHARACTERS], address)
    if entry.refusal is not Refusal.TOO_MANY:
        await note(
            console,
            request,
            entry.caller,
            action="sign in",
            outcome="let in" if entry.caller else str(entry.refusal),
        )
    return entry


def keep_session(console: Console, request: Request, response: Response, text: str) -> Response:
    """Let the browser be known by a session for whoever holds the token `text`, and return `response`."""
    before = request.cookies.get(SESSION_COOKIE)
    if before is not None:
        console.gate.sessions.end(before)
    name = console.gate.sessions.begin(text.strip()[:MOST_CHARACTERS])
    set_cookie(response, SESSION_COOKIE, name, is_secure=console.is_secure, seconds=SESSION_SECONDS)
    return response


async def sign_out(console: Console, request: Request, response: Response) -> Response:
    """End the browser's session, and return `response`."""
    name = request.cookies.get(SESSION_COOKIE)
    if name is not None:
        console.gate.sessions.end(name)
        await note(console, request, request.state.caller, action="sign out", outcome="signed out")
    response.delete_cookie(SESSION_COOKIE, path="/", httponly=True, samesite="strict")
    return response


async def note(
    console: Console,
    request: Request,
    caller: Caller | None,
    *,
    action: str,
    outcome: str,
    subject: str = "",
    **said: object,
) -> None:
    """Add to the audit log what `caller` did, or tried to; a token never stands in it."""
    entry = AuditEntry(
        who="" if caller is None else caller.name,
        scope="" if caller is None else str(caller.scope),
        address=address_of(request),
        action=action,
        subject=subject,
        outcome=outcome,
        detail=json.dumps(said, ensure_ascii=False, default=str, sort_keys=True),
    )
    await run_in_threadpool(console.note, entry)


def set_cookie(
    response: Response, name: str, value: str, *, is_secure: bool, seconds: int | None = None
) -> None:
    """Set a cookie that no script sees, and that no other site's request carries."""
    response.set_cookie(
        name, value, max_age=seconds, path="/", secure=is_secure, httponly=True, samesite="strict"
    )


def form_cookie_header(value: str, *, is_secure: bool) -> str:
    """Return the Set-Cookie header of the cookie that forms are bound to."""
    return f"{FORM_COOKIE}={value}; HttpOnly; Path=/; SameSite=strict{'; Secure' if is_secure else ''}"
