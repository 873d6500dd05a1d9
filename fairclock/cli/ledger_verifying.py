"""Own ``fairclock ledger verify``: what was changed in the ledger or in a copy of it, and where."""

from __future__ import annotations

import json
from pathlib import Path

import click

from fairclock.cli.ledger import JSON
from fairclock.cli.options import common_options, store_dsn


@click.command()
@click.argument(
    "copy", required=False, type=click.Path(path_type=Path, dir_okay=False, exists=True), metavar="[FILE]"
)
@click.option(
    "--against",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    default=None,
    metavar="FILE",
    help="A copy that was exported before: its chains must still be there.",
)
@JSON
@common_options
def verify(
    *,
    copy: Path | None,
    against: Path | None,
    as_json: bool,
    dsn: str | None,
    config: Path | None,
    quiet: bool,
    debug: bool,
) -> int:
    """Find whatever was changed, deleted, added or moved in the ledger, or in FILE, a copy of it, and say where.

    The exit code is 1 where something was found.
    """
    del debug
    from billing.bookkeeping.books import anchors, stored_rows  # noqa: PLC0415
    from billing.ledger import verify as faults_of  # noqa: PLC0415
    from billing.ledger.comparing import compare  # noqa: PLC0415
    from billing.ledger.copies import read_copy  # noqa: PLC0415
    from fairclock.store import open_store  # noqa: PLC0415

    earlier = None if against is None else read_copy(against.read_bytes(), where=str(against))
    if copy is not None:
        rows, ends = read_copy(copy.read_bytes(), where=str(copy))
        where = str(copy)
    else:
        with open_store(store_dsn(dsn, config)) as store:
            now = store.watermark()
            rows, ends, where = stored_rows(store, now), anchors(store, now), store.dsn
    faults = faults_of(rows, [*ends, *(earlier[1] if earlier else ())])
    if earlier is not None:
        faults += compare(rows, *earlier, where=str(against))
    tenants = sorted({row.tenant for row in rows})
    if as_json:
        tree = {
            "entries": len({row.hash for row in rows}),
            "tenants": tenants,
            "faults": [
                {"tenant": each.tenant, "entry": each.sequence or None, "problem": each.problem}
                for each in faults
            ],
        }
        click.echo(json.dumps(tree, ensure_ascii=False, indent=2))
    else:
        for fault in faults:
            click.echo(str(fault))
        if not faults and not quiet:
            click.echo(
                f"{where}: {len({row.hash for row in rows})} entries of {len(tenants)} tenants, nothing was changed",
                err=True,
            )
    return 1 if faults else 0
