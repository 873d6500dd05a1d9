"""Own how the bundled service is started: under vLLM's Python, with a model that exists or the tiny one."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TINY_MODEL = "tiny"
"""The name that the tiny model is served under."""

_MAIN = Path(__file__).resolve().parent / "service" / "__main__.py"
_OF_THE_TINY_MODEL = ("--dtype", "bfloat16", "--enforce-eager")


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """A program to run: its command line and environment."""

    arguments: tuple[str, ...]
    environment: Mapping[str, str]


def service_launch(
    *,
    python: Path,
    model: str,
    is_tiny: bool,
    host: str,
    port: int,
    environment: Mapping[str, str],
    own: Sequence[str] = (),
    engine: Sequence[str] = (),
) -> Launch:
    """Return what starts the service.

    model: a name or a folder, as vLLM takes it. is_tiny: whether it is the model that Fairclock makes, which runs on a CPU
    without anything from elsewhere. own: the service's own options. engine: vLLM's; one given here wins over one
    that is set for the tiny model.
    """
    tiny = ["--served-model-name", TINY_MODEL, *_OF_THE_TINY_MODEL] if is_tiny else []
    words = [str(python), str(_MAIN), *own, "--"]
    words += ["--model", model, "--host", host, "--port", str(port), *tiny, *engine]
    defaults = {"VLLM_NO_USAGE_STATS": "1"}
    if is_tiny:
        defaults |= {"VLLM_CPU_KVCACHE_SPACE": "1", "HF_HUB_OFFLINE": "1"}
    return Launch(arguments=tuple(words), environment={**defaults, **environment})


def is_complete(model: Path) -> bool:
    """Return whether a folder holds a model with its tokenizer."""
    return all((model / name).is_file() for name in ("config.json", "model.safetensors", "tokenizer.json"))


def own_options(
    *, kept_timings: int | None, prompts: Path | None, stop_seconds: float | None
) -> tuple[str, ...]:
    """Return the service's own options; what is None is left to its default."""
    given = {
        "--keep-timings": kept_timings,
        "--warm-up-prompts": None if prompts is None else os.fspath(prompts),
        "--stop-seconds": stop_seconds,
    }
    return tuple(word for name, value in given.items() if value is not None for word in (name, str(value)))
