"""Own ``fairclock evaluate``: join and seal the hours that have changed since they were last sealed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from fairclock.cli.options import common_options, instant, store_dsn
from fairclock.errors import UsageError
from fairclock.model import Interval
from fairclock.store import open_store

if TYPE_CHECKING:
    from pathlib import Path


@click.command("evaluate", short_help="Join and seal the hours of a range.")
@common_options
@click.option("--from", "start", default=None, metavar="INSTANT", help="The first hour (with --to).")
@click.option("--to", "end", default=None, metavar="INSTANT", help="The end of the last hour (with --from).")
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
def command(
    *,
    start: str | None,
    end: str | None,
    as_json: bool,
    dsn: str | None,
    config: Path | None,
    quiet: bool,
    debug: bool,
) -> int:
    """Seal every hour whose requests have changed, or those between two instants.

    An hour that reads as it was sealed gets no new seal, so running this again changes nothing. Reports read
    sealed hours faster and say the same.
    """
    del debug
    window = _window(start, end)
    with open_store(store_dsn(dsn, config)) as store:
        sealed = store.seal(window)
    if as_json:
        click.echo(json.dumps({"sealed_hours": sealed}))
    elif not quiet:
        click.echo("1 hour sealed" if sealed == 1 else f"{sealed} hours sealed")
    return 0


def _window(start: str | None, end: str | None) -> Interval | None:
    """Return the range between the two options; None where neither is given."""
    if start is None and end is None:
        return None
    if start is None or end is None:
        given, missing = ("--from", "--to") if end is None else ("--to", "--from")
        raise UsageError(
            given,
            "a range needs both ends",
            found=f"{missing} is missing",
            remedy=f"add {missing}, or leave both out to seal whatever has changed",
        )
    first, last = instant(start, where="--from"), instant(end, where="--to")
    if last <= first:
        raise UsageError(
            "--to",
            "the range is empty",
            found=f"it ends at {end} and starts at {start}",
            remedy="name an instant after --from",
        )
    return Interval(start=first, end=last)
