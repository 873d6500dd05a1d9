"""Own rating: bring the ledger to say what was used in some hours, and what that costs."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

from billing.bookkeeping.books import Books, drafts_of, known_states, post
from billing.ledger import (
    Charged,
    Draft,
    EntryKind,
    Item,
    PeriodState,
    Standing,
    differences,
    still_standing,
    targets,
)
from fairclock.store.ledger import EntryChoice, entry_outlines

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from billing.ledger import Entry, Months, Rated
    from billing.usage import Usage
    from fairclock.model import Interval
    from fairclock.store import Store

_ZERO = Fraction(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Adjustment:
    """What a month's end adds for one tenant: a tier, a minimum, an included volume; `subject` tells it from the others."""

    subject: str
    price_version: str
    currency: str
    charges: tuple[Charged, ...]


class Prices(Protocol):
    """Whoever knows what usage costs."""

    def rate(self, usage: Usage) -> Rated:
        """Return what `usage` costs."""

    def adjust(self, tenant: str, month: Interval, usages: Sequence[Usage]) -> Iterable[Adjustment]:
        """Return what the end of a month adds to its usage, which comes in the order it was received."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rating:
    """What rating added: entries, how many of them take others back, and the change of what is owed, by currency."""

    entries: int
    reversals: int
    net: Mapping[str, Fraction]


def rate(
    store: Store, usages: Sequence[Usage], window: Interval, *, prices: Prices, months: Months
) -> Rating:
    """Make the ledger say `usages`, which are all that was received in `window`; what it says already stays.

    In a month that is closed as a draft the adjustments are brought up to date; what is about a final month is booked
    in the next one.
    """
    wanted = targets(usages, prices.rate, months)
    labels = {months.label(each) for each in (window.start, *months.bounds(window))}

    def plan(books: Books) -> list[Draft]:
        known = known_states(store, books)
        compared = _compared(store, books, wanted, window)
        drafts = differences(compared.new, compared.gone, known)
        spoken_of = compared.tenants | {each.tenant for each in wanted}
        touched = {(tenant, label) for tenant in spoken_of for label in labels}
        return [
            *drafts,
            *_readjusted(store, books, drafts, touched, known=known, prices=prices, months=months),
        ]

    return summary(post(store, plan))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Compared:
    """Which entries are wanted and not there, which are there and not wanted, and whom the ledger speaks of at all."""

    new: list[Draft]
    gone: list[Standing]
    tenants: frozenset[str]


def _compared(store: Store, books: Books, wanted: Sequence[Draft], window: Interval) -> _Compared:
    """Compare the ledger with what is wanted of it; only bodies of entries that are not wanted are read."""
    choice = EntryChoice(kinds=("usage", "reversal"), within=window, beside=books.beside)
    outlines = entry_outlines(store, books.as_of, choice)
    taken_back = {
        (tenant, reverses) for tenant, _, kind, _, reverses in outlines if kind == EntryKind.REVERSAL
    }
    there: dict[str, list[tuple[str, int]]] = {}
    for tenant, sequence, kind, content, _ in outlines:
        if kind == EntryKind.USAGE and (tenant, sequence) not in taken_back:
            there.setdefault(content, []).append((tenant, sequence))
    new = []
    for draft in wanted:
        same = there.get(draft.content_sha256())
        if same:
            same.pop()
        else:
            new.append(draft)
    gone: dict[str, list[int]] = {}
    for places in there.values():
        for tenant, sequence in places:
            gone.setdefault(tenant, []).append(sequence)
    standing = [
        Standing(sequence=sequence, draft=draft)
        for tenant, sequences in sorted(gone.items())
        for found in drafts_of(
            store, books, EntryChoice(tenants=(tenant,), sequences=tuple(sequences))
        ).values()
        for sequence, draft in found
    ]
    return _Compared(new=new, gone=standing, tenants=frozenset(tenant for tenant, *_ in outlines))


def summary(entries: Iterable[Entry]) -> Rating:
    """Return how many entries there are, and what they change."""
    net: dict[str, Fraction] = {}
    count = reversals = 0
    for each in entries:
        count += 1
        reversals += each.draft.kind is EntryKind.REVERSAL
        net[each.draft.currency] = net.get(each.draft.currency, _ZERO) + each.draft.amount
    return Rating(entries=count, reversals=reversals, net={key: net[key] for key in sorted(net)})


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


def _readjusted(
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
