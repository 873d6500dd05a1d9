"""Own a line of the cost book: an engine's GPU time in a piece of an hour, divided without a remainder.

GPU time is in picoseconds, GPU-seconds x 10^12. All of it is given to tenants, to probes, to idling, or to nobody; what
tenants, probes and idling get are whole numbers, what is unattributed takes what rounding leaves and may be a fraction
where the GPUs are one (a MIG slice).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from billing.cost_book.machines import EngineMachine

PICOSECONDS_A_MICROSECOND = 10**6
PICOSECONDS_A_SECOND = 10**12


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantTime:
    """What a tenant had of an engine: GPU time, and KV memory.

    peak_kv_tokens: at most at one time. kv_token_us: tokens x microseconds; both count a request with all its tokens for
    as long as it runs, which is an upper bound.
    """

    gpu_picoseconds: int
    peak_kv_tokens: int = 0
    kv_token_us: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineTime:
    """An engine's GPU time in ``[start, end)``, which lies within one hour, one price and one machine.

    nobody: shares of sequences that are no request's. over: shares beyond a request's ceiling. rounding: what divisions left.
    These three are `unattributed`.
    """

    machine: EngineMachine
    start: datetime
    end: datetime
    length_us: int
    busy_us: int
    tenants: Mapping[str, TenantTime] = field(default_factory=dict)
    probes: Mapping[str, TenantTime] = field(default_factory=dict)
    idle_picoseconds: int
    nobody_picoseconds: int
    over_picoseconds: int
    rounding_picoseconds: Fraction

    @property
    def capacity_picoseconds(self) -> Fraction:
        """Return GPUs x wall time."""
        return self.machine.gpus * self.length_us * PICOSECONDS_A_MICROSECOND

    @property
    def tenants_picoseconds(self) -> int:
        """Return what all tenants used."""
        return sum(each.gpu_picoseconds for each in self.tenants.values())

    @property
    def probes_picoseconds(self) -> int:
        """Return what probes used."""
        return sum(each.gpu_picoseconds for each in self.probes.values())

    @property
    def unattributed_picoseconds(self) -> Fraction:
        """Return what was used by nobody known, or lost in divisions."""
        return self.nobody_picoseconds + self.over_picoseconds + self.rounding_picoseconds

    @property
    def is_whole(self) -> bool:
        """Return whether tenants + probes + idle + unattributed = GPUs x wall time, exactly."""
        given = self.tenants_picoseconds + self.probes_picoseconds + self.idle_picoseconds
        return given + self.unattributed_picoseconds == self.capacity_picoseconds

    def share_ratio(self, tenant: str) -> Fraction:
        """Return a tenant's average share of the GPUs, 0 to 1."""
        had = self.tenants.get(tenant) or self.probes.get(tenant)
        if had is None or not self.capacity_picoseconds:
            return Fraction(0)
        return Fraction(had.gpu_picoseconds) / self.capacity_picoseconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What a line of the cost book costs, exactly, in the currency of the machine's price."""

    tenants: Mapping[str, Fraction]
    probes: Mapping[str, Fraction]
    idle: Fraction
    unattributed: Fraction

    @property
    def total(self) -> Fraction:
        """Return what the machine costs: it is all given to somebody, or to nobody by name."""
        return sum(self.tenants.values(), sum(self.probes.values(), self.idle + self.unattributed))


def cost_of(time: EngineTime, price_a_gpu_second: Fraction) -> Cost:
    """Return the cost of `time` at the machine's price, which does not change within it."""
    price = price_a_gpu_second / PICOSECONDS_A_SECOND
    return Cost(
        tenants={tenant: each.gpu_picoseconds * price for tenant, each in time.tenants.items()},
        probes={tenant: each.gpu_picoseconds * price for tenant, each in time.probes.items()},
        idle=time.idle_picoseconds * price,
        unattributed=time.unattributed_picoseconds * price,
    )
