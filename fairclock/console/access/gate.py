"""Own the gate: from a request to its caller, or to why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from exporters.answers import bearer_of
from fairclock.console.access.callers import caller_of, local_caller
from fairclock.console.access.headers import is_from_here
from fairclock.console.access.sessions import FORM_COOKIE, SESSION_COOKIE

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request

    from fairclock.console.access.callers import Caller
    from fairclock.console.access.failures import Failures
    from fairclock.console.access.sessions import Forms, Sessions
    from fairclock.store.tokens import Token

FORM_FIELD = "form_token"
FORM_HEADER = "x-form-token"


class Refusal(StrEnum):
    """Why nobody is let in."""

    NO_TOKEN = "no token was given"  # noqa: S105 - a sentence
    UNKNOWN = "the token is not known here, or was revoked"
    OTHER_SCOPE = "the token is for something else than the console"
    TOO_MANY = "too many failures from this address"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """Who was let in, or why nobody was; `by_header` where a token came with the request itself."""

    caller: Caller | None = None
    refusal: Refusal | None = None
    by_header: bool = False
    wait_seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """Decide who asks. `find` knows tokens by their text; it raises `StoreError` while nothing can be known.

    is_loopback: whether the console listens on a loopback address alone.
    """

    find: Callable[[str], Token | None]
    sessions: Sessions
    forms: Forms
    failures: Failures
    is_loopback: bool

    def enter(self, request: Request) -> Entry:
        """Return who asks: by the request's token, by its session, or because it comes from this machine.

        Only tokens wait for an address's failures: a session's name is nobody's guess.
        """
        if "authorization" in request.headers:
            return self.admit(bearer_of(request), address_of(request))
        session = request.cookies.get(SESSION_COOKIE)
        token = None if session is None else self.sessions.token_of(session)
        if token is not None:
            known = self.find(token)
            caller = None if known is None else caller_of(known)
            if caller is not None:
                return Entry(caller=caller)
        local = local_caller(request, is_loopback=self.is_loopback)
        return Entry(refusal=Refusal.NO_TOKEN) if local is None else Entry(caller=local)

    def admit(self, text: str, address: str) -> Entry:
        """Return whose token `text` is; one that opens nothing counts as a failure of `address`."""
        wait = self.failures.wait_seconds(address)
        if wait:
            return Entry(refusal=Refusal.TOO_MANY, wait_seconds=wait)
        token = self.find(text)
        if token is None:
            self.failures.count(address)
            return Entry(refusal=Refusal.UNKNOWN)
        caller = caller_of(token)
        if caller is None:
            self.failures.count(address)
            return Entry(refusal=Refusal.OTHER_SCOPE)
        return Entry(caller=caller, by_header=True)

    def form_token(self, request: Request) -> str:
        """Return what a form that answers `request` must carry."""
        return self.forms.token(_cookie(request, FORM_COOKIE), _cookie(request, SESSION_COOKIE))

    def may_change(self, request: Request, given: str) -> bool:
        """Return whether a request that changes something comes from a form that this browser was given here."""
        return is_from_here(request) and self.forms.is_right(
            given, _cookie(request, FORM_COOKIE), _cookie(request, SESSION_COOKIE)
        )


def address_of(request: Request) -> str:
    """Return the address that asks."""
    return request.client.host if request.client is not None else ""


def _cookie(request: Request, name: str) -> str:
    made = getattr(request.state, "form_cookie", "") if name == FORM_COOKIE else ""
    return request.cookies.get(name) or made
