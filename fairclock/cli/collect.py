"""Own ``fairclock collect``: collectors that run until they are stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from fairclock.cli.options import common_options, store_dsn
from fairclock.cli.overriding import overridden
from fairclock.cli.pipeline.memory import give_back_memory
from fairclock.cli.pipeline.running import running
from fairclock.cli.serving import announce, collecting_options, settings_of, stop_signal
from fairclock.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from fairclock.cli.configuration import Configuration

_GIVE_BACK_EVERY_SECONDS = 30.0
_RANK = {ParameterSource.ENVIRONMENT: 1, ParameterSource.COMMANDLINE: 2}


@click.command("collect", short_help="Collect from running services until stopped.")
@common_options
@collecting_options
@click.option(
    "--listen",
    "http__address",
    metavar="HOST:PORT",
    default=None,
    envvar="FAIRCLOCK_LISTEN",
    show_envvar=True,
    help="Where /healthz, /readyz and /metrics are answered, or off (default: off).",
)
@click.option(
    "--plain-http",
    "forward__plain_http",
    is_flag=True,
    default=None,
    help="Let the token travel unencrypted to another machine.",
)
@click.option(
    "--ca",
    "forward__ca",
    metavar="FILE",
    default=None,
    envvar="FAIRCLOCK_CA",
    show_envvar=True,
    help="The certificates by which --to is known, in place of the system's.",
)
@click.option(
    "--token-file",
    "forward__token_file",
    metavar="FILE",
    default=None,
    envvar="FAIRCLOCK_TOKEN_FILE",
    show_envvar=True,
    help="The file that holds the token for --to (else FAIRCLOCK_TOKEN holds it).",
)
@click.option(
    "--to",
    "forward__to",
    metavar="URL",
    default=None,
    envvar="FAIRCLOCK_TO",
    show_envvar=True,
    help="The fairclock up that takes what is collected, in place of a store.",
)
@click.option(
    "--gpu-expect",
    "gpu__expect",
    type=int,
    metavar="N",
    default=None,
    envvar="FAIRCLOCK_GPU_EXPECT",
    show_envvar=True,
    help="How many GPUs there should be (default: 1).",
)
@click.option(
    "--gpu-source",
    "gpu__source",
    type=click.Choice(["nvml", "dcgm", "nvidia-smi", "demo"]),
    default=None,
    envvar="FAIRCLOCK_GPU_SOURCE",
    show_envvar=True,
    help="Who is asked about GPUs (default: nvml).",
)
@click.argument(
    "collectors",
    nargs=-1,
    required=True,
    metavar="COLLECTOR...",
    type=click.Choice(["gateway", "otlp", "vllm", "gpu"]),
)
def command(
    *,
    collectors: tuple[str, ...],
    dsn: str | None,
    config: Path | None,
    quiet: bool,
    debug: bool,
    **flags: Any,
) -> None:
    """Collect until SIGINT or SIGTERM: gateway (its log), otlp (vLLM's spans), vllm (its statistics), gpu, or several.

    What is collected goes to the disk first and then, in batches, into the store; with --to it is forwarded to
    another Fairclock instead, and no store is needed. While the destination is away, it waits on the disk.
    """
    del debug
    settings = settings_of(config, flags, quiet=quiet)
    if "address" not in settings.http.model_fields_set:  # a sidecar does not answer unless it is told to
        settings = overridden(settings, {"http__address": "off"})
    store = None if _is_forwarded(settings) else store_dsn(dsn, config)
    with stop_signal() as stop, running(settings, collectors=collectors, dsn=store) as pipeline:
        announce(pipeline.announcements, settings, quiet=quiet)
        while not pipeline.wait(stop, _GIVE_BACK_EVERY_SECONDS):
            give_back_memory()


def _is_forwarded(settings: Configuration) -> bool:
    """Return whether frames go to another Fairclock: what is named closest to the command line decides, then ``--to``."""
    if settings.forward.to is None:
        return False
    source = click.get_current_context().get_parameter_source
    to, dsn = (_RANK.get(source(name) or ParameterSource.DEFAULT, 0) for name in ("forward__to", "dsn"))
    if to == dsn == _RANK[ParameterSource.COMMANDLINE]:
        raise UsageError("--to", "cannot go with --dsn", remedy="leave one of them out")
    return to >= dsn
