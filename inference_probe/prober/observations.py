"""Own what was seen of one probe: instants on one clock, in seconds since the run's start, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from fairclock.model.probes import SAYS_NOTHING, ProbeOutcome

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One probe. `intended` is when it was meant to begin, `sent` when the prober began; what never came is None.

    connected, secured: the end of the handshakes, None on a connection that was open. first_token: the first that is not empty
    and no reasoning. tokens: the instant of each token by the service's own count; empty where it does not count as it goes.
    stage: which of a run's stages; version: which of two services; again: a connection that was open broke before an
    answer began, and the probe was sent once more. `error` is a class, never a message: that may quote a prompt.
    """

    number: int
    request_id: str
    trace_id: str
    intended: float
    sent: float | None
    outcome: ProbeOutcome
    connected: float | None = None
    secured: float | None = None
    first_byte: float | None = None
    first_token: float | None = None
    first_reasoning_token: float | None = None
    last_token: float | None = None
    tokens: tuple[float, ...] = ()
    done: float | None = None
    status: int | None = None
    error: str | None = None
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    completion_tokens: int | None = None
    finish_reason: str = ""
    truth: Mapping[str, Any] | None = None
    stage: int = 0
    version: str = ""
    inference_mode: str = ""
    again: bool = False
    repetition_ratio: float | None = None
    numbers_copied_ratio: float | None = None
    invalid_output: bool | None = None

    @property
    def says_something(self) -> bool:
        """Say whether it tells of the service, not of the prober or its permission."""
        return self.outcome not in SAYS_NOTHING

    @property
    def lateness(self) -> float | None:
        """Return how long after its time it was sent, in seconds; None where it never was."""
        return None if self.sent is None else max(0.0, self.sent - self.intended)


_DECIMALS = 6


def on_the_runs_clock(instant: float, started: float) -> float:
    """Return an instant as seconds since `started`, to the microsecond: as it is written, so that a file says the same."""
    return round(instant - started, _DECIMALS)


def observation_tree(seen: Observation) -> dict[str, Any]:
    """Return `seen` as plain values."""
    tree: dict[str, Any] = {}
    for field in fields(seen):
        value = getattr(seen, field.name)
        if field.name == "tokens":
            value = list(value)
        elif field.name == "outcome":
            value = value.value
        elif field.name == "truth" and value is not None:
            value = dict(value)
        tree[field.name] = value
    return tree


def read_observation(tree: Mapping[str, Any]) -> Observation:
    """Return the observation that was written as `tree`; raises ValueError, KeyError or TypeError where it is none."""
    known = {field.name for field in fields(Observation)}
    said = {name: value for name, value in tree.items() if name in known}
    said["outcome"] = ProbeOutcome(said["outcome"])
    said["tokens"] = tuple(float(each) for each in said.get("tokens", ()))
    return Observation(**said)
