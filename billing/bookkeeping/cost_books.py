"""Own what of the cost book is shown beside the ledger: each engine's GPU time and cost, by whom it was used or not used."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from billing.cost_book.hours import cost_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from billing.cost_book.hours import EngineTime
    from billing.prices.book import PriceBook

_ZERO = Fraction(0)
SHARES = ("tenants", "probes", "idle", "unattributed")


@dataclass(slots=True, kw_only=True)
class EngineCost:
    """One engine's time in picoseconds, and its cost before tax; `unpriced` of the time has no price in the book.

    picoseconds, amounts: by `SHARES`; together they are GPUs x wall time, and that times the machine's price. tenants: the cost of each.
    """

    engine: str
    machine: str
    picoseconds: dict[str, Fraction] = field(default_factory=lambda: dict.fromkeys(SHARES, _ZERO))
    amounts: dict[str, Fraction] = field(default_factory=lambda: dict.fromkeys(SHARES, _ZERO))
    tenants: dict[str, Fraction] = field(default_factory=dict)
    unpriced: Fraction = _ZERO

    @property
    def whole_picoseconds(self) -> Fraction:
        """Return GPUs x wall time."""
        return sum(self.picoseconds.values(), start=_ZERO)

    @property
    def amount(self) -> Fraction:
        """Return the cost of all of it."""
        return sum(self.amounts.values(), start=_ZERO)


def engine_costs(times: Iterable[EngineTime], book: PriceBook) -> list[EngineCost]:
    """Return the cost of each engine and machine, at what a GPU-second of it costs the provider at the time; by engine."""
    found: dict[tuple[str, str], EngineCost] = {}
    for time in times:
        key = (time.machine.engine, time.machine.machine)
        row = found.setdefault(key, EngineCost(engine=key[0], machine=key[1]))
        spent = (
            Fraction(time.tenants_picoseconds),
            Fraction(time.probes_picoseconds),
            Fraction(time.idle_picoseconds),
            time.unattributed_picoseconds,
        )
        for name, picoseconds in zip(SHARES, spent, strict=True):
            row.picoseconds[name] += picoseconds
        version = book.version_at(time.start)
        price = None if version is None else version.machine_cost(time.machine.machine)
        if price is None:
            row.unpriced += time.capacity_picoseconds
            continue
        cost = cost_of(time, Fraction(price))
        for name, amounts in (("tenants", cost.tenants), ("probes", cost.probes)):
            row.amounts[name] += sum(amounts.values(), start=_ZERO)
        row.amounts["idle"] += cost.idle
        row.amounts["unattributed"] += cost.unattributed
        for tenant, amount in cost.tenants.items():
            row.tenants[tenant] = row.tenants.get(tenant, _ZERO) + amount
    return [found[key] for key in sorted(found)]
