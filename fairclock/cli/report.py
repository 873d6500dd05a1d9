"""Own ``fairclock report``: evaluate contracts in one month, and write what came of it."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fairclock import __version__
from fairclock.cli.options import check_month, common_options, instant, store_dsn
from fairclock.errors import UsageError
from fairclock.model import utc_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from contextlib import AbstractContextManager

    from fairclock.store import Store
    from sla.contracts import Contract
    from sla.reports.appearance import Appearance

_EXIT_VIOLATED = 1
_EXIT_NOT_EVALUATED = 3
_FORMATS = "pdf,html,json,csv"


@click.command("report", short_help="Write the reports of contracts in one month.")
@common_options
@click.argument("contracts", metavar="CONTRACT...", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--all", "configured", is_flag=True, help="Every contract of the configuration (sla.contracts)."
)
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
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    default=None,
    help="How many processes draw where there are several contracts (default: one a core).",
)
@click.option("--json", "as_json", is_flag=True, help="Print report.json; write files only where -o says.")
def command(
    *,
    contracts: tuple[Path, ...],
    configured: bool,
    month: str,
    as_of: str | None,
    languages: tuple[str, ...],
    formats: tuple[str, ...],
    directory: Path | None,
    issue: bool,
    jobs: int | None,
    as_json: bool,
    dsn: str | None,
    config: Path | None,
    quiet: bool,
    debug: bool,
) -> int:
    """Judge CONTRACT in one month and write the report as PDF, HTML, JSON and CSV.

    CONTRACT is a file, or a folder with the versions of one contract: a request is judged by the version in
    force when it was received. Several contracts, or --all, are written in one run: all as of one instant, drawn by
    several processes. One that fails stops no other, is told at the end, and makes the exit code 2.

    The store is only read, unless --issue is given: then the report is numbered and kept for good, or the one that was
    issued before is written again where nothing changed since. Paths are printed; the exit code is 1 where an objective is violated, else 3 where
    one could not be judged, else 0.
    """
    del debug
    check_month(month)
    asked_formats = _listed(formats) or _FORMATS.split(",")
    asked_languages = _listed(languages) or ["en"]

    # Loaded here, so that a wrong option is answered before the engine and the templates are.
    from sla.reports import check_choices, report_json  # noqa: PLC0415
    from sla.reports.batch import Drawing, usual_jobs  # noqa: PLC0415

    check_choices(formats=asked_formats, languages=asked_languages)
    moment = None if as_of is None else instant(as_of, where="--as-of")
    paths = _contracts(contracts, config if configured else None, configured=configured)
    if as_json and len(paths) > 1:
        raise UsageError(
            "--json", "prints one report", found=f"{len(paths)} contracts", remedy="use --format json"
        )
    drawing = Drawing(
        formats=asked_formats,
        languages=asked_languages,
        directory=directory or Path(),
        appearance=_appearance(config, asked_formats),
    )
    made = _issued if issue else _evaluated
    # one contract that cannot be read is told before the store is opened; of several, each is told at the end
    versions = _versions(paths[0]) if len(paths) == 1 else []
    with _open(store_dsn(dsn, config)) as store:
        if len(paths) > 1:
            from fairclock.cli.reporting import report_many  # noqa: PLC0415
            from sla.evaluation import asked_together  # noqa: PLC0415

            known = store.checked_as_of(moment)
            with asked_together(store, month, known):
                return report_many(
                    paths,
                    lambda path: made(store, _versions(path), month, known),
                    drawing=drawing,
                    jobs=jobs or usual_jobs(),
                    code_of=exit_code,
                    quiet=quiet,
                )
        report = made(store, versions, month, moment)
    if as_json:
        sys.stdout.write(report_json(report).decode("utf-8"))
    if directory is not None or not as_json:
        for path in drawing.write(report):
            if not (quiet and as_json):
                click.echo(str(path), err=as_json)
    return exit_code(report)


def exit_code(report: Mapping[str, Any]) -> int:
    """Return 1 where an objective is violated, else 3 where one has no verdict, else 0."""
    verdicts = {each["verdict"] for each in report["objectives"]}
    if "violated" in verdicts:
        return _EXIT_VIOLATED
    return 0 if verdicts <= {"met"} else _EXIT_NOT_EVALUATED


def _contracts(named: tuple[Path, ...], config: Path | None, *, configured: bool) -> list[Path]:
    """Return the contracts that are asked for, each once."""
    if configured == bool(named):
        raise UsageError(
            "CONTRACT",
            "contracts are named, and --all is given" if named else "no contract is named",
            remedy="name one or more, or give --all for those of the configuration",
        )
    if not configured:
        return list(dict.fromkeys(named))
    from fairclock.cli.configuration import configuration  # noqa: PLC0415

    found = configuration(config).sla.contracts
    if not found:
        raise UsageError(
            "--all", "the configuration names no contract", remedy="list them under sla.contracts"
        )
    return list(dict.fromkeys(found))


def _appearance(config: Path | None, formats: Iterable[str]) -> Appearance | None:
    """Return the face that the configuration asks for, read before anything is evaluated."""
    if not {"pdf", "html"} & set(formats):
        return None
    from fairclock.cli.configuration import configuration  # noqa: PLC0415

    section = configuration(config).reports
    if section.templates is None and section.logo is None:
        return None
    from sla.reports.appearance import appearance_of  # noqa: PLC0415

    return appearance_of(templates=section.templates, logo=section.logo)


def _open(dsn: str) -> AbstractContextManager[Store]:
    from fairclock.store import open_store  # noqa: PLC0415

    return open_store(dsn)


def _evaluated(store: Store, versions: list[Contract], month: str, as_of: datetime | None) -> dict[str, Any]:
    from fairclock.documents.fonts import describe  # noqa: PLC0415
    from sla.evaluation import evaluate  # noqa: PLC0415
    from sla.revisions import with_revision  # noqa: PLC0415

    report = evaluate(
        store, versions, month=month, as_of=as_of, software_version=__version__, fonts=describe()
    )
    return with_revision(store, report)


def _issued(store: Store, versions: list[Contract], month: str, as_of: datetime | None) -> dict[str, Any]:
    """Issue the report, say so, and return it as it is to be written."""
    from fairclock.documents.fonts import describe  # noqa: PLC0415
    from sla.issuing.printing import printed  # noqa: PLC0415
    from sla.issuing.reports import issue  # noqa: PLC0415

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
