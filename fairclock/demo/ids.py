"""Own the ids that clients, the simulated gateway and its engines make up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    from fairclock.demo.traffic import Traffic

_OWN_IDS = 5_000
"""A client that names its requests itself comes back to the same names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ids:
    """By request number: nginx's ``$request_id``, which is the trace's, the logged id, the engine's span id."""

    trace: list[str]  # 32 hex digits
    request: list[str]  # the same, or what the client sent as X-Request-Id
    span: list[str]  # 16 hex digits

    @classmethod
    def drawn(cls, random: np.random.Generator, traffic: Traffic) -> Ids:
        """Draw ids for all requests of `traffic`."""
        size = traffic.size
        traces, spans = random.bytes(16 * size).hex(), random.bytes(8 * size).hex()
        trace = [traces[start : start + 32] for start in range(0, len(traces), 32)]
        own = [each.own_ids for each in traffic.tenants]
        return cls(
            trace=trace,
            request=[
                f"{own[tenant]}{number % _OWN_IDS:06d}" if own[tenant] else trace[number]
                for number, tenant in enumerate(traffic.tenant.tolist())
            ],
            span=[spans[start : start + 16] for start in range(0, len(spans), 16)],
        )

    def parent(self, number: int) -> str:
        """Return the span id that the gateway puts into ``traceparent``."""
        return self.trace[number][:16]
