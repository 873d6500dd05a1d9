"""Own ``fairclock query``: SQL on the store, beside whatever else works on it."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

import click

from fairclock.cli.options import common_options, store_dsn
from fairclock.store import Query, open_store

if TYPE_CHECKING:
    from pathlib import Path

_NAMES_FORMAT = re.compile(r"\bFORMAT\s+\w+\Z", re.IGNORECASE)
_RETURNS_ROWS = re.compile(
    r"\A\s*(?:(?:--[^\n]*\n|/\*.*?\*/)\s*)*\(*(?:SELECT|WITH|SHOW|DESC|DESCRIBE|EXPLAIN|EXISTS)\b",
    re.IGNORECASE | re.DOTALL,
)


@click.command("query", short_help="Run SQL on the store.")
@common_options
@click.option(
    "--format",
    "output",
    default=None,
    help="Any output format of ClickHouse (default: PrettyCompact on a terminal, TSVWithNames else).",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a row (JSONEachRow).")
@click.argument("sql")
def command(
    *,
    sql: str,
    output: str | None,
    as_json: bool,
    dsn: str | None,
    config: Path | None,
    quiet: bool,
    debug: bool,
) -> None:
    """Run SQL on the store and print the result.

    The tables and their columns are in docs/architecture.md; prefer FINAL on gateway_requests and
    engine_requests, whose copies are merged away only in the background.
    """
    del quiet, debug
    query = Query(sql=sql.strip().rstrip(";"))
    chosen = "JSONEachRow" if as_json else output
    if chosen is None and not _NAMES_FORMAT.search(query.sql):
        chosen = "PrettyCompact" if sys.stdout.isatty() else "TSVWithNames"
    with open_store(store_dsn(dsn, config)) as store:
        if _RETURNS_ROWS.match(query.sql):
            sys.stdout.buffer.write(store.raw(query, chosen))
            sys.stdout.buffer.flush()
        else:
            store.execute(query)
