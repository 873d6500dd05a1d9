"""Own ``fairclock contract``: lint, schema, show, and the exchange with OpenSLO."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fairclock.cli.options import common_options
from fairclock.errors import ContractError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sla.contracts import Finding

_FILE = click.Path(path_type=Path)


@click.group()
def command() -> None:
    """Lint, print or show contracts."""


@command.command()
@click.argument("files", nargs=-1, required=True, type=_FILE)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--lang", "language", type=click.Choice(["en", "zh"]), default="en", show_default=True)
@common_options
def lint(files: tuple[Path, ...], *, as_json: bool, language: str, quiet: bool, **_: Any) -> int:
    """Say what is wrong or unwise in contract files.

    Exit code 0: no errors (there may be warnings); 1: a finding is an error; 2: a file could not be read as YAML
    at all.
    """
    answers = [_linted(file) for file in files]
    findings = [finding for answer in answers for finding in answer["findings"]]
    errors = sum(finding.severity == "error" for finding in findings)
    warnings = len(findings) - errors
    if as_json:
        click.echo(json.dumps(_as_json(answers, errors, warnings), ensure_ascii=False, indent=2))
    else:
        for answer in answers:
            for finding in answer["findings"]:
                click.echo(f"{answer['file']}: {finding.sentence(language)}")
    for answer in answers:
        if answer["error"] is not None:
            click.echo(answer["error"], err=True)
    if not quiet and not as_json and any(answer["error"] is None for answer in answers):
        click.echo(_summary(errors, warnings, language), err=True)
    if any(answer["error"] is not None for answer in answers):
        return 2
    return 1 if errors else 0


def _linted(file: Path) -> dict[str, Any]:
    from sla.contracts import examine, lint_examination, read_file  # noqa: PLC0415

    findings: list[Finding] = []
    try:
        examination = examine(read_file(file), where=str(file))
    except ContractError as error:
        return {"file": str(file), "findings": findings, "error": str(error)}
    return {"file": str(file), "findings": lint_examination(examination), "error": None}


def _as_json(answers: list[dict[str, Any]], errors: int, warnings: int) -> dict[str, Any]:
    files = [
        {**answer, "findings": [finding.as_json() for finding in answer["findings"]]} for answer in answers
    ]
    return {"files": files, "errors": errors, "warnings": warnings}


def _summary(errors: int, warnings: int, language: str) -> str:
    if language == "zh":
        return f"{errors} 个错误，{warnings} 个警告"
    plural = ("" if errors == 1 else "s", "" if warnings == 1 else "s")
    return f"{errors} error{plural[0]}, {warnings} warning{plural[1]}"


@command.command()
@common_options
def schema(**_: Any) -> None:
    """Print the JSON Schema of the contract file."""
    from sla.contracts.schema import contract_schema  # noqa: PLC0415

    click.echo(json.dumps(contract_schema(), ensure_ascii=False, indent=2))


@command.command()
@click.argument("file", type=_FILE)
@click.option("--month", default=None, help="Write out the named periods of this month, such as 2026-10.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@common_options
def show(file: Path, *, month: str | None, as_json: bool, **_: Any) -> None:
    """Show a contract as it was understood: clauses, defaults, the calendar written out."""
    from sla.contracts import load_contract  # noqa: PLC0415
    from sla.contracts.showing import shown  # noqa: PLC0415

    answer = shown(load_contract(file), month)
    if as_json:
        click.echo(json.dumps(answer, ensure_ascii=False, indent=2))
        return
    for line in _lines(answer):
        click.echo(line)


@command.command("export-openslo")
@click.argument("file", type=_FILE)
@common_options
def export_openslo(file: Path, *, quiet: bool, **_: Any) -> None:
    """Print a contract's objectives as OpenSLO v1; what it has no place for is named on stderr."""
    from sla.contracts import load_contract  # noqa: PLC0415
    from sla.openslo import export_openslo as export  # noqa: PLC0415

    exported = export(load_contract(file))
    click.echo(exported.text, nl=False)
    _name_what_is_left(exported.not_carried, quiet=quiet)


@command.command("import-openslo")
@click.argument("file", type=_FILE)
@common_options
def import_openslo(file: Path, *, quiet: bool, **_: Any) -> None:
    """Print the contract that OpenSLO v1 documents begin; what they do not say is left open in it."""
    from sla.contracts import read_file  # noqa: PLC0415
    from sla.openslo import import_openslo as import_  # noqa: PLC0415

    imported = import_(read_file(file), where=str(file))
    click.echo(imported.text, nl=False)
    _name_what_is_left(imported.not_carried, quiet=quiet)


def _name_what_is_left(paths: Iterable[str], *, quiet: bool) -> None:
    for path in () if quiet else paths:
        click.echo(f"not carried: {path}", err=True)


def _lines(answer: dict[str, Any]) -> Iterator[str]:
    yield f"{answer['source']} (sha256 {answer['version_sha256']})"
    yield from _section("What the contract says", dict(_leaves(answer["clauses"], "")))
    yield from _section("What holds because it says nothing else (defaults)", answer["defaults"])
    paths = answer["not_evaluated"]
    yield from _section("Accepted, not evaluated by this version", dict.fromkeys(paths, ""))
    calendar = answer["calendar"]
    yield f"\nCalendar in {calendar['time_zone']}"
    for year, dates in calendar.get("years", {}).items():
        if "unknown" in dates:
            yield f"  {year} unknown: {dates['unknown']}"
            continue
        for day, name in dates["off"].items():
            yield f"  {day} off     {name}"
        for day in dates["worked"]:
            yield f"  {day} worked"
    if answer["month"] is not None:
        yield from _month_lines(answer["month"])


def _month_lines(month: dict[str, Any]) -> Iterator[str]:
    yield f"\nMonth {month['month']}: {month['from']} to {month['to']}, {month['hours']:g} hours"
    for name, intervals in month["periods"].items():
        yield f"  {name}"
        for interval in intervals:
            yield f"    {interval['from']} to {interval['to']}"


def _section(title: str, values: dict[str, Any]) -> Iterator[str]:
    yield f"\n{title}"
    if not values:
        yield "  nothing"
    width = max(map(len, values), default=0)
    for path, value in values.items():
        yield f"  {path:<{width}}  {value}".rstrip()


def _leaves(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list) and any(isinstance(entry, dict) for entry in value):
        for number, entry in enumerate(value):
            yield from _leaves(entry, f"{path}[{number}]")
    elif isinstance(value, list):
        yield path, ", ".join(map(str, value))
    else:
        yield path, str(value).lower() if isinstance(value, bool) else str(value)
