"""Own ``fairclock migrate``: a server's tables, a store's way into another one, and a server's accounts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from fairclock.cli.options import common_options, store_dsn
from fairclock.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from fairclock.store.copying.copying import Comparison


@click.command("migrate", short_help="Bring a server's tables up to date, or copy a store.")
@common_options
@click.option(
    "--copy-from", "source", metavar="DSN", default=None, envvar="FAIRCLOCK_COPY_FROM", show_envvar=True,
    help="Copy everything from this store into the empty one that --dsn names, and compare both table by table.",
)  # fmt: skip
@click.option(
    "--cluster", default=None, metavar="NAME",
    help="Make the tables on this cluster, replicated and distributed (default: store.cluster).",
)  # fmt: skip
@click.option(
    "--print", "prints", is_flag=True, help="Print the statements of all migrations; open no store."
)
@click.option(
    "--accounts", type=click.Choice(["sql", "xml"]), default=None,
    help="Print a server's accounts, as statements or as a file for users.d; change nothing.",
)  # fmt: skip
@click.option(
    "--reader", "readers", multiple=True, metavar="NAME=TENANT,...",
    help="With --accounts: an account fairclock_NAME that sees the rows of these tenants only. May be repeated.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="With --copy-from: print one JSON object a table.")
def command(
    *,
    source: str | None,
    cluster: str | None,
    prints: bool,
    accounts: str | None,
    readers: tuple[str, ...],
    as_json: bool,
    dsn: str | None,
    config: Path | None,
    quiet: bool,
    debug: bool,
) -> None:
    """Apply the migrations that the store lacks. An embedded store does this by itself when it is opened.

    With --copy-from it then copies a store: nothing is deleted, a copy that was broken off is resumed by the same command,
    and one that would mix two stores is refused. Exit code 2 where a table differs at the end.
    """
    del debug
    if sum((source is not None, prints, accounts is not None)) > 1:
        raise UsageError(
            "migrate", "--copy-from, --print and --accounts exclude each other", remedy="give one"
        )
    if readers and accounts is None:
        raise UsageError("--reader", "says nothing without --accounts", remedy="add --accounts sql")
    named = cluster or _configured_cluster(config)
    if prints:
        _print_statements(store_dsn(dsn, config), named)
    elif accounts is not None:
        _print_accounts(store_dsn(dsn, config), accounts, readers, named)
    elif source is not None:
        _copy(source, store_dsn(dsn, config), named, as_json=as_json, quiet=quiet)
    else:
        _migrate(store_dsn(dsn, config), named, quiet=quiet)


def _configured_cluster(config: Path | None) -> str | None:
    from fairclock.cli.configuration import configuration  # noqa: PLC0415 - as in `store_dsn`

    return configuration(config).store.cluster


def _migrate(dsn: str, cluster: str | None, *, quiet: bool) -> None:
    from fairclock.store import migrate_store  # noqa: PLC0415

    done = migrate_store(dsn, cluster=cluster)
    if quiet:
        return
    for migration in done:
        click.echo(f"applied {migration.number:04d} {migration.name}", err=True)
    if not done:
        click.echo("nothing to do: the schema is current", err=True)


def _copy(source: str, dsn: str, cluster: str | None, *, as_json: bool, quiet: bool) -> None:
    from fairclock.store import copy_store  # noqa: PLC0415

    def tell(found: Comparison) -> None:
        click.echo(json.dumps(_tree(found)) if as_json else _line(found))

    found = copy_store(source, dsn, cluster=cluster, told=tell)
    if not quiet:
        rows, copied = sum(each.rows for each in found), sum(each.copied for each in found)
        click.echo(
            f"whole: {len(found)} tables and {rows} rows are equal, {copied} of them were copied now",
            err=True,
        )


def _tree(found: Comparison) -> dict[str, object]:
    return {
        "table": found.table, "equal": found.is_equal, "copied": found.copied,
        "source": {"rows": found.rows, "digest": f"{found.digest:032x}"},
        "target": {"rows": found.target_rows, "digest": f"{found.target_digest:032x}"},
    }  # fmt: skip


def _line(found: Comparison) -> str:
    verdict = "equal " if found.is_equal else "DIFFERS"
    theirs = f"{found.rows:>12} rows {found.digest:032x}"
    ours = "" if found.is_equal else f"  there: {found.target_rows} rows {found.target_digest:032x}"
    return f"{verdict} {found.table:<20} {theirs}{ours}"


def _print_statements(dsn: str, cluster: str | None) -> None:
    from fairclock.store.printing import statements  # noqa: PLC0415

    click.echo(statements(database=_database(dsn), cluster=cluster), nl=False)


def _print_accounts(dsn: str, form: str, readers: tuple[str, ...], cluster: str | None) -> None:
    from fairclock.store import open_store  # noqa: PLC0415
    from fairclock.store.access.accounts import accounts, parse_reader  # noqa: PLC0415
    from fairclock.store.access.reading import shown_by  # noqa: PLC0415
    from fairclock.store.access.rendering import as_sql, as_users_file  # noqa: PLC0415

    wanted = [parse_reader(text) for text in readers]
    database = _database(dsn)
    with open_store(dsn) as store:
        shown = shown_by(store)
    found = accounts(database, shown, wanted)
    text = (
        as_sql(found, database=database, views=sorted(shown.views), cluster=cluster)
        if form == "sql"
        else as_users_file(found, database=database)
    )
    click.echo(text, nl=False)


def _database(dsn: str) -> str:
    """Return the database that statements are for: a server's, else the usual one."""
    from fairclock.store.dsn import ServerAddress, parse_dsn  # noqa: PLC0415

    address = parse_dsn(dsn)
    return address.database if isinstance(address, ServerAddress) else "fairclock"
