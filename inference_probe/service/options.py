"""Own the service's own options; what follows ``--`` is vLLM's."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from inference_probe.service.timings import DEFAULT_KEPT

if TYPE_CHECKING:
    from collections.abc import Sequence

DEFAULT_STOP_SECONDS = 30.0
_MOST_KEPT = 10_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the service is told.

    kept_timings: how many requests' timings are kept. prompts: typical ones for the warm-up. stop_seconds: how long
    requests that run may take when the service is told to end. engine: vLLM's own options.
    """

    kept_timings: int
    prompts: tuple[str, ...]
    stop_seconds: float
    engine: tuple[str, ...]


def read_options(words: Sequence[str]) -> Options:
    """Read the command line; ends the program with 2 where it is wrong."""
    own, engine = list(words), []
    if "--" in own:
        place = own.index("--")
        own, engine = own[:place], own[place + 1 :]
    parser = argparse.ArgumentParser(prog="fairclock probe serve", allow_abbrev=False)
    parser.add_argument("--keep-timings", type=int, default=DEFAULT_KEPT)
    parser.add_argument("--warm-up-prompts", type=Path, default=None)
    parser.add_argument("--stop-seconds", type=float, default=DEFAULT_STOP_SECONDS)
    read = parser.parse_args(own)
    if not 1 <= read.keep_timings <= _MOST_KEPT:
        parser.error(f"--keep-timings: not from 1 to {_MOST_KEPT} ({read.keep_timings})")
    if not read.stop_seconds >= 0:
        parser.error(f"--stop-seconds: below 0 ({read.stop_seconds:g})")
    try:
        prompts = () if read.warm_up_prompts is None else read_prompts(read.warm_up_prompts)
    except (OSError, ValueError) as error:
        parser.error(f"--warm-up-prompts: {read.warm_up_prompts} cannot be used ({error})")
    return Options(
        kept_timings=read.keep_timings, prompts=prompts, stop_seconds=read.stop_seconds, engine=tuple(engine)
    )


def read_prompts(path: Path) -> tuple[str, ...]:
    """Return the lines that are not empty; raises ValueError where there is none."""
    found = tuple(line.strip() for line in path.read_text(encoding="utf-8").splitlines() if line.strip())
    if not found:
        raise ValueError("no line holds a prompt")
    return found
