"""Own a month's charges in the order of `received`, and which part of them is free."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import groupby
from typing import TYPE_CHECKING

from billing.charges.rating import charge
from billing.prices.clauses import kinds_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from billing.charges.charge import Charge
    from billing.prices.book import PriceBook
    from billing.prices.version import PriceVersion
    from billing.usage.groups import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Of what a rule counts the volume: of which kinds, and of which models (None: of all)."""

    volume: str
    models: tuple[str, ...] | None

    def holds(self, part: Part) -> bool:
        """Tell whether a charge is counted."""
        return part.charge.kind in kinds_of(self.volume) and (
            self.models is None or part.model in self.models
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One charge of one group, with its model."""

    model: str
    charge: Charge


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """What was received from one instant on, as finely as usage is kept, under one version; its parts have no order."""

    version: PriceVersion
    parts: tuple[Part, ...]

    def within(self, scope: Scope) -> list[Part]:
        """Return the parts that a scope counts."""
        return [part for part in self.parts if scope.holds(part)]

    def volume(self, scope: Scope) -> Fraction:
        """Return how many units a scope counts."""
        return sum((part.charge.count for part in self.within(scope)), Fraction(0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """A batch with what a scope counted before it, and how much of each part is free."""

    batch: Batch
    before: Fraction
    free: Mapping[int, Fraction]
    """Which share (0 to 1) of the part at a place costs nothing; 0 where absent."""


def batches(usages: Iterable[Usage], book: PriceBook) -> list[Batch]:
    """Return what is charged, in order, alike charges as one; what came before the book's first version is not."""
    found: list[Batch] = []
    ordered = sorted(usages, key=lambda each: each.start)
    for start, together in groupby(ordered, key=lambda each: each.start):
        version = book.version_at(start)
        if version is None:
            continue
        counts: dict[tuple[str, Charge], Fraction] = {}
        for usage in together:
            for each in charge(usage, version):
                if each.counts:
                    alike = (usage.model, replace(each, count=Fraction(0)))
                    counts[alike] = counts.get(alike, Fraction(0)) + each.count
        parts = tuple(
            Part(model=model, charge=replace(each, count=count)) for (model, each), count in counts.items()
        )
        found.append(Batch(version=version, parts=parts))
    return found


def counted_before(month: Sequence[Batch], scope: Scope) -> list[Fraction]:
    """Return for each batch how many units its scope had counted before it."""
    before, found = Fraction(0), []
    for batch in month:
        found.append(before)
        before += batch.volume(scope)
    return found


def overlap(first: tuple[Fraction, Fraction], second: tuple[Fraction, Fraction | None]) -> Fraction:
    """Return the length that two half-open ranges share; the second may have no end."""
    end = first[1] if second[1] is None else min(first[1], second[1])
    return max(end - max(first[0], second[0]), Fraction(0))
