"""Own the tokens by which other processes and people are known: made once, shown once, kept as a hash.

A token is ``fct_``, its public id, and 256 random bits. What is random needs no slow hash: SHA-256 it is.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import re
import secrets
import threading
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from fairclock.errors import StoreError, UsageError
from fairclock.store.query import Query

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from fairclock.store import Store

_LOG = logging.getLogger(__name__)
_ID_BYTES = 4
_SECRET_BYTES = 32
_SHAPE = re.compile(r"fct_(?P<id>[0-9a-f]{8})_[A-Za-z0-9_-]{43}")
_NAME = re.compile(r"[^\x00-\x1f\x7f]{1,100}")
_COLUMNS = ("id", "name", "scope", "tenant", "token_sha256", "created_at", "revoked_at", "version")
_REFRESH_SECONDS = 5.0
_UNKNOWN_REFRESH_SECONDS = 1.0
_FAILED_REFRESH_SECONDS = 15.0
_FAILED_FIRST_SECONDS = 2.0


class Scope(StrEnum):
    """What a token is for."""

    ADMIN = "admin"
    OPERATOR = "operator"
    COLLECTOR = "collector"
    TENANT = "tenant"


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A token without its secret; `tenant` is set where the scope is tenant, else empty."""

    id: str
    name: str
    scope: Scope
    tenant: str
    sha256: str
    created_at: datetime
    revoked_at: datetime | None = None


def mint(*, name: str, scope: Scope, tenant: str, now: datetime) -> tuple[str, Token]:
    """Return a new token as text, and what is kept of it; raises `UsageError`."""
    if not _NAME.fullmatch(name.strip()):
        raise UsageError("--name", "is no name", remedy="write up to 100 characters that can be printed")
    if scope is Scope.TENANT and not tenant:
        raise UsageError("--tenant", "is missing", remedy="name the tenant whose figures the token shows")
    if scope is not Scope.TENANT and tenant:
        raise UsageError("--tenant", f"has no effect with the scope {scope}", remedy="leave it out")
    token_id = secrets.token_hex(_ID_BYTES)
    text = f"fct_{token_id}_{secrets.token_urlsafe(_SECRET_BYTES)}"
    kept = Token(
        id=token_id, name=name.strip(), scope=scope, tenant=tenant, sha256=digest_of(text), created_at=now
    )
    return text, kept


def digest_of(text: str) -> str:
    """Return the hash that is kept of a token."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def list_tokens(store: Store) -> list[Token]:
    """Return all tokens, the oldest first, revoked ones too."""
    found = store.rows(
        Query(sql=f"SELECT {', '.join(_COLUMNS[:-1])} FROM tokens FINAL ORDER BY created_at, id")
    )
    return [_token(row) for row in found]


def keep_token(store: Store, token: Token) -> None:
    """Keep `token`."""
    _write(store, token)


def revoke_token(store: Store, named: str, *, now: datetime) -> Token:
    """Revoke the token with this id or name and return it; `UsageError` unless it is one that is in force."""
    in_force = [token for token in list_tokens(store) if token.revoked_at is None]
    matching = [token for token in in_force if named == token.id] or [
        token for token in in_force if named == token.name
    ]
    if len(matching) != 1:
        raise UsageError(
            named,
            "several tokens in force are called so" if matching else "no token in force is called so",
            remedy="name it by its id: see fairclock tokens list",
        )
    revoked = replace(matching[0], revoked_at=now)
    _write(store, revoked)
    return revoked


def _write(store: Store, token: Token) -> None:
    version = 1 if token.revoked_at is None else 2
    row = (
        token.id, token.name, token.scope.value, token.tenant, token.sha256,
        token.created_at, token.revoked_at, version,
    )  # fmt: skip
    store.insert("tokens", _COLUMNS, [row])


def _token(row: Sequence[Any]) -> Token:
    token_id, name, scope, tenant, sha256, created_at, revoked_at = row
    return Token(
        id=token_id, name=name, scope=Scope(scope), tenant=tenant, sha256=sha256,
        created_at=created_at, revoked_at=revoked_at,
    )  # fmt: skip


class Keyring:
    """Know tokens by their text, from a copy of the list that is some seconds old at most.

    While the list cannot be read, the last copy holds; without one, asking raises `StoreError`. `read` returns
    the list, `monotonic` counts seconds. Usable from several threads.
    """

    def __init__(self, read: Callable[[], Sequence[Token]], *, monotonic: Callable[[], float]) -> None:
        self._read = read
        self._monotonic = monotonic
        self._known: dict[str, Token] | None = None
        self._read_at = 0.0
        self._failed: tuple[float, StoreError] | None = None
        self._reading = threading.Lock()

    def find(self, text: str) -> Token | None:
        """Return the token in force that `text` is; None where there is none."""
        match = _SHAPE.fullmatch(text)
        if match is None:
            return None
        known = self._list(older_than=_REFRESH_SECONDS)
        if match["id"] not in known:
            known = self._list(older_than=_UNKNOWN_REFRESH_SECONDS)
        token = known.get(match["id"])
        if token is None or not hmac.compare_digest(token.sha256, digest_of(text)):
            return None
        return token

    def _list(self, *, older_than: float) -> dict[str, Token]:
        known = self._known
        if known is not None and self._monotonic() - self._read_at < older_than:
            return known
        if not self._reading.acquire(blocking=known is None):
            assert known is not None  # noqa: S101 - only then is nobody waited for
            return known
        try:
            return self._refreshed(older_than)
        finally:
            self._reading.release()

    def _refreshed(self, older_than: float) -> dict[str, Token]:
        now = self._monotonic()
        if self._known is not None and now - self._read_at < older_than:
            return self._known  # another thread has just done it
        if self._failed is not None:
            failed_at, problem = self._failed
            if self._known is None and now - failed_at < _FAILED_FIRST_SECONDS:
                raise problem
            if self._known is not None and now - failed_at < _FAILED_REFRESH_SECONDS:
                return self._known
        try:
            tokens = self._read()
        except StoreError as error:
            self._failed = self._monotonic(), error
            if self._known is None:
                raise
            _LOG.warning("tokens are known as they were last read: %s", error)
            return self._known
        self._failed = None
        self._known = {token.id: token for token in tokens if token.revoked_at is None}
        self._read_at = self._monotonic()
        return self._known
