"""Own the file that says whose an API key is, without the keys: their SHA-256 only."""

from __future__ import annotations

import hashlib
import logging
import re
from typing import TYPE_CHECKING

from fairclock.config.yaml_text import read_source
from fairclock.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_LOG = logging.getLogger(__name__)
_SHA256 = re.compile(r"(?:sha256:)?([0-9a-f]{64})")
_LOOK_EVERY_SECONDS = 1.0
_REMEDY = "write `SHA-256 of the key: tenant`, as printf %s KEY | sha256sum prints it"


class KeyFile:
    """The tenants of API keys; the file is looked at once a second, and read again when it has changed.

    While it is gone or wrong, what it said before holds.
    """

    def __init__(self, path: Path, *, monotonic: Callable[[], float]) -> None:
        """Read the file; raises `ConfigurationError`, which never shows what is in it."""
        self._path = path
        self._monotonic = monotonic
        self._looked_seconds = monotonic()
        self._seen = self._state()
        self._tenants = read_keys(path)
        self._said = ""

    def tenant_of_key(self, key: str) -> str:
        """Return whose `key` is, or an empty text."""
        return self.tenant_of_hash(hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest())

    def tenant_of_hash(self, sha256: str) -> str:
        """Return whose the key with this hash is, or an empty text."""
        now = self._monotonic()
        if now - self._looked_seconds >= _LOOK_EVERY_SECONDS:
            self._looked_seconds = now
            self._look()
        return self._tenants.get(sha256.strip().lower(), "")

    def _state(self) -> tuple[int, ...]:
        try:
            stat = self._path.stat()
        except OSError:
            return ()
        return stat.st_mtime_ns, stat.st_size, stat.st_ino

    def _look(self) -> None:
        state = self._state()
        if state == self._seen:
            return
        try:
            self._tenants = read_keys(self._path)
        except ConfigurationError as problem:
            if self._said != str(problem):
                self._said = str(problem)
                _LOG.warning("%s; the tenants that it named before hold", problem)
            return
        self._seen, self._said = state, ""
        _LOG.info("%s was read again: %d keys", self._path, len(self._tenants))


def read_keys(path: Path) -> dict[str, str]:
    """Return tenant by hash; raises `ConfigurationError`, which never shows what is in the file."""
    where = str(path)
    try:
        source = read_source(path.read_bytes())
    except OSError as error:
        raise ConfigurationError(
            where,
            "the file of keys cannot be read",
            found=error.strerror,
            remedy="correct gateway.tenants.keys",
        ) from error
    except ValueError as error:
        raise ConfigurationError(where, "is no file of keys", remedy=_REMEDY) from error
    if source.problems:
        raise ConfigurationError(where, f"line {source.problems[0][0]} is no key and tenant", remedy=_REMEDY)
    tree = source.tree if isinstance(source.tree, dict) else {}
    tenants = {}
    for key, tenant in tree.items():
        found = _SHA256.fullmatch(key.strip().lower())
        if found is None or not isinstance(tenant, str) or not tenant.strip():
            raise ConfigurationError(
                where, f"line {source.line_of((key,))} is no SHA-256 of a key with a tenant", remedy=_REMEDY
            )
        tenants[found[1]] = tenant.strip()
    return tenants
