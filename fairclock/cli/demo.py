"""Own ``fairclock demo``: a month of simulated traffic, or a minute of real traffic, to look at."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fairclock.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairclock.demo.simulate import Simulated

_LIVE_REQUESTS = 60
_MONTH = "2026-10"


@click.command("demo", short_help="A month of traffic in minutes: ingest, evaluate, report, look.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=None,
    help="The folder to write to; an earlier demonstration there is replaced (default: demo-out).",
)
@click.option("--requests", type=click.IntRange(min=1), default=None, help="How many (default: 300000).")
@click.option(
    "--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Equal seeds, equal logs."
)
@click.option("--month", default=None, metavar="2026-10", help="The month that is simulated.")
@click.option(
    "--trace",
    type=click.Path(path_type=Path),
    default=None,
    metavar="FILE.csv",
    help="Play recorded arrivals instead: TIMESTAMP,ContextTokens,GeneratedTokens.",
)
@click.option(
    "--replicas", type=click.IntRange(min=1, max=1000), default=None, help="Engines for --trace (default: 2)."
)
@click.option("--live", is_flag=True, help="Real nginx in front of real vLLM on this machine instead.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
@click.option("--quiet", is_flag=True, help="Print results and errors only.")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def command(
    *,
    out: Path | None,
    requests: int | None,
    seed: int,
    month: str | None,
    trace: Path | None,
    replicas: int | None,
    live: bool,
    as_json: bool,
    quiet: bool,
    debug: bool,
) -> int:
    """Simulate a month of LLM traffic, measure it with everything that Fairclock has, and look at the reports.

    Simulated gateway logs and spans are written in their real formats, read by the real collectors into a
    store of their own, joined, judged and printed. It exits with 0 whatever the verdicts are.
    """
    del debug
    tell: Callable[[str], None] = _silent if quiet else _say
    if live:
        _refuse("--live", {"--month": month, "--trace": trace, "--replicas": replicas})
        return _live(
            out=out or Path("live-out"), requests=requests or _LIVE_REQUESTS, as_json=as_json, tell=tell
        )
    if trace is not None:
        _refuse("--trace", {"--month": month, "--requests": requests})
    else:
        _refuse("a simulated month, only with --trace", {"--replicas": replicas})
    simulation = _simulation(month=month, requests=requests, seed=seed, trace=trace, replicas=replicas)

    from rich.console import Console  # noqa: PLC0415

    from fairclock.demo.stages import Stopwatch, demonstrate  # noqa: PLC0415
    from fairclock.demo.summary import print_summary, summary_json  # noqa: PLC0415
    from fairclock.demo.workspace import prepare_workspace  # noqa: PLC0415

    workspace = prepare_workspace(out or Path("demo-out"))
    stopwatch = Stopwatch(clock=time.perf_counter, announce=tell)
    summary = summary_json(
        demonstrate(workspace=workspace, simulation=simulation, stopwatch=stopwatch, now=datetime.now(UTC)),
        workspace,
    )
    if as_json:
        click.echo(json.dumps(summary, ensure_ascii=False, indent=2))
    else:
        print_summary(summary, Console())
    return 0


def _simulation(
    *, month: str | None, requests: int | None, seed: int, trace: Path | None, replicas: int | None
) -> Callable[[Path], Simulated]:
    """Return what writes the logs, after a look at whether it can."""
    from fairclock.demo.month import month_of  # noqa: PLC0415
    from fairclock.demo.scenario import REQUESTS, TRACE_REPLICAS  # noqa: PLC0415
    from fairclock.demo.simulate import simulate, simulate_trace  # noqa: PLC0415
    from fairclock.demo.trace import read_trace  # noqa: PLC0415

    if trace is not None:
        recorded = read_trace(trace)
        return lambda out: simulate_trace(
            out=out, trace=recorded, replicas=replicas or TRACE_REPLICAS, seed=seed
        )
    calendar = month_of(month or _MONTH)
    if calendar.interval.end > datetime.now(UTC):
        raise UsageError(
            "--month",
            "is not over yet, and nothing can be reported of it",
            found=calendar.name,
            remedy="choose an earlier one",
        )
    return lambda out: simulate(out=out, month=calendar.name, requests=requests or REQUESTS, seed=seed)


def _live(*, out: Path, requests: int, as_json: bool, tell: Callable[[str], None]) -> int:
    """Run the live demonstration; 1 where Fairclock and the clients' own watches disagree."""
    from fairclock.demo.agreement import live_json, live_text  # noqa: PLC0415
    from fairclock.demo.live.run import run_live  # noqa: PLC0415

    result = run_live(out=out, requests=requests, now=datetime.now(UTC), tell=tell)
    click.echo(json.dumps(live_json(result), ensure_ascii=False, indent=2) if as_json else live_text(result))
    return 0 if result.agrees else 1


def _refuse(beside: str, options: dict[str, object]) -> None:
    """Refuse options that would have no effect."""
    for name, value in options.items():
        if value is not None:
            raise UsageError(name, f"has no effect with {beside}", remedy="leave it out")


def _say(step: str) -> None:
    click.echo(f"· {step}", err=True)


def _silent(step: str) -> None:
    del step
