"""Own the files by which a program is known to others, and others to it: tokens, authorities, certificates."""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING

from fairclock.errors import ConfigurationError

if TYPE_CHECKING:
    from pathlib import Path


def read_token(path: Path, *, if_unreadable: str, if_empty: str, what: str = "token") -> str:
    """Return the token (or `what` it is) in a file; raises `ConfigurationError` with the remedy that fits."""
    try:
        token = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeError) as error:
        found = error.strerror if isinstance(error, OSError) else "not a text of ASCII"
        raise ConfigurationError(
            str(path), f"the {what} cannot be read", found=found, remedy=if_unreadable
        ) from error
    if not token or " " in token or not token.isprintable():
        raise ConfigurationError(str(path), f"holds no {what}", remedy=if_empty)
    return token


def trust_in(ca: Path | None, *, remedy: str) -> ssl.SSLContext:
    """Return the context that trusts the authorities in a file (the system's for None); raises `ConfigurationError`."""
    try:
        return ssl.create_default_context(cafile=None if ca is None else str(ca))
    except (OSError, ssl.SSLError) as error:
        raise ConfigurationError(
            str(ca), "cannot be used as certificates", found=str(error), remedy=remedy
        ) from error


def load_pair(context: ssl.SSLContext, certificate: Path, key: Path) -> None:
    """Load a certificate and its key; raises `OSError`, `ssl.SSLError`, or `ValueError` where a password is needed."""
    context.load_cert_chain(certificate, key, password=_no_password)


def _no_password() -> str:
    raise ValueError("the key has a password")
