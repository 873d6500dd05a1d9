"""Own where a run's result goes: its file, the store, the terminal."""

from __future__ import annotations

import json
import socket
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from fairclock.cli.probing.request import speaks_for
from fairclock.errors import FairclockError, NotEvaluable
from inference_probe.prober.result_files import write_result

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from fairclock.cli.probing.request import RunRequest
    from fairclock.store import Store
    from inference_probe.prober.result_files import Result


def keep(store: Store, result: Result, *, tenant: str) -> None:
    """Add a run's rows to ``probe_requests``."""
    from fairclock.store.probes import keep_probes  # noqa: PLC0415
    from inference_probe.prober.keeping import probe_rows  # noqa: PLC0415

    keep_probes(store, list(probe_rows(result, tenant=tenant, prober=socket.gethostname())))


def handed_on(
    request: RunRequest, result: Result, store: Store | None, tenant: str, *before: FairclockError
) -> None:
    """Write, keep and print a result; one that fails does not cost the others, and the last failure is raised in the end."""
    failures = list(before)
    # whoever keeps the file elsewhere has to know it: a sweep's failures are nobody's outage
    result = replace(result, header={**result.header, "speaks_for": speaks_for(request, tenant)})

    def kept() -> None:
        if store is not None:
            keep(store, result, tenant=speaks_for(request, tenant))

    for step in (
        partial(_written, request, result),
        kept,
        partial(show_result, result, as_json=request["as_json"], chart=request["chart"]),
    ):
        try:
            step()
        except FairclockError as error:
            failures.append(error)
    for failure in failures[:-1]:
        click.echo(str(failure), err=True)
    if failures:
        raise failures[-1]


def cut_short(request: RunRequest) -> NotEvaluable:
    """Return what is said of a run that was ended and is read as a whole."""
    return NotEvaluable(
        "probe run",
        "it was cut short: what was measured until then is no whole result",
        found=request.mode,
        remedy="let it run to its end",
    )


def _written(request: RunRequest, result: Result) -> None:
    if request["output"] is not None:
        write_result(request["output"], result)
        if not request.quiet:
            click.echo(f"written: {request['output']}", err=True)


def show(lines: Iterable[str], tree: dict[str, Any], *, as_json: bool) -> None:
    """Print a result for a person, or for a program."""
    if as_json:
        click.echo(json.dumps(tree, ensure_ascii=False, indent=2))
        return
    for line in lines:
        click.echo(line)


def show_result(result: Result, *, as_json: bool, chart: Path | None = None) -> None:
    """Print what a file says, however old it is: all of it is counted from its probes. A sweep's chart is written too."""
    from inference_probe.prober.latencies import figures  # noqa: PLC0415
    from inference_probe.prober.printing import run_lines  # noqa: PLC0415

    if result.mode == "sweep":
        from inference_probe.prober.sweeping.findings import findings  # noqa: PLC0415
        from inference_probe.prober.sweeping.showing import sweep_lines  # noqa: PLC0415

        found = findings(result)
        show(sweep_lines(found), found.tree(), as_json=as_json)
        if chart is not None:
            _write_chart(chart, found)
        return
    if result.mode == "canary":
        from inference_probe.prober.canary.showing import canary_lines  # noqa: PLC0415

        show(canary_lines(result), dict(result.header), as_json=as_json)
        return
    tree: dict[str, Any] = {**result.header, "figures": figures(result.seen)}
    if result.mode == "quality":
        from inference_probe.prober.quality.asking_fixed import by_mode, quality_lines  # noqa: PLC0415

        worth = by_mode(result.seen)
        show([*run_lines(result), *quality_lines(worth)], tree | {"quality": worth}, as_json=as_json)
        return
    show(run_lines(result), tree, as_json=as_json)


def _write_chart(path: Path, found: Any) -> None:
    from fairclock.documents.fonts import LATIN  # noqa: PLC0415
    from inference_probe.prober.sweeping.showing import sweep_chart  # noqa: PLC0415

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(sweep_chart(found, font_family=f"{LATIN}, sans-serif"), encoding="utf-8")
    except OSError as error:
        raise FairclockError(
            str(path),
            "the chart cannot be written",
            found=error.strerror,
            remedy="name another file by --chart",
        ) from error
