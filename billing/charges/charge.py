"""Own what a charge is, and what an adjustment is."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from billing.money import exact_decimal

if TYPE_CHECKING:
    from decimal import Decimal
    from fractions import Fraction

    from billing.prices.clauses import Kind


class Unit(StrEnum):
    """What is counted; tokens are priced by so many at once (`Charge.per`)."""

    REQUEST = "request"
    TOKEN = "token"  # noqa: S105 - no password
    GPU_SECOND = "gpu_second"
    MONTH = "month"


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """One summand of the formula: `quantity` x `unit_price` is `amount`, exactly.

    count: how many units there are. per: how many the price is for. list_price: the book's price for `per` units, a model's
    weight included. factor: the deployment's factor x the share at which the treatment is charged.
    priced: whether the book has a price at all; where it has none nothing is charged, and the volume is shown.
    """

    kind: Kind
    count: Fraction
    unit: Unit
    per: int
    list_price: Fraction
    factor: Fraction
    priced: bool = True

    @property
    def name(self) -> str:
        """Return the kind, or ``unpriced_…`` where the book has no price for it."""
        return str(self.kind) if self.priced else f"unpriced_{self.kind}"

    @property
    def unit_name(self) -> str:
        """Return what `unit_price` is the price of: ``request``, ``1000000 tokens``."""
        return str(self.unit) if self.per == 1 else f"{self.per} {self.unit}s"

    @property
    def quantity(self) -> Fraction:
        """Return how many times `per` units there are."""
        return self.count / self.per

    @property
    def price(self) -> Fraction:
        """Return the price of `per` units, factors included."""
        return self.list_price * self.factor

    @property
    def unit_price(self) -> Decimal:
        """Return the price of `per` units, factors included, with all its decimals."""
        return exact_decimal(self.price)

    @property
    def amount(self) -> Fraction:
        """Return what is charged, exactly."""
        return self.quantity * self.price

    @property
    def counts(self) -> bool:
        """Tell whether it uses up included volumes and climbs tiers: what is never charged does not."""
        return self.priced and self.factor > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Adjustment:
    """What a month's end adds or takes away by one rule; negative where it is the customer's.

    rule: ``included``, ``graduated``, ``volume`` or ``minimum``. count: of how many units, of those that `volume` counts.
    versions: hashes of the price versions that it rests on.
    """

    rule: str
    volume: str
    models: tuple[str, ...] | None
    count: Fraction
    unit: Unit
    amount: Fraction
    versions: tuple[str, ...]

    @property
    def subject(self) -> str:
        """Return what tells it from the month's other adjustments."""
        parts = [self.rule, self.volume, *(self.models or ())]
        return ":".join(part for part in parts if part)
