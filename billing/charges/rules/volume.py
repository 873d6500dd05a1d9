"""Own volume tiers: a month's whole volume has the price of the step that it reaches."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from billing.charges.rules.steps import change, ends

if TYPE_CHECKING:
    from billing.charges.volumes import Scope, Stretch
    from billing.prices.clauses import Tier


def volume(tier: Tier, scope: Scope, stretch: Stretch, total: Fraction) -> Fraction:
    """Return by how much a tier changes what a batch costs; the free part of it costs nothing as before."""
    step = [each for each, _ in ends(tier) if each.start <= total][-1]
    return sum(
        (
            part.charge.count * (1 - stretch.free.get(number, Fraction(0))) * change(part.charge, step)
            for number, part in enumerate(stretch.batch.parts)
            if scope.holds(part)
        ),
        Fraction(0),
    )
