"""Own where on the disk a long-running command keeps what it must not forget."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairclock.cli.options import data_directory
from fairclock.store.dsn import EmbeddedAddress, parse_dsn

if TYPE_CHECKING:
    from pathlib import Path

    from fairclock.cli.configuration import Configuration

_SPOOL = "spool"


def spool_directory(settings: Configuration, *, dsn: str | None) -> Path:
    """Return the spool's folder: as configured, else in an embedded store's folder, else in the user's data directory."""
    if settings.spool.directory is not None:
        return settings.spool.directory
    address = None if dsn is None else parse_dsn(dsn)
    folder = address.path if isinstance(address, EmbeddedAddress) else data_directory()
    return folder / _SPOOL
