"""Own ``fairclock init``: a configuration file to begin with, for what is found on this machine."""

from __future__ import annotations

from pathlib import Path

import click

from fairclock.cli.configuration import Configuration
from fairclock.cli.discovery.looking import lines_of, look, settings_of
from fairclock.cli.discovery.machine import Machine
from fairclock.config import CONFIGURATION_FILE
from fairclock.config.template import template
from fairclock.errors import UsageError

_HEAD = "What fairclock init found on this machine (found: it is set below; seen: it is not, for the reason said):"


@click.command("init", short_help="Write a configuration file to begin with.")
@click.option("--quiet", is_flag=True, help="Print errors only.")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.option("--no-look", is_flag=True, help="Look for nothing: every key with its default, commented out.")
@click.argument("file", type=click.Path(path_type=Path), default=CONFIGURATION_FILE)
def command(*, file: Path, no_look: bool, quiet: bool, debug: bool) -> None:
    """Write fairclock.yaml (or FILE, - for standard output) for what is found on this machine.

    It looks for nginx and its logs, for vLLM, GPUs and ClickHouse on this machine's own addresses, and at the limits of
    its control group; it says what it found and what not, and sets nothing that could be otherwise. Every other key
    stands in the file with its default, commented out. Nothing but the file is written.
    """
    del debug
    found = [] if no_look else look(Machine())
    settings = settings_of(found)
    lines = lines_of(found) if found else []
    text = template(
        Configuration, settings, notes=[_HEAD, *(f"  {line}" for line in lines)] if settings else ()
    )
    if not quiet:
        for line in lines:
            click.echo(line, err=True)
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
