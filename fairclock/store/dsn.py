"""Own the address of a store."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from fairclock.errors import UsageError

_EXAMPLE = "write chdb:///var/lib/fairclock or clickhouse://user:password@host:8123/fairclock"
_DEFAULT_PORT = 8123
_DEFAULT_TLS_PORT = 8443


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedAddress:
    """A folder that the engine in this process, or in its holder's, works on."""

    path: Path

    def __str__(self) -> str:
        """Return the DSN."""
        return f"chdb://{self.path}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerAddress:
    """A ClickHouse server's HTTP interface; `str` leaves the password out."""

    host: str
    port: int
    user: str
    password: str
    database: str
    secure: bool

    def __str__(self) -> str:
        """Return the DSN without the password."""
        scheme = "clickhouses" if self.secure else "clickhouse"
        return f"{scheme}://{self.user}@{self.host}:{self.port}/{self.database}"


def parse_dsn(dsn: str) -> EmbeddedAddress | ServerAddress:
    """Read ``chdb:///path`` or ``clickhouse://user:password@host:port/database`` (``clickhouses`` for TLS)."""
    if dsn.startswith("chdb://"):
        path = unquote(dsn.removeprefix("chdb://"))
        if not path:
            raise UsageError("--dsn", "no folder is named", found=dsn, remedy=_EXAMPLE)
        if "?" in path or "\0" in path:
            raise UsageError(
                "--dsn",
                "the engine takes no folder with a question mark in its name",
                found=path,
                remedy=_EXAMPLE,
            )
        return EmbeddedAddress(path=Path(path).expanduser().absolute())
    try:
        parts = urlsplit(dsn)
    except ValueError as error:
        raise UsageError("--dsn", "not the address of a store", found=dsn, remedy=_EXAMPLE) from error
    if parts.scheme in {"clickhouse", "clickhouses"}:
        secure = parts.scheme == "clickhouses"
        try:
            port = parts.port or (_DEFAULT_TLS_PORT if secure else _DEFAULT_PORT)
        except ValueError as error:
            raise UsageError("--dsn", "the port is not a number", remedy=_EXAMPLE) from error
        if not parts.hostname:
            raise UsageError("--dsn", "no host is named", remedy=_EXAMPLE)
        return ServerAddress(
            host=parts.hostname,
            port=port,
            user=unquote(parts.username or "default"),
            password=unquote(parts.password or ""),
            database=parts.path.strip("/") or "fairclock",
            secure=secure,
        )
    raise UsageError("--dsn", "not the address of a store", found=parts.scheme or dsn, remedy=_EXAMPLE)
