"""Own ``fairclock reports bundle``: all that somebody without Fairclock needs to count a report again, in one folder."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fairclock import __version__
from fairclock.cli.options import check_month, common_options, instant, store_dsn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairclock.store import Store
    from fairclock.store.issued_reports import IssuedRow
    from sla.contracts import Contract


@click.command("bundle", short_help="Write what a third party needs to count a report again.")
@common_options
@click.argument("contract", type=click.Path(path_type=Path))
@click.option("--month", required=True, metavar="YYYY-MM", help="The month, in the contract's time zone.")
@click.option(
    "--as-of",
    default=None,
    metavar="INSTANT",
    help="As it was known then (default: the report issued last, else as it is now).",
)
@click.option(
    "-o",
    "--output",
    "directory",
    type=click.Path(path_type=Path, file_okay=False),
    default=None,
    help="The folder to write into (default: here).",
)
@click.option("--zip", "as_zip", is_flag=True, help="Write one ZIP file, not a folder.")
def bundle(
    *,
    contract: Path,
    month: str,
    as_of: str | None,
    directory: Path | None,
    as_zip: bool,
    dsn: str | None,
    config: Path | None,
    quiet: bool,
    debug: bool,
) -> None:
    """Write the bundle of CONTRACT and a month: DIR/<contract>-<month>-bundle, with a manifest and verify.py.

    CONTRACT is a file, or a folder with the versions of one contract. The report is the one that was issued last, byte for
    byte; with --as-of, or where none was issued, it is the draft. See docs/bundle.md.
    """
    del debug, quiet
    check_month(month)
    moment = None if as_of is None else instant(as_of, where="--as-of")

    from fairclock.store import open_store  # noqa: PLC0415
    from sla.bundle import latest_issued, write_bundle, zipped  # noqa: PLC0415
    from sla.contracts import require_lintable  # noqa: PLC0415
    from sla.contracts.versions import load_versions  # noqa: PLC0415

    versions = load_versions(contract)
    for each in versions:
        require_lintable(each)
    with open_store(store_dsn(dsn, config)) as store:
        issued = latest_issued(store, versions[-1].id, month, moment)
        report = _report(store, versions, month, moment, issued)
        known = datetime.fromisoformat(str(report["as_of"]))
        folder = write_bundle(store, versions, report, directory or Path(), as_of=known, issued=issued)
    if as_zip:
        import shutil  # noqa: PLC0415

        path = zipped(folder)
        shutil.rmtree(folder)
        folder = path
    click.echo(str(folder))


def _report(
    store: Store,
    versions: Sequence[Contract],
    month: str,
    as_of: datetime | None,
    issued: IssuedRow | None,
) -> dict[str, Any]:
    """Return the issued report, or the draft as of an instant."""
    from fairclock.documents.fonts import describe  # noqa: PLC0415
    from sla.evaluation import evaluate  # noqa: PLC0415
    from sla.issuing.reports import read_issued  # noqa: PLC0415
    from sla.revisions import with_revision  # noqa: PLC0415

    if issued is not None:
        return read_issued(store, issued).report
    report = evaluate(
        store, versions, month=month, as_of=as_of, software_version=__version__, fonts=describe()
    )
    return with_revision(store, report)
