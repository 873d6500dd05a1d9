"""Own ``fairclock dashboards``: the Grafana dashboards as JSON."""

from __future__ import annotations

from pathlib import Path

import click

from fairclock.errors import InputError


@click.group("dashboards")
def command() -> None:
    """Make Grafana's dashboards, over ClickHouse and over Prometheus, in English and Chinese."""


@command.command("build")
@click.option("--check", is_flag=True, help="Write nothing; fail where a file is not what would be written.")
@click.option(
    "-o", "--output", "folder", type=click.Path(file_okay=False, path_type=Path), default=None, metavar="DIR",
    help="Where to write; by default where the shipped ones lie.",
)  # fmt: skip
@click.option(
    "--console", "console", default=None, metavar="URL",
    help="Where links to the console lead (default: http://localhost:8780).",
)  # fmt: skip
@click.option("--debug", is_flag=True, help="Show where an error came from.")
def build(*, check: bool, folder: Path | None, console: str | None, debug: bool) -> None:
    """Write the dashboards: DIR/en and DIR/zh, a file a dashboard and data source."""
    del debug
    from dashboards import building  # noqa: PLC0415 - an extra brings grafanalib

    place = building.FOLDER if folder is None else folder
    files = building.built(console=console or building.CONSOLE)
    if not check:
        building.write(place, files)
        click.echo(f"{len(files)} dashboards in {place}", err=True)
        return
    changed = building.drift(place, files)
    if changed:
        raise InputError(
            str(place),
            "is not what the sources make",
            found=", ".join(changed),
            remedy="run fairclock dashboards build, look at the difference, and keep it",
        )
    click.echo(f"{len(files)} dashboards are what the sources make", err=True)
