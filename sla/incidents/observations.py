"""Own what is seen of an incident: sums over its time, and over a time before it to compare with.

Everything here is plain numbers that were read; nothing is concluded. Times are microseconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

MINUTE_US = 60_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """What gateways and engines saw of all tenants' requests that were received in `minutes` minutes.

    own: those of the contract's tenants. busiest: requests of the busiest minute. refused: not let through.
    repeated: the tenant had sent a body of this size within the minute before, and it had come to nothing.
    prompt_tokens, long_tokens: of all prompts, and of those above 2,048 tokens, where they are known.
    short, short_us: answered requests with prompts below 512 tokens, and their time at the gateway.
    waited, waiting_us: requests whose waiting is known, and that. inference_us: time spent in inference.
    is_read: at least nine tenths of it were read through at a gateway.
    """

    minutes: int
    requests: int = 0
    own: int = 0
    busiest: int = 0
    refused: int = 0
    repeated: int = 0
    prompt_tokens: int = 0
    long_tokens: int = 0
    short: int = 0
    short_us: int = 0
    waited: int = 0
    waiting_us: int = 0
    inference_us: int = 0
    is_read: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Phases:
    """Where the time of some requests went, of those of which it is known (`known` of `requests`)."""

    requests: int = 0
    known: int = 0
    elapsed_us: int = 0
    queue_us: int = 0
    inference_us: int = 0

    @property
    def outside_us(self) -> int:
        """Return what is neither waiting nor inference: network, parsing, the frontend."""
        return self.elapsed_us - self.queue_us - self.inference_us


@dataclass(frozen=True, slots=True, kw_only=True)
class Fill:
    """How full an engine's KV cache was at most (0 to 1), during and before; `scrapes` in which it was above 0.9."""

    engine: str
    peak: float
    scrapes: int
    full_scrapes: int
    before: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuEvent:
    """Something that happened to a GPU `times` times; `code` is an XID where it is one."""

    event: str
    gpu: str
    code: int | None
    times: int
    first_us: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Throttled:
    """Seconds in which a GPU's clocks were held down by power, heat or hardware, of the seconds measured."""

    gpu: str
    seconds: int
    measured: int
    seconds_before: int = 0
    measured_before: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineHappening:
    """Something that happened to an engine: started, stopped, reloaded …; until_us: when it served again, if known."""

    kind: str
    engine: str
    at_us: int
    until_us: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """What an engine's requests took in the middle (`median_us`) in a piece of time that begins at `at_us`."""

    at_us: int
    requests: int
    median_us: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """An engine's times of an output token, piece by piece, since `since_us`: its start where `knows_start`."""

    engine: str
    since_us: int
    knows_start: bool
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """Everything that was read of an incident from `start_us` to `end_us`, and of a time before.

    over: the requests that were bad; usual: the answered ones of the time before. outcomes: how the bad ones ended.
    preemptions, preemptions_before: None where no engine told. minutes: each engine's slow end (P95 of inference),
    minute by minute, over the last hours.
    """

    start_us: int
    end_us: int
    during: Stretch
    before: Stretch
    over: Phases
    usual: Phases
    outcomes: Mapping[str, int]
    fills: tuple[Fill, ...] = ()
    preemptions: int | None = None
    preemptions_before: int | None = None
    gpu_events: tuple[GpuEvent, ...] = ()
    throttled: tuple[Throttled, ...] = ()
    engine_happenings: tuple[EngineHappening, ...] = ()
    lives: tuple[Life, ...] = ()
    minutes: tuple[Life, ...] = ()
