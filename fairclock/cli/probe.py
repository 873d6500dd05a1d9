"""Own ``fairclock probe``: ask the service what a customer would ask, and hold the measurement against it."""

from __future__ import annotations

import click

from fairclock.cli.groups import LazyGroup

_ELSEWHERE = {
    "serve": "fairclock.cli.probe_serve",
    "run": "fairclock.cli.probe_run",
    "reconcile": "fairclock.cli.probe_reconcile",
}
_ORDER = ("serve", "run", "reconcile")


@click.group(
    cls=LazyGroup,
    elsewhere=_ELSEWHERE,
    order=_ORDER,
    short_help="Serve a model that tells the truth, ask, compare.",
)
def command() -> None:
    """Hold the measurement against what is known: a service that says what happened inside, and probes of it."""
