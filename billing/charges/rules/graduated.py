"""Own graduated tiers: each part of a month's volume has the price of its own step."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from billing.charges.rules.steps import change, ends
from billing.charges.volumes import overlap

if TYPE_CHECKING:
    from billing.charges.volumes import Scope, Stretch
    from billing.prices.clauses import Tier


def graduated(tier: Tier, scope: Scope, stretch: Stretch, _total: Fraction) -> Fraction:
    """Return by how much a tier changes what a batch costs: its free part comes first, and counts for the steps."""
    batch = stretch.batch
    inside = [(number, part) for number, part in enumerate(batch.parts) if scope.holds(part)]
    paid = {
        number: part.charge.count * (1 - stretch.free.get(number, Fraction(0))) for number, part in inside
    }
    volume, payable = batch.volume(scope), sum(paid.values(), Fraction(0))
    if not payable:
        return Fraction(0)
    start = stretch.before + volume - payable
    changed = Fraction(0)
    for step, end in ends(tier):
        share = overlap((start, stretch.before + volume), (Fraction(step.start), end)) / payable
        if share:
            changed += share * sum(
                (paid[number] * change(part.charge, step) for number, part in inside), Fraction(0)
            )
    return changed
