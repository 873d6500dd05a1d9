"""Own ``fairclock evaluate``: seal what changed, count it for the configured contracts, and say how they stand."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from fairclock.cli.configuration import configuration
from fairclock.cli.options import common_options, instant, store_dsn
from fairclock.errors import UsageError
from fairclock.model import Interval
from fairclock.store import open_store

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from fairclock.cli.evaluating import Standing


@click.command("evaluate", short_help="Seal hours, count them for the contracts, and say how these stand.")
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
    """Seal every hour whose requests have changed, or those between two instants, and count its slices.

    An hour that reads as it was sealed gets no new seal, so running this again changes nothing. The contracts
    under sla.contracts are counted minute by minute, and every promise is judged in its contract's latest month:
    the exit code is 1 where one is violated, else 3 where one could not be judged, else 0.

    A month of a contract that is over is kept as a revision where it came to something else than before: every
    such month between the two instants, or those that rest on something new.
    """
    del debug
    window = _window(start, end)
    paths = configuration(config).sla.contracts
    if not paths:
        with open_store(store_dsn(dsn, config)) as store:
            sealed = store.seal(window)
        if as_json:
            click.echo(json.dumps({"sealed_hours": sealed}))
        elif not quiet:
            click.echo(_hours(sealed))
        return 0
    from fairclock.cli import evaluating  # noqa: PLC0415 - a store without contracts needs none of it

    contracts = evaluating.load_contracts(paths)
    with open_store(store_dsn(dsn, config)) as store:
        sealed = store.seal(window)
        evaluating.note_engines(store, window=window)
        as_of = store.watermark()
        versions = evaluating.versions_of_all(store, contracts, as_of)
        counted = evaluating.count_slices(store, versions, as_of=as_of, window=window)
        evaluating.note_incidents(store, versions, window=window)
        until = counted.as_of if window is None else window.end
        kept = evaluating.keep_months(store, versions, as_of=counted.as_of, window=window)
        found = evaluating.standings(store, contracts, counted.as_of, until)
    if as_json:
        tree = {
            "sealed_hours": sealed,
            "slices": counted.written,
            "revisions": [each.tree() for each in kept],
            "objectives": [each.tree() for each in found],
        }
        click.echo(json.dumps(tree, ensure_ascii=False))
    else:
        if not quiet:
            slices = "1 slice" if counted.written == 1 else f"{counted.written} slices"
            click.echo(f"{_hours(sealed)}, {slices} written", err=True)
            for each in kept:
                if each.is_new:
                    click.echo(f"{each.contract} {each.month}: revision {each.revision}", err=True)
        for line in _table(found):
            click.echo(line)
    return evaluating.exit_code(found)


def _hours(sealed: int) -> str:
    return "1 hour sealed" if sealed == 1 else f"{sealed} hours sealed"


def _table(found: Sequence[Standing]) -> Iterator[str]:
    """Yield aligned lines, a promise each."""
    rows: list[tuple[str, ...]] = [("contract", "month", "objective", "n", "over", "allowed", "verdict")]
    rows += [
        (
            each.contract,
            each.month or "-",
            f"{each.objective} ({each.part})" if each.part else each.objective,
            *("-" if value is None else str(value) for value in (each.counted, each.over, each.allowed)),
            # until a report is issued, a broken promise is a risk
            "at risk" if each.verdict == "violated" else each.verdict.replace("_", " "),
        )
        for each in found
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        yield "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()


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
