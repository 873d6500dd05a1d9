"""Own who asks: a token's holder, or whoever sits at the machine whose loopback address is all that is listened on."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairclock.store.tokens import Scope

if TYPE_CHECKING:
    from collections.abc import Collection

    from starlette.requests import Request

    from fairclock.store.tokens import Token

LOCAL = "local"
_SEES_ALL = frozenset({Scope.ADMIN, Scope.OPERATOR})
_LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
_FORWARDED = frozenset({"forwarded", "via", "x-real-ip", "x-client-ip", "true-client-ip", "cf-connecting-ip"})
_FORWARDED_AS = ("x-forwarded-", "x-original-", "x-envoy-")
_BEFORE_PROXIES_SAID = frozenset({"0.9", "1.0"})
"""Versions of HTTP that no browser speaks and plain proxies do, which may add no header at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who asks; `tenant` is set where only that tenant's figures may be seen."""

    name: str
    scope: Scope
    tenant: str | None = None

    @property
    def sees_all(self) -> bool:
        """Return whether the figures of every tenant, and of the machines, may be seen."""
        return self.scope in _SEES_ALL

    @property
    def may_propose(self) -> bool:
        """Return whether exclusions may be proposed: that is the provider's side's."""
        return self.scope in _SEES_ALL

    @property
    def may_audit(self) -> bool:
        """Return whether the audit log may be read."""
        return self.scope is Scope.ADMIN

    def may_see(self, tenants: Collection[str]) -> bool:
        """Return whether figures about all of `tenants` together may be seen."""
        if self.sees_all:
            return True
        return self.scope is Scope.TENANT and bool(tenants) and set(tenants) == {self.tenant}


def caller_of(token: Token) -> Caller | None:
    """Return the caller that holds `token`; None where it is for something else."""
    if token.scope is Scope.TENANT:
        return Caller(name=token.name, scope=token.scope, tenant=token.tenant) if token.tenant else None
    return Caller(name=token.name, scope=token.scope) if token.scope in _SEES_ALL else None


def local_caller(request: Request, *, is_loopback: bool) -> Caller | None:
    """Return the person at this machine; None where it may be somebody else.

    A page of another site that had its name point here, and whoever comes through a proxy, is somebody else.
    """
    client = request.client
    if not is_loopback or client is None or not _is_loopback(client.host):
        return None
    if host_of(request.headers.get("host", "")) not in _LOCAL_NAMES:
        return None
    if request.scope.get("http_version") in _BEFORE_PROXIES_SAID:
        return None
    if any(name in _FORWARDED or name.startswith(_FORWARDED_AS) for name in request.headers):
        return None
    return Caller(name=LOCAL, scope=Scope.ADMIN)


def host_of(header: str) -> str:
    """Return the name in a Host header, without port and brackets."""
    text = header.strip().lower()
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.rpartition(":")[0] if text.count(":") == 1 else text


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
