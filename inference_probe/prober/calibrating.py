"""Own the look at how an endpoint counts tokens: two prompts before the run, which are no part of it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from fairclock.errors import FairclockError
from fairclock.model.probes import FAILED, ProbeOutcome
from inference_probe.prober.prompts import measured, synthetic_prompt

if TYPE_CHECKING:
    from inference_probe.prober.asking import Asks
    from inference_probe.prober.endpoints import Endpoint
    from inference_probe.prober.observations import Observation
    from inference_probe.prober.plans import Asking

_WORDS = (8, 72)
_NOT_UNDERSTOOD = frozenset({400, 422})
_TELLS_LITTLE = frozenset({ProbeOutcome.QUOTA_REJECTED, ProbeOutcome.CAPACITY_REJECTED, ProbeOutcome.TIMEOUT})


async def calibrated(
    asker: Asks, endpoint: Endpoint, asking: Asking, *, answered_before: bool = False
) -> Asking:
    """Ask two prompts one after the other, and return how to ask by what their counted lengths show.

    An endpoint that refuses what only vLLM and its like take is asked without it. Where one has no answer for want of room the typical lengths are taken, and where it fails though the endpoint
    `answered_before`: then it is down, which is what a run is to say. Else raises FairclockError where the endpoint
    does not take probes: the address may be wrong, and a run would say nothing.
    """
    counted = []
    for number, words in enumerate(_WORDS):
        seen = await _asked(asker, endpoint, asking, number=number, words=words)
        if seen.status in _NOT_UNDERSTOOD and asking.extends:
            plain = replace(asking, extends=False)
            again = await _asked(asker, endpoint, plain, number=len(_WORDS) + number, words=words)
            if again.outcome is ProbeOutcome.OK:
                asking, seen = plain, again
        if seen.outcome in _TELLS_LITTLE or (answered_before and seen.outcome in FAILED):
            return asking
        if seen.outcome is not ProbeOutcome.OK:
            raise FairclockError(
                endpoint.url,
                "it does not take probes",
                found=f"{seen.outcome.value}: {seen.error}",
                remedy="check address, --model, --api and --key-env",
            )
        counted.append((words, seen.prompt_tokens))
    (short, short_tokens), (long, long_tokens) = counted
    if short_tokens is None or long_tokens is None:
        return asking
    return replace(asking, lengths=measured((short, short_tokens), (long, long_tokens)))


async def _asked(asker: Asks, endpoint: Endpoint, asking: Asking, *, number: int, words: int) -> Observation:
    question = asking.question(
        endpoint,
        number,
        prompt=synthetic_prompt(words, seed=asking.seed, number=-1 - number),
        completion_tokens=1,
        version="calibration",
    )
    now = asyncio.get_running_loop().time()
    return await asker.ask(replace(question, cancel_seconds=None), started=now, intended=now)
