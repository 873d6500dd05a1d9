"""Own the order in which a request's tenant is looked for: API key, certificate, the log's own word, path.

A key and a certificate were checked by the gateway; a header that it logs may be the client's own choice.
"""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

from collectors.gateway.formats.values import bearer_key, is_absent, path_of
from collectors.gateway.tenants.key_file import KeyFile

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from collectors.gateway.tenants.configuration import CertificateSection, TenantSection

_ATTRIBUTE = re.compile(r"\s*([A-Za-z0-9.]+)\s*=\s*((?:\\.|[^,+\\])*)[,+]?", re.DOTALL)


class Tenancy:
    """Tell a request's tenant from its canonical fields."""

    def __init__(self, section: TenantSection, *, monotonic: Callable[[], float]) -> None:
        """Read the file of keys; raises `ConfigurationError`."""
        self._keys = None if section.keys is None else KeyFile(section.keys, monotonic=monotonic)
        self._certificates = section.certificates
        self._routes = [
            (each, re.compile(each.matches or _below(each.prefix or "/"))) for each in section.routes
        ]

    def __call__(self, fields: Mapping[str, str]) -> str:
        """Return the tenant, or an empty text where nothing but what the line says is known."""
        return (
            self._of_key(fields)
            or self._of_certificate(fields.get("client_subject", ""))
            or ("" if not is_absent(fields.get("tenant", "")) else self._of_path(fields.get("uri", "")))
        )

    def _of_key(self, fields: Mapping[str, str]) -> str:
        if self._keys is None:
            return ""
        key, sha256 = fields.get("api_key", ""), fields.get("api_key_sha256", "")
        if not is_absent(sha256):
            return self._keys.tenant_of_hash(sha256)
        return "" if is_absent(key) else self._keys.tenant_of_key(bearer_key(key) or key)

    def _of_certificate(self, subject: str) -> str:
        if is_absent(subject) or not self._certificates:
            return ""
        name = common_name(subject)
        return next((each.tenant for each in self._certificates if _is_of(each, subject, name)), "")

    def _of_path(self, uri: str) -> str:
        path = path_of(uri)
        for route, pattern in self._routes if path else ():
            found = pattern.search(path)
            if found is not None:
                return found.expand(route.tenant) if route.matches is not None else route.tenant
        return ""


def tenancy_of(section: TenantSection, *, monotonic: Callable[[], float] = time.monotonic) -> Tenancy | None:
    """Return what tells tenants, or None where nothing but the log does; raises `ConfigurationError`."""
    if section.keys is None and not section.certificates and not section.routes:
        return None
    return Tenancy(section, monotonic=monotonic)


def common_name(subject: str) -> str:
    """Return the CN of a subject such as ``CN=acme,O=Acme``, or an empty text where it has none, or several."""
    names: list[str] = []
    position = 0
    while position < len(subject):
        found = _ATTRIBUTE.match(subject, position)
        if found is None:
            return ""
        position = found.end()
        if found[1].upper() == "CN":
            names.append(re.sub(r"\\(.)", r"\1", found[2]).strip())
    return names[0] if len(names) == 1 else ""


def _below(prefix: str) -> str:
    return f"^{re.escape(prefix.rstrip('/'))}(?:/|$)"


def _is_of(section: CertificateSection, subject: str, name: str) -> bool:
    return (
        section.subject == subject
        if section.subject is not None
        else bool(name) and section.common_name == name
    )
