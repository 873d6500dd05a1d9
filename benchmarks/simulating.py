"""Own the check of the simulated engine: real vLLM on the CPU and the simulator set to its speed, under the same load.

It needs an environment with vLLM (FAIRCLOCK_VLLM_PYTHON, else .venv-vllm) and is not among the benchmarks that run by themselves.
"""

from __future__ import annotations

import asyncio
import math
import os
import random
import sys
import time
from typing import TYPE_CHECKING

from benchmarks.measuring import Figure
from fairclock.demo.calibration import EngineRun, calibrated, compared, simulated, under_load
from fairclock.demo.live.programs import Program, find_vllm_python, free_port, running
from inference_probe.prober.endpoints import endpoint
from inference_probe.prober.loading import Loading, load
from inference_probe.prober.plans import Asking
from inference_probe.prober.schedules import Arrival

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from inference_probe.prober.endpoints import Endpoint

PROBES = 300
_PLACES, _CONTEXT_TOKENS = 2, 1024
_ALONE, _PAIRS = 40, 20
_BUSY = 0.6  # the share of the time that the places would be taken if nobody waited
_READY_SECONDS = 600.0
_NEVER_TOO_LATE_SECONDS = 60.0  # what counts is when the engine queued a request, which it says itself
_PROMPTS, _COMPLETIONS = (16, 400), (8, 40)
_MARKS = ("queued", "scheduled", "first_token", "last_token")


def figures(folder: Path, probes: int = PROBES) -> list[Figure]:
    """Return how far P50 and P99 of queue and inference of the two are apart."""
    port = free_port()
    engine = ["--max-num-seqs", str(_PLACES), "--max-model-len", str(_CONTEXT_TOKENS)]
    program = Program(
        name="the probe service",
        arguments=[
            sys.executable, "-m", "fairclock", "probe", "serve", "--port", str(port), "--", *engine,
        ],
        output=folder / "service.log",
        environment={
            "XDG_DATA_HOME": str(folder),
            "FAIRCLOCK_VLLM_PYTHON": str(find_vllm_python()),
            "FAIRCLOCK_OTLP_ENDPOINT": "off",
            "PYTHONPATH": os.pathsep.join(sys.path),
        },
    )  # fmt: skip
    with running(program) as service:
        url = f"http://127.0.0.1:{port}"
        service.await_answer(f"{url}/readyz", within_seconds=_READY_SECONDS)
        return list(_figures(endpoint(url), probes))


def _figures(service: Endpoint, probes: int) -> Iterator[Figure]:
    chance = random.Random(11)

    def lengths() -> dict[str, int]:
        return {
            "prompt_tokens": chance.randint(*_PROMPTS),
            "completion_tokens": chance.randint(*_COMPLETIONS),
        }

    longest = _spent(
        _ask(service, "warm", [Arrival(at_seconds=each * 1.0, **lengths()) for each in range(5)])
    )
    apart = 1.5 * max(longest)
    alone = _ask(service, "alone", [Arrival(at_seconds=each * apart, **lengths()) for each in range(_ALONE)])
    twos = [lengths() for _ in range(_PAIRS)]
    pairs = _ask(
        service,
        "pairs",
        [Arrival(at_seconds=each // 2 * 2 * apart, **twos[each // 2]) for each in range(2 * _PAIRS)],
    )
    shape = calibrated(alone, pairs, max_num_seqs=_PLACES, step_tokens=_CONTEXT_TOKENS)
    yield Figure(
        what="the simulator, as it was set by requests alone and in pairs",
        measured=f"{shape.step_seconds * 1e3:.2f} ms a step, {shape.sequence_seconds * 1e3:.2f} ms more a sequence,"
        f" {shape.prefill_tokens_per_second:,.0f} prompt tokens/s",
    )
    rate = _BUSY * _PLACES / (sum(_spent(pairs)) / len(pairs))

    def arrivals(count: int) -> list[Arrival]:
        at, found = 0.0, []
        for _ in range(count):
            found.append(Arrival(at_seconds=at, **lengths()))
            at += chance.expovariate(rate)
        return found

    shape, slower = under_load(shape, _ask(service, "first-load", arrivals(probes // 3)))
    yield Figure(
        what=f"what both are slower by under {rate:.1f} requests/s, by a first load",
        measured=f"{slower:.2f} times",
    )
    real = _ask(service, "load", arrivals(probes))
    for each in compared(real, simulated(shape, real)):
        ratio = each.apart_ratio
        yield Figure(
            what=f"{each.clock} P{each.percentile} of {len(real)} requests, {_PLACES} places",
            measured=f"simulated {each.simulated * 1e3:.1f} ms, real {each.real * 1e3:.1f} ms"
            + ("" if ratio is None else f" ({ratio:+.0%})"),
        )


def _ask(service: Endpoint, run: str, arrivals: Sequence[Arrival]) -> list[EngineRun]:
    """Ask by the clock and return what the engine says of each request."""
    asking = Asking(run=f"simulator-{run}", model="tiny", tenant="probes", api="completions")
    loading = Loading(endpoint=service, asking=asking, bound_seconds=_NEVER_TOO_LATE_SECONDS, wall=time.time)
    result = asyncio.run(load(loading, arrivals, {"kind": run}))
    found = []
    for each in result.seen:
        if each.truth is None or any(each.truth[mark] is None for mark in _MARKS):
            raise RuntimeError(f"{run}: probe {each.number} was not answered: {each.outcome} {each.error}")
        found.append(
            EngineRun(
                **{mark: each.truth[mark] for mark in _MARKS},
                prompt_tokens=each.truth["prompt_tokens"],
                completion_tokens=each.truth["completion_tokens"],
            )
        )
    return found


def _spent(found: Sequence[EngineRun]) -> list[float]:
    return [each.inference for each in found if not math.isnan(each.inference)]
