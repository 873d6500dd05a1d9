"""Own what a month's end adjusts, one adjustment a rule: included volumes, then tiers, then the minimum."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, TypeVar

from billing.charges.charge import Adjustment, Unit
from billing.charges.rules.graduated import graduated
from billing.charges.rules.included import free_shares, scope_of
from billing.charges.rules.minimum import owed_at_least
from billing.charges.rules.volume import volume
from billing.charges.volumes import Scope, Stretch, batches, counted_before

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from billing.charges.volumes import Batch
    from billing.prices.book import PriceBook
    from billing.usage.groups import Usage
    from fairclock.model import Interval

Key = TypeVar("Key")
_ZERO = Fraction(0)
_TIERS = {"graduated": graduated, "volume": volume}
_UNITS = {"requests": Unit.REQUEST, "gpu_seconds": Unit.GPU_SECOND}


def closing(usages: Iterable[Usage], book: PriceBook, month: Interval, *, tenant: str) -> list[Adjustment]:
    """Return the adjustments of one tenant's month; none that changes nothing.

    The month's volume is counted in the order of `received`, as finely as usage is kept, over all versions; each unit
    is adjusted as the version says that was in force when it was received.
    """
    if not any(version.included or version.tiers or version.minimum for version in book.versions):
        return []
    ordered = batches(usages, book)
    free = free_shares(ordered)
    found = [*_included(ordered, free), *_tiers(ordered, free)]
    charged = sum((part.charge.amount for batch in ordered for part in batch.parts), _ZERO)
    is_used = any(batch.parts for batch in ordered)
    owed, versions = owed_at_least(book, month, tenant=tenant, is_used=is_used)
    missing = owed - charged - sum((each.amount for each in found), _ZERO)
    if missing > 0:
        found.append(
            Adjustment(
                rule="minimum",
                volume="",
                models=None,
                count=Fraction(1),
                unit=Unit.MONTH,
                amount=missing,
                versions=versions,
            )
        )
    return found


def _included(ordered: Sequence[Batch], free: Sequence[Mapping[int, Fraction]]) -> list[Adjustment]:
    found = []
    for scope in _in_order(scope_of(rule) for batch in ordered for rule in batch.version.included):
        count, amount, versions = _ZERO, _ZERO, []
        for batch, shares in zip(ordered, free, strict=True):
            if scope not in map(scope_of, batch.version.included):
                continue
            for number, part in enumerate(batch.parts):
                share = shares.get(number, _ZERO) if scope.holds(part) else _ZERO
                count += share * part.charge.count
                amount -= share * part.charge.amount
                versions += [batch.version.sha256] if share else []
        found.append(_adjustment("included", scope, count, amount, versions))
    return [each for each in found if each.amount]


def _tiers(ordered: Sequence[Batch], free: Sequence[Mapping[int, Fraction]]) -> list[Adjustment]:
    found = []
    keys = (
        (tier.counted, Scope(volume=tier.volume, models=tier.models))
        for batch in ordered
        for tier in batch.version.tiers
    )
    for counted, scope in _in_order(keys):
        before = counted_before(ordered, scope)
        total = sum((batch.volume(scope) for batch in ordered), _ZERO)
        count, amount, versions = _ZERO, _ZERO, []
        for batch, start, shares in zip(ordered, before, free, strict=True):
            for tier in batch.version.tiers:
                if (tier.counted, tier.volume, tier.models) != (counted, scope.volume, scope.models):
                    continue
                changed = _TIERS[counted](tier, scope, Stretch(batch=batch, before=start, free=shares), total)
                count += batch.volume(scope) if changed else _ZERO
                amount += changed
                versions += [batch.version.sha256] if changed else []
        found.append(_adjustment(counted, scope, count, amount, versions))
    return [each for each in found if each.amount]


def _adjustment(
    rule: str, scope: Scope, count: Fraction, amount: Fraction, versions: list[str]
) -> Adjustment:
    return Adjustment(
        rule=rule,
        volume=scope.volume,
        models=scope.models,
        count=count,
        unit=_UNITS.get(scope.volume, Unit.TOKEN),
        amount=amount,
        versions=tuple(dict.fromkeys(versions)),
    )


def _in_order(keys: Iterable[Key]) -> list[Key]:
    return list(dict.fromkeys(keys))
