"""Own ``fairclock migrate``: bring a server's tables up to date."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from fairclock.cli.options import common_options, store_dsn
from fairclock.store import migrate_store

if TYPE_CHECKING:
    from pathlib import Path


@click.command("migrate", short_help="Bring a server's tables up to date.")
@common_options
def command(*, dsn: str | None, config: Path | None, quiet: bool, debug: bool) -> None:
    """Apply the migrations that the store lacks. An embedded store does this by itself when it is opened."""
    del debug
    done = migrate_store(store_dsn(dsn, config))
    if quiet:
        return
    for migration in done:
        click.echo(f"applied {migration.number:04d} {migration.name}", err=True)
    if not done:
        click.echo("nothing to do: the schema is current", err=True)
