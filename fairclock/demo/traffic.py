"""Own what the simulated clients send: one row a request, held by column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fairclock.demo.tenants import Tenant

_MILLISECOND = 0.001
_STALL_RATIO = 0.002


@dataclass(frozen=True, slots=True, kw_only=True)
class PathTimes:
    """What the way to the engine's scheduler and back takes, by request; seconds."""

    uplink: NDArray[np.float64]  # gateway received to forwarded
    inlet: NDArray[np.float64]  # gateway forwarded to engine arrived
    parsing: NDArray[np.float64]  # engine arrived to queued: templates, tokens, the event loop
    answering: NDArray[np.float64]  # last token to the end of the engine's answer
    outlet: NDArray[np.float64]  # the engine's answer to the gateway's last byte

    @classmethod
    def drawn(cls, random: np.random.Generator, prompt_tokens: NDArray[np.int64]) -> PathTimes:
        """Draw them: milliseconds, more for longer prompts, now and then a stall of the event loop."""
        size = len(prompt_tokens)
        stalls = np.where(random.random(size) < _STALL_RATIO, random.exponential(0.12, size), 0.0)
        return cls(
            uplink=random.gamma(2.0, 0.2, size) * _MILLISECOND + prompt_tokens * 0.2e-6,
            inlet=random.gamma(3.0, 0.15, size) * _MILLISECOND,
            parsing=random.gamma(4.0, 0.6, size) * _MILLISECOND + prompt_tokens * 2.2e-6 + stalls,
            answering=random.gamma(3.0, 0.5, size) * _MILLISECOND,
            outlet=random.gamma(3.0, 0.25, size) * _MILLISECOND,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """Requests in the order in which the gateway receives them.

    Seconds count from `epoch_seconds` (whole seconds, Unix time). All columns have one length.
    """

    epoch_seconds: int
    tenants: tuple[Tenant, ...]
    received_seconds: NDArray[np.float64]  # ascending
    tenant: NDArray[np.int16]  # index into `tenants`
    prompt_tokens: NDArray[np.int64]
    completion_tokens: NDArray[np.int64]  # what the engine would say if nobody left
    stream: NDArray[np.bool_]
    malformed: NDArray[np.bool_]  # the engine's front end answers 400
    patience_seconds: NDArray[np.float64]  # the client leaves after so long without an answer; inf: never
    leaves_after_tokens: NDArray[np.int64]  # the client of a stream leaves after so many tokens; 0: stays
    path: PathTimes

    @property
    def size(self) -> int:
        """Return the number of requests."""
        return len(self.received_seconds)

    @property
    def leaves_midstream(self) -> NDArray[np.bool_]:
        """Return whose stream ends because the client goes."""
        return (
            self.stream & (self.leaves_after_tokens > 0) & (self.leaves_after_tokens < self.completion_tokens)
        )
