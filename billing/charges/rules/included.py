"""Own included volumes: what was received first each month costs nothing."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from billing.charges.volumes import Scope, counted_before, overlap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from billing.charges.volumes import Batch
    from billing.prices.clauses import Included


def free_shares(month: Sequence[Batch]) -> list[dict[int, Fraction]]:
    """Return for each batch which share of the part at a place is free.

    The volume is counted over the whole month, whatever the version; how much of it is free is what the version in
    force says. What lies across the edge is divided among the batch's parts by their volumes.
    """
    scopes = {scope_of(rule) for batch in month for rule in batch.version.included}
    before = {scope: counted_before(month, scope) for scope in scopes}
    found: list[dict[int, Fraction]] = []
    for place, batch in enumerate(month):
        shares: dict[int, Fraction] = {}
        for rule in batch.version.included:
            scope = scope_of(rule)
            start, volume = before[scope][place], batch.volume(scope)
            free = overlap((start, start + volume), (Fraction(0), Fraction(rule.quantity)))
            for number, part in enumerate(batch.parts):
                if free and scope.holds(part):
                    shares[number] = free / volume
        found.append(shares)
    return found


def scope_of(rule: Included) -> Scope:
    """Return of what a rule counts the volume."""
    return Scope(volume=rule.volume, models=rule.models)
