"""Own the command line: one command a file, each loaded when it is called.

A command module ``fairclock/cli/NAME.py`` exposes a click command ``command``. Data goes to stdout,
everything else to stderr. Errors are one sentence and an exit code; ``--debug`` adds the traceback.
"""

from __future__ import annotations

import gc
import importlib
import sys

import click

from fairclock import __version__
from fairclock.errors import FairclockError

_COMMANDS = {
    "demo": "A month of traffic in minutes: ingest, evaluate, report, look.",
    "up": "Everything in one process.",
    "collect": "Collect from running services until stopped.",
    "ingest": "Read files of gateway logs or OTLP spans into the store.",
    "evaluate": "Seal hours, count them for the contracts, and say how these stand.",
    "report": "Write the report of one contract and month.",
    "reports": "List, sign and verify what was issued.",
    "contract": "Lint, print or show contracts.",
    "exclusions": "Propose time to be left out, answer, list.",
    "degradations": "Record when answers were of a lesser quality, list.",
    "ledger": "Rate what was used; show, close, verify, invoice what is owed; credits.",
    "alerts": "Show alerts and who was told, try destinations, keep alerts silent.",
    "probe": "Serve a model that tells the truth, ask it as a customer would, compare.",
    "dashboards": "Make Grafana's dashboards.",
    "migrate": "Bring a server's tables up to date.",
    "query": "Run SQL on the store.",
    "tokens": "Make, list and revoke tokens.",
    "init": "Write a configuration file to begin with.",
    "doctor": "Check configuration, store, disk, clock, fonts and ports.",
}


_CYCLES_SOUGHT_AFTER = (10_000, 10, 10)
"""With the interpreter's own 700 a twentieth of a report's time goes into looking for cycles among what was just imported."""


class _LazyGroup(click.Group):
    """Import a command's module only when that command is used: a sidecar has no PDF library."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name not in _COMMANDS:
            return None
        module = importlib.import_module(f"fairclock.cli.{cmd_name}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="fairclock")
def _root() -> None:
    """Measure what an LLM inference service promised and what it delivered."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and leave with its exit code (see docs/architecture.md)."""
    words = sys.argv[1:] if arguments is None else arguments
    debug = "--debug" in words
    gc.set_threshold(*_CYCLES_SOUGHT_AFTER)
    try:
        code = _root.main(args=words, prog_name="fairclock", standalone_mode=False)
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.Abort:
        click.echo("fairclock: stopped", err=True)
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except FairclockError as error:
        if debug:
            raise
        click.echo(str(error), err=True)
        sys.exit(error.exit_code)
    except ModuleNotFoundError as error:
        if debug:
            raise
        click.echo(
            f"fairclock: this command needs the Python package {error.name}, which is not installed; "
            "pip install 'fairclock[all]'",
            err=True,
        )
        sys.exit(2)
    except Exception as error:
        # 1 says that a promise was broken, so no accident may end with it
        if debug:
            raise
        said = str(error).strip().splitlines() or [""]
        click.echo(
            f"fairclock: an unexpected {type(error).__name__} ({said[0][:300]}); run it again with --debug to see where",
            err=True,
        )
        sys.exit(2)
    sys.exit(code if isinstance(code, int) else 0)
