"""Own the options that every command shares, and what they resolve to."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import quote

import click

from fairclock.errors import InputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

F = TypeVar("F", bound="Callable[..., object]")

_MONTH = re.compile(r"\d{4}-(0[1-9]|1[0-2])")


def data_directory() -> Path:
    """Return the folder in the user's data directory that is Fairclock's."""
    base = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(base) / "fairclock"


def default_dsn() -> str:
    """Return the embedded store in the user's data directory."""
    return f"chdb://{quote(str(data_directory()))}"


def store_dsn(dsn: str | None, config: Path | None) -> str:
    """Return the store that ``--dsn`` or its variable names, else the configuration, else the default one."""
    if dsn:
        return dsn
    from fairclock.cli.configuration import configuration  # noqa: PLC0415 - not needed where --dsn is given

    return configuration(config).store.address or default_dsn()


def common_options(function: F) -> F:
    """Add ``--config``, ``--dsn``, ``--quiet`` and ``--debug``."""
    for option in (
        click.option("--debug", is_flag=True, help="Show the traceback of an error."),
        click.option("--quiet", is_flag=True, help="Print results and errors only."),
        click.option(
            "--dsn",
            envvar="FAIRCLOCK_DSN",
            default=None,
            help="The store: chdb:///path or clickhouse://user:password@host:8123/database.",
        ),
        click.option(
            "-c",
            "--config",
            type=click.Path(path_type=Path, dir_okay=False),
            default=None,
            help="The configuration file (else FAIRCLOCK_CONFIG, else fairclock.yaml here, else defaults).",
        ),
    ):
        function = option(function)
    return function


def check_month(text: str) -> None:
    """Refuse what is no month such as 2026-10."""
    if not _MONTH.fullmatch(text):
        raise UsageError("--month", "not a month", found=text, remedy="write the year and month: 2026-10")


def read_input(path: Path) -> bytes:
    """Return a file's bytes; raises InputError where it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(
            str(path), "the file cannot be read", found=error.strerror, remedy="check path and permissions"
        ) from None


def instant(text: str, *, where: str) -> datetime:
    """Read an ISO 8601 instant with a zone; a naive one is refused, never guessed."""
    from datetime import datetime  # noqa: PLC0415

    try:
        value = datetime.fromisoformat(text)
    except ValueError as error:
        raise UsageError(
            where, "not an instant", found=text, remedy="write 2026-10-01T00:00:00Z or …+08:00"
        ) from error
    if value.tzinfo is None:
        raise UsageError(
            where, "the instant has no zone", found=text, remedy="add Z or an offset such as +08:00"
        )
    return value
