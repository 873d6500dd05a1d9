"""Own questions and services for tests: what each would have seen follows from its rule alone."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from fairclock.model.probes import ProbeOutcome
from inference_probe.prober.asking import Question
from inference_probe.prober.observations import Observation


def a_question(number=0, **changes) -> Question:
    values = {
        "number": number, "request_id": f"p-{number}", "trace_id": f"{number:032x}", "request": b"", "streams": True,
        "timeout_seconds": 600.0,
    }  # fmt: skip
    return Question(**{**values, **changes})


def an_observation(number=0, **changes) -> Observation:
    values = {
        "number": number, "request_id": f"p-{number}", "trace_id": f"{number:032x}", "intended": float(number),
        "sent": float(number), "done": number + 1.0, "first_token": number + 0.5, "outcome": ProbeOutcome.OK,
    }  # fmt: skip
    return Observation(**{**values, **changes})


@dataclass
class Stalling:
    """A service that answers after `base` seconds, and not at all from `stall_from` on for `stall` seconds of the run."""

    base: float
    stall_from: float
    stall: float

    async def ask(self, question, *, started, intended):
        loop = asyncio.get_running_loop()
        sent = loop.time()
        end = self.stall_from + self.stall
        waits = end - (sent - started) if self.stall_from <= sent - started < end else 0.0
        await asyncio.sleep(waits + self.base)
        return Observation(
            number=question.number,
            request_id=question.request_id,
            trace_id=question.trace_id,
            intended=intended - started,
            sent=sent - started,
            done=loop.time() - started,
            outcome=ProbeOutcome.OK,
        )
