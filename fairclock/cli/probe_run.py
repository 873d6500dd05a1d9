"""Own ``fairclock probe run``: its options; what each mode does is in `fairclock.cli.probing`."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import click

from fairclock.cli.options import common_options, store_dsn
from fairclock.errors import UsageError

_MODES = ("run", "shadow", "canary", "sweep", "quality")
_FILE = click.Path(path_type=Path, dir_okay=False)


class _Number(click.FloatRange):
    """A number that is one: neither infinite nor nan, which no bound refuses."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        found = super().convert(value, param, ctx)
        if not math.isfinite(found):
            self.fail(f"{value} is not a number", param, ctx)
        return found


_POSITIVE = _Number(min=0, min_open=True)
_RATIO = _Number(0, 1)
_TOKENS = click.IntRange(1, 1 << 20)


@click.command(short_help="Ask an endpoint by the clock, and say what came of it.")
@click.argument("url", required=False)
@click.option("--mode", type=click.Choice(_MODES), default="run", show_default=True, help="What kind of run.")
@click.option("--model", default=None, metavar="NAME", help="The model, as the endpoint calls it.")
@click.option(
    "--api",
    type=click.Choice(["chat", "completions"]),
    default="chat",
    show_default=True,
    help="Which of the APIs.",
)
@click.option("--whole", is_flag=True, help="Ask for whole answers instead of streams.")
@click.option("--key-env", default=None, metavar="NAME", help="The variable with the API key.")
@click.option("--ca", type=_FILE, default=None, help="Certificates (PEM) to trust instead of the system's.")
@click.option(
    "--tenant",
    default=None,
    help="Whose traffic probes are at the gateway (default: the first of probe_tenants).",
)
@click.option(
    "--for",
    "speaks_for",
    default=None,
    metavar="TENANT",
    help="Whom a failure concerns: a tenant, everybody (run, shadow, quality), nobody (sweep, canary).",
)
@click.option("--rate", type=_POSITIVE, default=1.0, show_default=True, help="Probes a second.")
@click.option(
    "--arrivals",
    type=click.Choice(["poisson", "constant"]),
    default="poisson",
    show_default=True,
    help="How they are spread.",
)
@click.option(
    "--trace", type=_FILE, default=None, help="Replay the arrivals of a file of JSON lines instead."
)
@click.option(
    "--speed", type=_POSITIVE, default=1.0, show_default=True, help="How much faster the trace is replayed."
)
@click.option(
    "--duration", "duration_seconds", type=_POSITIVE, default=None, metavar="SECONDS",
    help="How long (default: 60; of a sweep each stage 30; a shadow 3600; a trace to its end).",
)  # fmt: skip
@click.option(
    "--seed",
    type=int,
    default=None,
    help="The same seed makes the same schedule and prompts (default: another in each run).",
)
@click.option(
    "--prompt-tokens", type=_TOKENS, default=64, show_default=True, help="About how long prompts are."
)
@click.option(
    "--completion-tokens", type=_TOKENS, default=32, show_default=True, help="How long answers are."
)
@click.option(
    "--timeout", "timeout_seconds", type=_POSITIVE, default=60.0, show_default=True, metavar="SECONDS",
    help="How long an answer may take, from the intended start.",
)  # fmt: skip
@click.option("--fresh-connections", is_flag=True, help="A connection of its own for each probe.")
@click.option(
    "--cancel-ratio",
    type=_RATIO,
    default=0.0,
    show_default=True,
    help="Which part of the probes is left.",
)
@click.option(
    "--cancel-after",
    type=_POSITIVE,
    default=1.0,
    show_default=True,
    metavar="SECONDS",
    help="How long after they were sent.",
)
@click.option(
    "--most-late-ms", type=_POSITIVE, default=50.0, show_default=True,
    help="The run is void where the prober's own lateness or loop lag is more at P99.",
)  # fmt: skip
@click.option("--inference-mode", default="", help="How the engine runs, where its answers do not say so.")
@click.option(
    "--share",
    type=_RATIO,
    default=0.01,
    show_default=True,
    help="Shadow: which part of arrivals.",
)
@click.option(
    "--delay", "delay_seconds", type=_POSITIVE, default=300.0, show_default=True, metavar="SECONDS",
    help="Shadow: how far behind them, so that they are stored by then.",
)  # fmt: skip
@click.option("--canary", default=None, metavar="URL", help="Canary: the new version.")
@click.option("--policy", type=_FILE, default=None, help="Canary: the policy file.")
@click.option("--metrics-url", default=None, metavar="URL", help="Sweep, canary: the engine's /metrics.")
@click.option("--canary-metrics-url", default=None, metavar="URL", help="Canary: the new version's /metrics.")
@click.option("--rates", default=None, metavar="R,R,...", help="Sweep: probes a second, stage by stage.")
@click.option("--concurrency", default=None, metavar="N,N,...", help="Sweep: probes at once, stage by stage.")
@click.option(
    "--objective",
    "objectives",
    multiple=True,
    metavar="TEXT",
    help="Sweep: such as 'time_to_first_token p95 0.5'.",
)
@click.option("--chart", type=_FILE, default=None, help="Sweep: write a chart (SVG).")
@click.option(
    "--rounds",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Quality: how often each question.",
)
@click.option(
    "-o", "--output", type=_FILE, default=None, help="Write the run: a header line, and a line a probe."
)
@click.option(
    "--show",
    "shown",
    type=_FILE,
    default=None,
    metavar="FILE",
    help="Ask nobody; print the run in FILE again.",
)
@click.option("--no-store", is_flag=True, help="Keep nothing in the store.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@common_options
def run(
    *, url: str | None, mode: str, shown: Path | None, no_store: bool, dsn: str | None, config: Path | None, quiet: bool,
    debug: bool, **words: Any,
) -> int:  # fmt: skip
    """Ask the OpenAI-compatible endpoint URL by a schedule that waits for no answer.

    Latencies count from the instant at which a probe was meant to begin. A run in which the prober itself was too late is
    void: exit 3, nothing is kept.
    """
    del debug
    if shown is not None:
        from fairclock.cli.probing.keeping import show_result  # noqa: PLC0415
        from inference_probe.prober.result_files import read_result  # noqa: PLC0415

        show_result(read_result(shown), as_json=words["as_json"], chart=words["chart"])
        return 0
    if url is None:
        raise UsageError("URL", "no endpoint is named", remedy="write http(s)://host[:port], or --show FILE")
    from fairclock.cli.probing.modes import run_mode  # noqa: PLC0415
    from fairclock.cli.probing.request import RunRequest  # noqa: PLC0415

    return run_mode(
        RunRequest(
            url=url,
            mode=mode,
            words=words,
            config=config,
            dsn=None if no_store else store_dsn(dsn, config),
            quiet=quiet,
        )
    )
