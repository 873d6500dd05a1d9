"""Own ``fairclock init``: a configuration file to begin with."""

from __future__ import annotations

from pathlib import Path

import click

from fairclock.cli.configuration import Configuration
from fairclock.config import CONFIGURATION_FILE
from fairclock.config.template import template
from fairclock.errors import UsageError


@click.command("init", short_help="Write a configuration file to begin with.")
@click.option("--quiet", is_flag=True, help="Print errors only.")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.argument("file", type=click.Path(path_type=Path), default=CONFIGURATION_FILE)
def command(*, file: Path, quiet: bool, debug: bool) -> None:
    """Write fairclock.yaml (or FILE, - for standard output) with every key and its default, commented out."""
    del debug
    text = template(Configuration)
    if str(file) == "-":
        click.echo(text, nl=False)
        return
    try:
        with file.open("x", encoding="utf-8") as out:
            out.write(text)
    except FileExistsError as error:
        raise UsageError(
            str(file), "is there already", remedy="name another file, or - to see what would be written"
        ) from error
    except OSError as error:
        raise UsageError(
            str(file), "cannot be written", found=error.strerror, remedy="name another file"
        ) from error
    if not quiet:
        click.echo(f"wrote {file}; fairclock doctor checks it", err=True)
