"""Own ``fairclock alerts``: what is firing and who was told, a marked sample to try destinations with, silences."""

from __future__ import annotations

import json
import os
import secrets
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from fairclock.cli import alert_rules
from fairclock.cli.configuration import configuration
from fairclock.cli.options import common_options, instant, store_dsn
from fairclock.errors import UsageError
from fairclock.store import open_store

if TYPE_CHECKING:
    from pathlib import Path

    from exporters.webhooks.silences import Silence

_FAILED = 2
_ID_BYTES = 4


@click.group()
def command() -> None:
    """Show alerts and who was told of them, try destinations, and keep alerts silent for a while.

    Destinations are configured under webhooks.
    """


command.add_command(alert_rules.command)


@command.command("list")
@click.option("--all", "every", is_flag=True, help="All changes of each alert, not only its last.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@common_options
def list_(
    *, every: bool, as_json: bool, dsn: str | None, config: Path | None, quiet: bool, debug: bool
) -> None:
    """List the alerts, what became of them at each destination, and the silences that are not over."""
    del quiet, debug
    from exporters.webhooks.listing import alert_lines, alert_trees, silence_line, silence_tree  # noqa: PLC0415
    from exporters.webhooks.store_outbox import StoreOutbox  # noqa: PLC0415

    with open_store(store_dsn(dsn, config)) as store:
        outbox = StoreOutbox(store)
        alerts = alert_trees(outbox.newest(), every=every)
        silences = outbox.silences(now=datetime.now(UTC))
    if as_json:
        tree = {"alerts": alerts, "silences": [silence_tree(each) for each in silences]}
        click.echo(json.dumps(tree, ensure_ascii=False, indent=2))
        return
    for line in [*alert_lines(alerts), *map(silence_line, silences)]:
        click.echo(line)


@command.command()
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array.")
@common_options
def test(
    *, name: str | None, as_json: bool, dsn: str | None, config: Path | None, quiet: bool, debug: bool
) -> int:
    """Send a sample that is marked as a test to the destination NAME, or to all, and print what came of it.

    It exits with 2 where one failed. A service that keeps alerts open gets the resolution too.
    """
    del quiet, debug
    webhooks = configuration(config).webhooks
    from exporters.webhooks.destination import destinations  # noqa: PLC0415
    from exporters.webhooks.sampling import send_sample  # noqa: PLC0415
    from exporters.webhooks.store_outbox import StoreOutbox  # noqa: PLC0415

    def now() -> datetime:
        return datetime.now(UTC)

    places = [
        place
        for place in destinations(webhooks, environment=os.environ, now=now)
        if name in {None, place.name}
    ]
    if not places:
        known = ", ".join(each.name for each in webhooks.destinations)
        raise UsageError(
            name or "webhooks.destinations",
            "no destination is called so" if name else "there is none",
            remedy=f"name one of {known}" if known else "configure one; docs/webhooks.md explains how",
        )
    with open_store(store_dsn(dsn, config)) as store:
        outbox = StoreOutbox(store)
        results = [
            send_sample(place, outbox, now=now, new_id=lambda: secrets.token_hex(16)) for place in places
        ]
    if as_json:
        click.echo(json.dumps(results, ensure_ascii=False, indent=2))
    else:
        for result in results:
            said = "delivered" if result["delivered"] else f"failed: {result['problem']}"
            status = f" (HTTP {result['http_status']})" if result["delivered"] else ""
            click.echo(f"{result['destination']}: {said}{status}")
    return 0 if all(result["delivered"] for result in results) else _FAILED


@command.command()
@click.option(
    "--match",
    "matchers",
    multiple=True,
    metavar="NAME=PATTERN",
    help="Which alerts: alert, clock, contract, incident, objective, rule, severity or tenant, and a pattern with "
    "* and ?; all that are given must fit.",
)
@click.option("--from", "start", default=None, metavar="T", help="From when on (default: now).")
@click.option("--to", "end", required=True, metavar="T", help="Until when.")
@click.option("--author", required=True, help="Who wants it.")
@click.option("--reason", required=True, help="Why.")
@common_options
def silence(
    *,
    matchers: tuple[str, ...],
    start: str | None,
    end: str,
    author: str,
    reason: str,
    dsn: str | None,
    config: Path | None,
    quiet: bool,
    debug: bool,
) -> None:
    """Tell nobody of some alerts for a while, and print the silence's id.

    What still fires when it ends is told then. The resolution of what was told before is told all the same.
    """
    del quiet, debug
    from exporters.webhooks import silences  # noqa: PLC0415
    from exporters.webhooks.store_outbox import StoreOutbox  # noqa: PLC0415

    now = datetime.now(UTC)
    made = silences.silence(
        id_=secrets.token_hex(_ID_BYTES),
        matchers=matchers,
        start=now if start is None else instant(start, where="--from"),
        end=instant(end, where="--to"),
        author=author,
        reason=reason,
    )
    with open_store(store_dsn(dsn, config)) as store:
        StoreOutbox(store).silence(made)
    click.echo(made.id)


@command.command()
@click.argument("silence_id", metavar="ID")
@common_options
def unsilence(*, silence_id: str, dsn: str | None, config: Path | None, quiet: bool, debug: bool) -> None:
    """End a silence now."""
    del debug
    from exporters.webhooks.store_outbox import StoreOutbox  # noqa: PLC0415

    now = datetime.now(UTC)
    with open_store(store_dsn(dsn, config)) as store:
        outbox = StoreOutbox(store)
        found = _found(outbox.silences(now=now), silence_id)
        ended = replace(found, end=now, start=min(found.start, now), version=found.version + 1)
        outbox.silence(ended)
    if not quiet:
        click.echo(f"{silence_id} is over", err=True)


def _found(silences: list[Silence], silence_id: str) -> Silence:
    for each in silences:
        if each.id == silence_id:
            return each
    raise UsageError(
        silence_id, "no silence that is not over has this id", remedy="see fairclock alerts list"
    )
