"""Own the engine of the live demonstration: a real vLLM on the CPU with a tiny model made on the spot."""

from __future__ import annotations

import contextlib
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import httpx

from fairclock.demo.live import tiny_model
from fairclock.demo.live.programs import Program, running
from fairclock.errors import FairclockError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

MODEL_NAME = "tiny"
RUNNING_AT_ONCE = 2
"""vLLM's ``--max-num-seqs``: a third request has to queue."""

SERVER = ("-m", "vllm.entrypoints.openai.api_server")
"""What vLLM's Python runs; vLLM's options follow."""

_MODEL_SECONDS = 300.0
_READY_SECONDS = 600.0
_ANSWER_SECONDS = 60.0
_SAMPLE = re.compile(r"^vllm:(\w+)(?:\{[^}]*\})? (\S+)$", re.MULTILINE)
_QUEUE_SUM = re.compile(r"^vllm:request_queue_time_seconds_sum(?:\{[^}]*\})? (\S+)$", re.MULTILINE)
_QUEUE_COUNT = re.compile(r"^vllm:request_queue_time_seconds_count(?:\{[^}]*\})? (\S+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueCounter:
    """vLLM's own account of queueing: seconds waited by `finished` requests since it started."""

    seconds: float
    finished: int

    def since(self, earlier: QueueCounter) -> QueueCounter:
        """Return what was added after `earlier`."""
        return QueueCounter(seconds=self.seconds - earlier.seconds, finished=self.finished - earlier.finished)


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """A running vLLM."""

    url: str

    def totals(self) -> dict[str, float]:
        """Read /metrics and return, for each of vLLM's names, the sum of its samples whatever their labels."""
        text = httpx.get(f"{self.url}/metrics", timeout=_ANSWER_SECONDS, trust_env=False).text
        totals: dict[str, float] = {}
        for name, value in _SAMPLE.findall(text):
            totals[name] = totals.get(name, 0.0) + float(value)
        return totals

    def queue_counter(self) -> QueueCounter:
        """Read the sum and count of vLLM's queue-time histogram from /metrics."""
        text = httpx.get(f"{self.url}/metrics", timeout=_ANSWER_SECONDS, trust_env=False).text
        seconds, finished = _QUEUE_SUM.findall(text), _QUEUE_COUNT.findall(text)
        if not seconds or not finished:
            raise FairclockError(
                f"{self.url}/metrics",
                "vllm:request_queue_time_seconds is not among vLLM's metrics",
                remedy="use the vLLM that requirements/ pins",
            )
        return QueueCounter(seconds=sum(map(float, seconds)), finished=int(sum(map(float, finished))))


def make_model(*, python: Path, directory: Path, output: Path) -> None:
    """Make the tiny model in `directory` with vLLM's Python; what that says goes to `output`."""
    output.parent.mkdir(parents=True, exist_ok=True)
    with output.open("wb") as sink:
        try:
            done = subprocess.run(
                [str(python), str(Path(tiny_model.__file__)), str(directory)],
                stdout=sink,
                stderr=subprocess.STDOUT,
                timeout=_MODEL_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise FairclockError(
                str(python), f"the tiny model was not made in {_MODEL_SECONDS:g} s", remedy=f"read {output}"
            ) from error
    if done.returncode:
        lines = output.read_text(errors="replace").strip().splitlines()
        raise FairclockError(
            str(python),
            "the tiny model could not be made",
            found=lines[-1] if lines else "no output",
            remedy="run `make live`, which sets vLLM's environment up, or see " + str(output),
        )


@contextlib.contextmanager
def running_engine(
    *,
    python: Path,
    model: Path,
    directory: Path,
    port: int,
    otlp_endpoint: str,
    options: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    server: Sequence[str] = SERVER,
) -> Iterator[Engine]:
    """Run vLLM on `port`, with spans sent to `otlp_endpoint` (gRPC), until the block is left.

    `options` and `environment` are added to its own; `server` is what takes vLLM's options in place of its own server.
    """
    own_options = (
        f"--model {{model}} --served-model-name {MODEL_NAME} --host 127.0.0.1 --port {port} --dtype bfloat16 "
        f"--max-model-len {tiny_model.CONTEXT_TOKENS} --max-num-seqs {RUNNING_AT_ONCE} --enforce-eager "
        f"--otlp-traces-endpoint {otlp_endpoint}"
    )
    program = Program(
        name="vLLM",
        arguments=[str(python), *server]
        + [str(model) if word == "{model}" else word for word in own_options.split()]
        + list(options),
        output=directory / "vllm.log",
        environment={
            "VLLM_CPU_KVCACHE_SPACE": "1",
            "VLLM_NO_USAGE_STATS": "1",
            "HF_HUB_OFFLINE": "1",
            "OTEL_SERVICE_NAME": "live",
            "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "grpc",
            "OTEL_BSP_SCHEDULE_DELAY": "500",  # ms; its default keeps spans back for 5 s
            "NO_PROXY": "127.0.0.1",
            "no_proxy": "127.0.0.1",
            **(environment or {}),
        },
        stop_seconds=90.0,
    )
    with running(program) as started:
        url = f"http://127.0.0.1:{port}"
        started.await_answer(f"{url}/health", within_seconds=_READY_SECONDS)
        yield Engine(url=url)
