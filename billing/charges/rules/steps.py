"""Own the steps of tiers: where each ends, and what it changes of a unit's price."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from billing.charges.charge import Charge
    from billing.prices.clauses import Step, Tier


def ends(tier: Tier) -> list[tuple[Step, Fraction | None]]:
    """Return each step with where the next one begins; None for the last."""
    following = [Fraction(step.start) for step in tier.steps[1:]]
    return list(zip(tier.steps, [*following, None], strict=True))


def change(charge: Charge, step: Step) -> Fraction:
    """Return by how much a step changes what one unit costs: its price stands in the place of the book's."""
    if step.price is not None:
        return (Fraction(step.price) - charge.list_price) * charge.factor / charge.per
    discount = step.discount if step.discount is not None else Fraction(0)
    return -discount * charge.price / charge.per
