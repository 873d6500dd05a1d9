"""Own what the ledger says of ceilings per call and of budgets: how a month stands as far as it was rated."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from billing.bookkeeping.books import books_at, drafts_of
from billing.charges.limits import BudgetCondition, CeilingCondition, budget_conditions, ceiling_conditions
from billing.ledger import EntryKind, Months
from billing.ledger.views import table
from billing.usage import Treatment
from fairclock.model import Interval, from_us, to_us
from fairclock.store.ledger import EntryChoice, ledger_mark
from fairclock.store.ledger_ratings import whole_ratings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from billing.ledger import Draft
    from billing.ledger.views import Row
    from billing.prices.book import PriceBook
    from fairclock.store import Store

_HOUR_US = 3_600_000_000
_ZERO = Fraction(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How a month stands; `rated_to` is the end of what was rated of it, its start where nothing was.

    A ceiling without answered calls has no condition. Forecasts go on at the pace up to `rated_to`.
    """

    label: str
    month: Interval
    rated_to: datetime
    ceilings: tuple[CeilingCondition, ...]
    budgets: tuple[BudgetCondition, ...]


@dataclass(slots=True)
class KnownLimits:
    """The limits of a price book, read again only where the ledger or the month became another."""

    book: PriceBook
    _mark: tuple[object, ...] = ()
    _found: Limits | None = field(default=None)

    def go_by(self, book: PriceBook) -> None:
        """Go by another price book from now on."""
        self.book, self._found = book, None

    def at(self, store: Store, now: datetime, as_of: datetime) -> Limits:
        """Return how the month of `now` stands, as the ledger was known at `as_of`."""
        label = Months(zone=self.book.zone).label(now)
        mark = (label, *ledger_mark(store, as_of))
        if self._found is None or mark != self._mark:
            self._found = limits_of(store, self.book, label, as_of)
            self._mark = mark
        return self._found


def limits_of(store: Store, book: PriceBook, label: str, as_of: datetime) -> Limits:
    """Return how a month stands against the ceilings and budgets of a price book, as the ledger was known at `as_of`.

    All that is charged for calls of a class counts, failed and repeated ones too, and is divided by those that were
    answered, as promises about cost are judged. What is spent has adjustments in it, and no credits.
    """
    month = book.month(label)
    found = drafts_of(store, books_at(store, as_of), EntryChoice(about=(label,)))
    drafts = [
        draft
        for _, entries in sorted(found.items())
        for _, draft in entries
        if draft.currency == book.currency.code and draft.kind not in {EntryKind.CREDIT, EntryKind.CLOSE}
    ]
    rated_to = _rated_to(store, month, drafts, as_of)
    return Limits(
        label=label,
        month=month,
        rated_to=rated_to,
        ceilings=tuple(
            ceiling_conditions(book.ceilings, _costs(table(drafts, ("length_class", "treatment"))))
        ),
        budgets=tuple(budget_conditions(book.budgets, _spent(drafts), month=month, now=rated_to)),
    )


def _rated_to(store: Store, month: Interval, drafts: Sequence[Draft], as_of: datetime) -> datetime:
    """Return the end of what was rated: an hour without requests that was looked at is rated, too."""
    rated = whole_ratings(store, as_of)
    whole = [from_us(to_us(each["as_of"]) // _HOUR_US * _HOUR_US) for each in rated]
    usages = [each.end for each in drafts if each.kind is EntryKind.USAGE]
    return min(max([month.start, *whole, *usages]), month.end)


def _costs(rows: Sequence[Row]) -> Mapping[str, tuple[int, Fraction]]:
    costs: dict[str, tuple[int, Fraction]] = {}
    for row in rows:
        length_class, treatment = row.keys
        if treatment == Treatment.PROBE or not (row.requests or row.tokens):
            continue
        requests, amount = costs.get(length_class, (0, _ZERO))
        answered = row.requests if treatment in {Treatment.COMPLETED, Treatment.RETRIED} else 0
        costs[length_class] = (requests + answered, amount + row.amount)
    return costs


def _spent(drafts: Sequence[Draft]) -> Mapping[str, Fraction]:
    return {row.keys[0]: row.amount for row in table(drafts, ("tenant",))}
