"""Own ``fairclock report``: evaluate one contract and month, and write what came of it."""

from __future__ import annotations

import re
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fairclock import __version__
from fairclock.cli.options import common_options, instant, store_dsn
from fairclock.errors import UsageError
from fairclock.model import utc_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sla.contracts import Contract

_EXIT_VIOLATED = 1
_EXIT_NOT_EVALUATED = 3
_FORMATS = "pdf,html,json,csv"
_MONTH = re.compile(r"\d{4}-(0[1-9]|1[0-2])")


@click.command("report", short_help="Write the report of one contract and month.")
@common_options
@click.argument("contract", type=click.Path(path_type=Path))
@click.option("--month", required=True, metavar="YYYY-MM", help="The month, in the contract's time zone.")
@click.option(
    "--as-of", default=None, metavar="INSTANT", help="As it was known then (default: as it is now)."
)
@click.option(
    "--lang",
    "languages",
    multiple=True,
    metavar="en|zh",
    help="The language, once or more often, or en,zh (default: en).",
)
@click.option(
    "--format", "formats", multiple=True, metavar=_FORMATS, help=f"What to write (default: {_FORMATS})."
)
@click.option(
    "-o",
    "--output",
    "directory",
    type=click.Path(path_type=Path, file_okay=False),
    default=None,
    help="The folder to write into (default: here).",
)
@click.option("--issue", is_flag=True, help="Number, store and seal the report of a month that is over.")
@click.option("--json", "as_json", is_flag=True, help="Print report.json; write files only where -o says.")
def command(
    *,
    contract: Path,
    month: str,
    as_of: str | None,
    languages: tuple[str, ...],
    formats: tuple[str, ...],
    directory: Path | None,
    issue: bool,
    as_json: bool,
    dsn: str | None,
    config: Path | None,
    quiet: bool,
    debug: bool,
) -> int:
    """Judge CONTRACT in one month and write the report as PDF, HTML, JSON and CSV.

    CONTRACT is a file, or a folder with the versions of one contract: a request is judged by the version in
    force when it was received.

    The store is only read, unless --issue is given: then the report is numbered and kept for good, or the one that was
    issued before is written again where nothing changed since. Paths are printed; the exit code is 1 where an objective is violated, else 3 where
    one could not be judged, else 0.
    """
    del debug
    if not _MONTH.fullmatch(month):
        raise UsageError("--month", "not a month", found=month, remedy="write the year and month: 2026-10")
    asked_formats = _listed(formats) or _FORMATS.split(",")
    asked_languages = _listed(languages) or ["en"]

    # Loaded here, so that a wrong option is answered before the engine and the templates are.
    from sla.reports import check_choices, report_json, write_reports  # noqa: PLC0415

    check_choices(formats=asked_formats, languages=asked_languages)
    moment = None if as_of is None else instant(as_of, where="--as-of")
    made = _issued if issue else _evaluated
    report = made(contract, month, moment, store_dsn(dsn, config))
    if as_json:
        sys.stdout.write(report_json(report).decode("utf-8"))
    if directory is not None or not as_json:
        paths = write_reports(
            report, formats=asked_formats, languages=asked_languages, directory=directory or Path()
        )
        for path in paths:
            if not (quiet and as_json):
                click.echo(str(path), err=as_json)
    return exit_code(report)


def exit_code(report: Mapping[str, Any]) -> int:
    """Return 1 where an objective is violated, else 3 where one has no verdict, else 0."""
    verdicts = {each["verdict"] for each in report["objectives"]}
    if "violated" in verdicts:
        return _EXIT_VIOLATED
    return 0 if verdicts <= {"met"} else _EXIT_NOT_EVALUATED


def _evaluated(path: Path, month: str, as_of: datetime | None, dsn: str) -> dict[str, Any]:
    from fairclock.documents.fonts import describe  # noqa: PLC0415
    from fairclock.store import open_store  # noqa: PLC0415
    from sla.evaluation import evaluate  # noqa: PLC0415
    from sla.revisions import with_revision  # noqa: PLC0415

    versions = _versions(path)
    with open_store(dsn) as store:
        report = evaluate(
            store, versions, month=month, as_of=as_of, software_version=__version__, fonts=describe()
        )
        return with_revision(store, report)


def _issued(path: Path, month: str, as_of: datetime | None, dsn: str) -> dict[str, Any]:
    """Issue the report, say so, and return it as it is to be written."""
    from fairclock.documents.fonts import describe  # noqa: PLC0415
    from fairclock.store import open_store  # noqa: PLC0415
    from sla.issuing.printing import printed  # noqa: PLC0415
    from sla.issuing.reports import issue  # noqa: PLC0415

    versions = _versions(path)
    with open_store(dsn) as store:
        issued = issue(
            store,
            versions,
            month=month,
            as_of=as_of,
            now=datetime.now(UTC),
            software_version=__version__,
            fonts=describe(),
        )
        row = issued.row
        said = (
            f"issued {row.number}: revision {row.revision}"
            if issued.is_new
            else f"nothing changed since {row.number} was issued, so nothing is issued: revision {row.revision}"
        )
        click.echo(f"{said}, as of {utc_text(row.as_of)}, SHA-256 {row.sha256}", err=True)
        return printed(store, issued)


def _versions(path: Path) -> list[Contract]:
    from sla.contracts import require_lintable  # noqa: PLC0415
    from sla.contracts.versions import load_versions  # noqa: PLC0415

    versions = load_versions(path)
    for contract in versions:
        require_lintable(contract)
    return versions


def _listed(values: Iterable[str]) -> list[str]:
    """Return the words of repeated and comma-separated options, each once, in order."""
    words = (word.strip() for value in values for word in value.split(","))
    return list(dict.fromkeys(word for word in words if word))
