"""Own sessions of browsers: a random name in a cookie stands for a token, which stays here."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

SESSION_COOKIE = "fairclock_session"
FORM_COOKIE = "fairclock_form"
SESSION_SECONDS = 12 * 3600
_MOST_SESSIONS = 1_000
_MOST_OF_A_TOKEN = 20
"""Sessions; the holder of one token ends only its own by beginning others."""
_NAME_BYTES = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class _Session:
    token: str
    ends_at: float


class Sessions:
    """The sessions that are open; they end with the process, after half a day, or with their token."""

    def __init__(self, *, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._guard = Lock()
        self._open: OrderedDict[str, _Session] = OrderedDict()

    def begin(self, token: str) -> str:
        """Return the name of a new session of whoever holds `token`."""
        name = new_name()
        with self._guard:
            mine = [each for each, session in self._open.items() if session.token == token]
            for each in mine[: max(0, len(mine) + 1 - _MOST_OF_A_TOKEN)]:
                del self._open[each]
            self._open[name] = _Session(token=token, ends_at=self._monotonic() + SESSION_SECONDS)
            while len(self._open) > _MOST_SESSIONS:
                self._open.popitem(last=False)
        return name

    def token_of(self, name: str) -> str | None:
        """Return the token of the session `name`; None where it is not open."""
        with self._guard:
            found = self._open.get(name)
            if found is None or found.ends_at <= self._monotonic():
                self._open.pop(name, None)
                return None
            return found.token

    def end(self, name: str) -> None:
        """End a session."""
        with self._guard:
            self._open.pop(name, None)


class Forms:
    """The tokens of forms: bound to the cookies of the browser that was given the form."""

    def __init__(self) -> None:
        self._secret = secrets.token_bytes(_NAME_BYTES)

    def token(self, form_cookie: str, session: str) -> str:
        """Return what a form must carry."""
        text = f"{len(form_cookie)}:{form_cookie}:{session}".encode("utf-8", "surrogatepass")
        return hmac.new(self._secret, text, hashlib.sha256).hexdigest()

    def is_right(self, given: str, form_cookie: str, session: str) -> bool:
        """Return whether a form carries what it must."""
        wanted = self.token(form_cookie, session)
        return bool(form_cookie) and hmac.compare_digest(given.encode("utf-8", "replace"), wanted.encode())


def new_name() -> str:
    """Return a name that nobody guesses."""
    return secrets.token_urlsafe(_NAME_BYTES)
