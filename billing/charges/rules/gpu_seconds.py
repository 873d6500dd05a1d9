"""Own the price of GPU time, by machine."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from billing.charges.charge import Charge, Unit
from billing.charges.factors import factor
from billing.prices.clauses import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from billing.prices.version import PriceVersion
    from billing.usage.groups import Usage

PICOSECONDS_PER_SECOND = 10**12


def gpu_seconds(usage: Usage, version: PriceVersion) -> Iterator[Charge]:
    """Yield the charge for GPU-seconds; a machine that is not listed, or not known, has no price."""
    machine = version.machine(usage.machine)
    yield Charge(
        kind=Kind.GPU_SECONDS,
        count=Fraction(usage.gpu_picoseconds, PICOSECONDS_PER_SECOND),
        unit=Unit.GPU_SECOND,
        per=1,
        list_price=Fraction(0) if machine is None else Fraction(machine.price),
        factor=factor(usage, version, Kind.GPU_SECONDS),
        priced=machine is not None,
    )
