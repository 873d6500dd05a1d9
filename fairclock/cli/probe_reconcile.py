"""Own ``fairclock probe reconcile``: the same requests by their client, the gateway, the engine's two voices, and the truth."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fairclock.cli.configuration import configuration
from fairclock.cli.options import common_options, instant, store_dsn
from fairclock.errors import InputError, UsageError
from fairclock.model import Interval
from fairclock.store import open_store
from fairclock.store.probe_sightings import last_seen
from fairclock.store.probes import keep_probes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairclock.model.probes import Probe

_WRONG, _NOTHING = 1, 3
_BACK = timedelta(days=1)
_MICROSECOND = timedelta(microseconds=1)


@click.command("reconcile", short_help="Hold every source's word on the same probes against the others'.")
@common_options
@click.argument("files", nargs=-1, metavar="[RESULT]...", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--from",
    "start",
    default=None,
    metavar="INSTANT",
    help="The first probe (default: the first of RESULT, else a day before --to).",
)
@click.option(
    "--to",
    "end",
    default=None,
    metavar="INSTANT",
    help="The end of the last probe (default: the last of RESULT, else now).",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
def reconcile(
    *,
    files: tuple[Path, ...],
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

    The probes are those in the store; RESULT is a file that `fairclock probe run -o` wrote elsewhere, and is kept there first.
    """
    del debug
    settings = configuration(config)
    now = datetime.now(UTC)
    told = [probe for path in files for probe in _probes_in(path)]
    window = _window(start, end, now, told)
    from inference_probe.reconciliation.printing import printed  # noqa: PLC0415 - only where it is done
    from inference_probe.reconciliation.reconciling import reconcile as reconcile_probes  # noqa: PLC0415
    from sla.alerting.measurement import limits_of  # noqa: PLC0415
    from sla.measurement import measured  # noqa: PLC0415
    from sla.measurement.problems import problems  # noqa: PLC0415
    from sla.measurement.section import measurement_tree  # noqa: PLC0415

    own = settings.billing.gpu_time.probe_tenants
    with open_store(store_dsn(dsn, config)) as store:
        keep_probes(store, told)
        done = reconcile_probes(store, window, as_of=store.watermark(), now=now, own=own)
        # a source that saw probes the day before and none of these is silent, not one that is not connected
        known = last_seen(store, Interval(start=window.start - _BACK, end=window.end), store.watermark())
    measurement = measured(done.probes, done.found)
    wrong = problems(
        measurement,
        limits_of(settings.sla.alerts.measurement),
        known=known,
        repeated=done.repeated,
        taken_for=done.taken_for,
    )
    if as_json:
        tree = {
            "from": window.start.isoformat(),
            "to": window.end.isoformat(),
            "kept": done.kept,
            "taken_for": dict(done.taken_for),
            "repeated": {source.value: count for source, count in done.repeated.items()},
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


def _probes_in(path: Path) -> list[Probe]:
    from inference_probe.prober.keeping import probe_rows  # noqa: PLC0415 - only where a file is named
    from inference_probe.prober.result_files import read_result  # noqa: PLC0415

    result = read_result(path)
    try:
        # a file of before says nothing of it: a sweep overloads on purpose, and a canary may be broken
        of_nobody = str(result.header["tenant"]) if result.mode in {"sweep", "canary"} else ""
        tenant = str(result.header.get("speaks_for", of_nobody))
        return list(probe_rows(result, tenant=tenant, prober=path.stem))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(
            f"{path}:1", "not the header of a probe run", found=str(error)[:120], remedy="run it again"
        ) from error


def _window(start: str | None, end: str | None, now: datetime, told: Sequence[Probe]) -> Interval:
    """Return the time that the options name, else that of the probes in files, else the last day."""
    meant = [each.intended_at for each in told]
    last = max(meant, default=now) + _MICROSECOND if end is None else instant(end, where="--to")
    first = min(meant, default=last - _BACK) if start is None else instant(start, where="--from")
    if last <= first:
        raise UsageError(
            "--to",
            "the range is empty",
            found=f"it ends at {last.isoformat()} and starts at {first.isoformat()}",
            remedy="name an instant after --from",
        )
    return Interval(start=first, end=last)
