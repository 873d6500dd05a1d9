"""Own ``fairclock reports``: what was issued, and who signed it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from fairclock.cli.groups import LazyGroup
from fairclock.cli.options import common_options, store_dsn

if TYPE_CHECKING:
    from pathlib import Path

    from fairclock.store.issued_reports import IssuedRow

_ELSEWHERE = {
    "key": "fairclock.cli.reports_sign",
    "sign": "fairclock.cli.reports_sign",
    "verify": "fairclock.cli.reports_verify",
    "bundle": "fairclock.cli.reports_bundle",
    "compare": "fairclock.cli.reports_compare",
}
_ORDER = ("list", "key", "sign", "verify", "bundle", "compare")
_HASH_CHARACTERS = 16


@click.group(
    cls=LazyGroup,
    elsewhere=_ELSEWHERE,
    order=_ORDER,
    short_help="List, sign and verify what was issued; bundles for others; comparisons.",
)
def command() -> None:
    """List what was issued, sign it, verify what was signed.

    fairclock report CONTRACT --month M --issue issues; see docs/issuing.md.
    """


@command.command("list")
@click.option("--contract", "contract", default=None, metavar="ID", help="Only of this contract.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@common_options
def list_(
    *,
    contract: str | None,
    as_json: bool,
    dsn: str | None,
    config: Path | None,
    quiet: bool,
    debug: bool,
) -> None:
    """List the issued reports with number, month, revision, hash and how many signed."""
    del debug
    from fairclock.store import open_store  # noqa: PLC0415
    from fairclock.store.issued_reports import signature_counts  # noqa: PLC0415
    from sla.issuing.reports import all_issued  # noqa: PLC0415

    with open_store(store_dsn(dsn, config)) as store:
        rows = [each for each in all_issued(store) if contract in {None, each.contract}]
        signed = signature_counts(store, store.watermark())
    if as_json:
        click.echo(json.dumps([_tree(each, rows, signed) for each in rows], ensure_ascii=False, indent=2))
        return
    for each in rows:
        by = _superseded_by(each, rows)
        click.echo(
            f"{each.number}  {each.month}  revision {each.revision}  as of {each.as_of:%Y-%m-%dT%H:%M:%SZ}"
            f"  SHA-256 {each.sha256[:_HASH_CHARACTERS]}…  signatures: {signed.get(each.number, 0)}"
            + (f"  superseded by {by}" if by else "")
        )
    if not rows and not quiet:
        click.echo("nothing was issued yet", err=True)


def _superseded_by(row: IssuedRow, rows: list[IssuedRow]) -> str | None:
    """Return the number of the next report of the same contract and month."""
    later = [
        each.number
        for each in rows
        if (each.contract, each.month) == (row.contract, row.month) and each.sequence > row.sequence
    ]
    return later[0] if later else None


def _tree(row: IssuedRow, rows: list[IssuedRow], signed: dict[str, int]) -> dict[str, Any]:
    from fairclock.model import utc_text  # noqa: PLC0415

    return {
        "number": row.number,
        "contract": row.contract,
        "month": row.month,
        "from": utc_text(row.starts_at),
        "to": utc_text(row.ends_at),
        "revision": row.revision,
        "status": row.status,
        "as_of": utc_text(row.as_of),
        "issued_at": utc_text(row.issued_at),
        "sha256": row.sha256,
        "signatures": signed.get(row.number, 0),
        "superseded_by": _superseded_by(row, rows),
        "software_version": row.program,
    }
