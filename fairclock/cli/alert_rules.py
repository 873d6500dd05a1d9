"""Own ``fairclock alerts rules``: rules for those who alert with Prometheus."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from fairclock.cli.options import common_options
from fairclock.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from sla.contracts import Contract


@click.command("rules")
@click.argument("contracts", nargs=-1, metavar="CONTRACT...")
@click.option(
    "--alertmanager", "receiver_url", default=None, metavar="URL",
    help="Print an Alertmanager configuration instead, which tells URL.",
)  # fmt: skip
@click.option(
    "--health", is_flag=True,
    help="Print rules on Fairclock's own health too: its collectors, spool, store, disks, evaluator.",
)  # fmt: skip
@click.option(
    "--runbooks", default=None, metavar="URL",
    help="Where the pages of docs/runbooks are, for the annotation runbook_url (default: webhooks.runbooks).",
)  # fmt: skip
@common_options
def command(
    *,
    contracts: tuple[str, ...],
    receiver_url: str | None,
    health: bool,
    runbooks: str | None,
    dsn: str | None,
    config: Path | None,
    quiet: bool,
    debug: bool,
) -> None:
    """Print Prometheus recording and alerting rules for the contracts, with thresholds of their own.

    A CONTRACT is a file, or a folder with the versions of one, of which the one in force is taken. The rules read
    what fairclock up answers at /metrics. Where a usual threshold cannot be reached, standard error says which and why.
    """
    del dsn, debug
    import yaml  # noqa: PLC0415 - as below: loaded where it is used

    from sla.contracts.versions import load_versions  # noqa: PLC0415
    from sla.health_rules import health_group  # noqa: PLC0415
    from sla.prometheus_rules import alertmanager_tree, rule_groups  # noqa: PLC0415

    if not contracts and not health:
        raise UsageError("CONTRACT", "none is named", remedy="name a contract's file, or give --health")
    now = datetime.now(UTC)
    pages = runbooks or _configured(config)
    loaded = [_in_force(load_versions(path), now) for path in contracts]
    names = [contract.id for contract in loaded]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(
            "CONTRACT",
            "two contracts have one id",
            found=", ".join(twice),
            remedy="name the version in force, or the folder of its versions",
        )
    if receiver_url is not None:
        tree = alertmanager_tree(loaded, receiver_url)
    else:
        tree = {"groups": [health_group(pages)] if health else []}
        for contract in loaded:
            groups, refused = rule_groups(contract, contract.month(_month(contract, now)), runbooks=pages)
            tree["groups"] += groups
            for rule in refused if not quiet else ():
                click.echo(f"{contract.id}: {rule.name} is left out: {rule.reason}", err=True)
    click.echo(yaml.safe_dump(tree, allow_unicode=True, sort_keys=False, width=1000), nl=False)


def _configured(config: Path | None) -> str | None:
    from fairclock.cli.configuration import configuration  # noqa: PLC0415

    return configuration(config).webhooks.runbooks


def _in_force(versions: Sequence[Contract], now: datetime) -> Contract:
    """Return the version that is in force at `now`: the last that has begun, or the first that will."""
    begun = [each for each in versions if each.term.first_day <= now.astimezone(each.zone).date()]
    return begun[-1] if begun else versions[0]


def _month(contract: Contract, now: datetime) -> str:
    """Return the month whose length the thresholds are scaled to: this one, or the term's nearest."""
    term = contract.term
    today = now.astimezone(contract.zone).date()
    day = min(max(today, term.first_day), term.last_day)
    return f"{day:%Y-%m}"
