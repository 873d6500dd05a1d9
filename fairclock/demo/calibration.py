"""Own how the simulated engine is set to go as fast as a real one, and how far apart the two then are.

A real engine is asked one request at a time, then two at a time; what it says of them gives the simulator's speeds, and a first
load by what both are slower under one. Then both take the same arrivals with the same lengths, and queue and inference of the two
are ranked.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf, nan
from statistics import median
from typing import TYPE_CHECKING

from fairclock.demo.engine import EngineShape, Load, Marks, Replica
from sla.percentiles import rank

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

RANKED = (Fraction(50), Fraction(99))
_LEAST_STEP_SECONDS = 0.000_1
_FASTEST_PREFILL = 1e9
_KV_TOKENS = 1 << 24
_NO_LIMIT = 1 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineRun:
    """What an engine did with one request: marks in seconds on its one clock, and lengths."""

    queued: float
    scheduled: float
    first_token: float
    last_token: float
    prompt_tokens: int
    completion_tokens: int

    @property
    def queue(self) -> float:
        """Return how long it waited."""
        return self.scheduled - self.queued

    @property
    def prefill(self) -> float:
        """Return how long its first token took once it was scheduled."""
        return self.first_token - self.scheduled

    @property
    def inference(self) -> float:
        """Return how long it ran."""
        return self.last_token - self.scheduled

    @property
    def token_seconds(self) -> float:
        """Return how long each further token took; nan where there is none."""
        if self.completion_tokens < 2:  # noqa: PLR2004 - one token has no next
            return nan
        return (self.last_token - self.first_token) / (self.completion_tokens - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One percentile of one duration by both, in seconds."""

    clock: str
    percentile: Fraction
    real: float
    simulated: float

    @property
    def apart_ratio(self) -> float | None:
        """Return by what share of the real value the simulated one is above it; None where the real one is nothing."""
        return (self.simulated - self.real) / self.real if self.real > 0 else None


def calibrated(
    alone: Sequence[EngineRun], pairs: Sequence[EngineRun], *, max_num_seqs: int, step_tokens: int
) -> EngineShape:
    """Return the shape whose steps take what the real engine's did; both lists need requests of several tokens.

    A step with one sequence and one with two give what a step costs and what a sequence adds; prompts of different lengths
    what a token of a prompt does.
    """
    one = median(each.token_seconds for each in alone)
    two = median(each.token_seconds for each in pairs)
    sequence_seconds = min(max(0.0, two - one), one - _LEAST_STEP_SECONDS)
    step_seconds = max(_LEAST_STEP_SECONDS, one - sequence_seconds)
    return EngineShape(
        max_num_seqs=max_num_seqs,
        step_tokens=max(step_tokens, max_num_seqs + 1),
        step_seconds=step_seconds,
        sequence_seconds=sequence_seconds,
        prefill_tokens_per_second=_prefill_rate(alone, step_seconds),
        kv_tokens=_KV_TOKENS,
        max_queued=_NO_LIMIT,
    )


def _prefill_rate(alone: Sequence[EngineRun], step_seconds: float) -> float:
    """Return at how many tokens a second a prompt is read, beside the step that it needs anyway."""
    spent = [
        max(0.0, each.prefill - step_seconds) / each.prompt_tokens for each in alone if each.prompt_tokens
    ]
    per_token = median(spent) if spent else 0.0
    return 1 / per_token if per_token > 1 / _FASTEST_PREFILL else _FASTEST_PREFILL


def under_load(shape: EngineShape, real: Sequence[EngineRun]) -> tuple[EngineShape, float]:
    """Return `shape` as slow as the real engine is in a load like `real`, and by what it is slower than alone.

    What serves requests beside the engine takes its time from the same cores; the median of inference says how much.
    """
    slower = median(each.inference for each in real) / median(
        each.inference for each in simulated(shape, real)
    )
    return (
        replace(
            shape,
            step_seconds=shape.step_seconds * slower,
            sequence_seconds=shape.sequence_seconds * slower,
            prefill_tokens_per_second=shape.prefill_tokens_per_second / slower,
        ),
        slower,
    )


def simulated(shape: EngineShape, real: Sequence[EngineRun]) -> list[EngineRun]:
    """Return what the simulator makes of the same requests, queued at the same instants; in the order of queueing."""
    ordered = sorted(real, key=lambda each: each.queued)
    begun = ordered[0].queued if ordered else 0.0
    blank = [nan] * len(ordered)
    marks = Marks(
        scheduled=array("d", blank),
        first_token=array("d", blank),
        last_token=array("d", blank),
        given_up=array("d", blank),
    )
    load = Load(
        prompt_tokens=[each.prompt_tokens for each in ordered],
        completion_tokens=[each.completion_tokens for each in ordered],
        stream=[True] * len(ordered),
    )
    replica = Replica(name="simulated", shape=shape, load=load, marks=marks)
    for number, each in enumerate(ordered):
        replica.advance(each.queued - begun)
        replica.submit(number, queued_at=each.queued - begun, deadline=inf)
    replica.advance(inf)
    return [
        EngineRun(
            queued=each.queued - begun,
            scheduled=marks.scheduled[number],
            first_token=marks.first_token[number],
            last_token=marks.last_token[number],
            prompt_tokens=each.prompt_tokens,
            completion_tokens=each.completion_tokens,
        )
        for number, each in enumerate(ordered)
    ]


def compared(real: Sequence[EngineRun], replayed: Sequence[EngineRun]) -> list[Compared]:
    """Return P50 and P99 of queue and inference by both."""
    clocks: dict[str, Callable[[EngineRun], float]] = {
        "queue": lambda each: each.queue,
        "inference": lambda each: each.inference,
    }
    return [
        Compared(
            clock=clock,
            percentile=percentile,
            real=_at(list(map(of, real)), percentile),
            simulated=_at(list(map(of, replayed)), percentile),
        )
        for clock, of in clocks.items()
        for percentile in RANKED
    ]


def _at(values: Sequence[float], percentile: Fraction) -> float:
    return sorted(values)[rank(len(values), percentile) - 1]
