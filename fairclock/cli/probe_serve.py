"""Own ``fairclock probe serve``: a real vLLM that says with every answer what happened inside."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import click


@click.command(short_help="A real vLLM that says with every answer what happened inside.")
@click.option(
    "--model",
    default=None,
    metavar="NAME|FOLDER",
    help="The model, as vLLM takes it (default: a tiny one of random weights, made on first use).",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to answer on.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="Its port; 0: a free one."
)
@click.option(
    "--vllm-python",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    envvar="FAIRCLOCK_VLLM_PYTHON",
    help="The Python that has vLLM (else FAIRCLOCK_VLLM_PYTHON, else .venv-vllm here).",
)
@click.option(
    "--keep-timings",
    "kept_timings",
    type=click.IntRange(1, 10_000_000),
    default=None,
    help="How many requests /timings tells of (default: 50000).",
)
@click.option(
    "--warm-up-prompts",
    "prompts",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    metavar="FILE",
    help="Typical prompts for the warm-up, one a line (default: built-in ones of several lengths).",
)
@click.option(
    "--stop-seconds",
    type=click.FloatRange(min=0),
    default=None,
    help="How long running requests may take when told to end (default: 30).",
)
@click.option("--quiet", is_flag=True, help="Print results and errors only.")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.argument("engine_options", nargs=-1, type=click.UNPROCESSED)
def serve(
    *,
    model: str | None,
    host: str,
    port: int,
    vllm_python: Path | None,
    kept_timings: int | None,
    prompts: Path | None,
    stop_seconds: float | None,
    quiet: bool,
    debug: bool,
    engine_options: tuple[str, ...],
) -> None:
    """Serve a model behind an OpenAI-compatible API whose every answer carries its own truth.

    When the request came, was queued, scheduled, gave its first and last token, and was answered: on one clock, in the
    answer's key `fairclock`, in a stream's last event, and at /timings/REQUEST_ID. /readyz is 200 after the warm-up.
    What follows -- is given to vLLM as it is: fairclock probe serve -- --max-num-seqs 2
    """
    del debug
    from fairclock.demo.live.programs import find_vllm_python  # noqa: PLC0415
    from inference_probe.launching import own_options, service_launch  # noqa: PLC0415

    python = find_vllm_python(vllm_python)
    launch = service_launch(
        python=python,
        model=model or str(_tiny_model(python, is_quiet=quiet)),
        is_tiny=model is None,
        host=host,
        port=port,
        environment=os.environ,
        own=own_options(kept_timings=kept_timings, prompts=prompts, stop_seconds=stop_seconds),
        engine=engine_options,
    )
    # the service takes this process's place: signals, exit code and messages are its own
    os.execve(launch.arguments[0], launch.arguments, dict(launch.environment))  # noqa: S606


def _tiny_model(python: Path, *, is_quiet: bool) -> Path:
    """Return the folder of the tiny model, made now where there is none; two that make it at once do no harm."""
    from fairclock.cli.options import data_directory  # noqa: PLC0415
    from fairclock.demo.live.engine import make_model  # noqa: PLC0415
    from inference_probe.launching import is_complete  # noqa: PLC0415

    folder = data_directory() / "tiny-model"
    if is_complete(folder):
        return folder
    if not is_quiet:
        click.echo("· Making a model of random weights", err=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as making:
        made = Path(making) / "model"
        make_model(python=python, directory=made, output=Path(making) / "model.log")
        if folder.exists() and not is_complete(folder):
            shutil.rmtree(folder)
        try:
            made.rename(folder)
        except OSError:
            if not is_complete(folder):
                raise
    return folder
