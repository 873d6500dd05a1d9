"""Own what a month's end adds: tiers, minimums and included volumes, one entry each, as the month's usage is in the ledger."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from billing.bookkeeping.books import Books, drafts_of
from billing.ledger import Charged, Draft, EntryKind, Item, PeriodState, differences, still_standing
from fairclock.store.ledger import EntryChoice

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from billing.ledger import Months, Rated
    from billing.usage import Usage
    from fairclock.model import Interval
    from fairclock.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Adjustment:
    """What a month's end adds for one tenant: a tier, a minimum, an included volume; `subject` tells it from the others."""

    subject: str
    price_version: str
    currency: str
    charges: tuple[Charged, ...]


class Prices(Protocol):
    """Whoever knows what usage costs; `sha256` tells one book of prices from another."""

    @property
    def sha256(self) -> str:
        """Return what differs where the prices may."""

    def rate(self, usage: Usage) -> Rated:
        """Return what `usage` costs."""

    def adjust(self, tenant: str, month: Interval, usages: Sequence[Usage]) -> Iterable[Adjustment]:
        """Return what the end of a month adds to its usage, which comes in the order it was received."""


def adjustments(
    store: Store,
    books: Books,
    tenant: str,
    label: str,
    *,
    planned: Sequence[Draft],
    known: Mapping[str, Mapping[str, PeriodState]],
    prices: Prices,
    months: Months,
) -> list[Draft]:
    """Return what makes the adjustments of one tenant's month those of its usage, with what is `planned` for it."""
    found = drafts_of(
        store,
        books,
        EntryChoice(tenants=(tenant,), about=(label,), kinds=("usage", "adjustment", "reversal")),
    )
    standing = still_standing(found.get(tenant, ()))
    taken_back = {each.reverses for each in planned if each.reverses}
    usages = [
        item.usage
        for draft in (
            *(each.draft for each in standing if each.sequence not in taken_back),
            *(each for each in planned if not each.reverses),
        )
        if draft.kind is EntryKind.USAGE
        for item in draft.items
        if item.usage is not None
    ]
    month = months.interval(label)
    wanted = [
        Draft(
            kind=EntryKind.ADJUSTMENT,
            tenant=tenant,
            start=month.start,
            end=month.end,
            period=label,
            about=label,
            currency=each.currency,
            price_version=each.price_version,
            subject=each.subject,
            items=(Item(usage=None, charges=each.charges),),
        )
        for each in prices.adjust(tenant, month, sorted(usages, key=lambda each: each.start))
    ]
    made = [each for each in standing if each.draft.kind is EntryKind.ADJUSTMENT]
    return differences(wanted, made, known)


def readjusted(
    store: Store,
    books: Books,
    drafts: Sequence[Draft],
    touched: Iterable[tuple[str, str]],
    *,
    known: Mapping[str, Mapping[str, PeriodState]],
    prices: Prices,
    months: Months,
) -> list[Draft]:
    """Return what the adjustments of closed months lack.

    touched: every tenant and month looked at, not only what differs now: whoever was killed may have left the usage right and
    the adjustments not.
    """
    found: list[Draft] = []
    for tenant, label in sorted(touched):
        if known.get(tenant, {}).get(label, PeriodState.OPEN) is not PeriodState.OPEN:
            planned = [each for each in drafts if (each.tenant, each.about) == (tenant, label)]
            found += adjustments(
                store, books, tenant, label, planned=planned, known=known, prices=prices, months=months
            )
    return found
