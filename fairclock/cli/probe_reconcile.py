"""Own ``fairclock probe reconcile``: the same requests by their client, the gateway, the engine's two voices, and the truth."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import click

from fairclock.cli.configuration import configuration
from fairclock.cli.options import common_options, instant, store_dsn
from fairclock.errors import UsageError
from fairclock.model import Interval
from fairclock.store import open_store

if TYPE_CHECKING:
    from pathlib import Path

_WRONG, _NOTHING = 1, 3
_BACK = timedelta(days=1)


@click.command("reconcile", short_help="Hold every source's word on the same probes against the others'.")
@common_options
@click.option(
    "--from", "start", default=None, metavar="INSTANT", help="The first probe (default: a day before --to)."
)
@click.option(
    "--to", "end", default=None, metavar="INSTANT", help="The end of the last probe (default: now)."
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
def reconcile(
    *,
    start: str | None,
    end: str | None,
    as_json: bool,
    dsn: str | None,
    config: Path | None,
    quiet: bool,
    debug: bool,
) -> int:
    """Lay side by side what client, gateway, span, plugin and service say of each probe, and keep it.

    It prints who missed probes, how far the sources differ about each duration, and between what every two clocks are
    apart; clocks are told and taken off nothing. It exits with 1 where something is beyond its limit
    (sla.alerts.measurement), with 3 where no probe was sent.
    """
    del debug
    settings = configuration(config)
    now = datetime.now(UTC)
    window = _window(start, end, now)
    from inference_probe.reconciliation.printing import printed  # noqa: PLC0415 - only where it is done
    from inference_probe.reconciliation.reconciling import reconcile as reconcile_probes  # noqa: PLC0415
    from sla.measurement import measured  # noqa: PLC0415
    from sla.measurement.problems import Limits, problems  # noqa: PLC0415
    from sla.measurement.section import measurement_tree  # noqa: PLC0415

    with open_store(store_dsn(dsn, config)) as store:
        done = reconcile_probes(store, window, as_of=store.watermark(), now=now)
    measurement = measured(done.probes, done.found)
    rule = settings.sla.alerts.measurement
    wrong = problems(
        measurement, Limits(unseen=rule.min_probes, apart_us=round(rule.clocks_apart * 1_000_000))
    )
    if as_json:
        tree = {
            "from": window.start.isoformat(),
            "to": window.end.isoformat(),
            "kept": done.kept,
            "repeated": done.repeated,
            **measurement_tree(measurement),
            "problems": [
                {"kind": each.kind, "about": each.about, "sentence": each.sentence} for each in wrong
            ],
        }
        click.echo(json.dumps(tree, ensure_ascii=False, indent=2))
    elif not quiet:
        for line in printed(done, measurement, wrong):
            click.echo(line)
    if not measurement.sent:
        return _NOTHING
    return _WRONG if wrong else 0


def _window(start: str | None, end: str | None, now: datetime) -> Interval:
    last = now if end is None else instant(end, where="--to")
    first = last - _BACK if start is None else instant(start, where="--from")
    if last <= first:
        raise UsageError(
            "--to",
            "the range is empty",
            found=f"it ends at {last.isoformat()} and starts at {first.isoformat()}",
            remedy="name an instant after --from",
        )
    return Interval(start=first, end=last)
