"""Own what is published of money: what tenants were charged this month so far, and what their share of the machines cost."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from fractions import Fraction
from typing import TYPE_CHECKING

from billing.bookkeeping.books import books_at
from billing.bookkeeping.cost_books import engine_costs
from billing.cost_book.reading import read_cost_book
from billing.ledger import read_exact
from exporters.prometheus import Figure
from exporters.prometheus.bounds import label_text
from fairclock.console.readings.prepared import Prepared
from fairclock.model import Interval
from fairclock.store.ledger import charged_amounts
from sla.calendars import period_of_month

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    from billing.cost_book.settings import CostBookSettings
    from billing.prices.book import PriceBook
    from exporters.prometheus import Published
    from exporters.prometheus.bounds import Admitted
    from fairclock.store import Store

COST, UNUSED = "fairclock_cost", "fairclock_cost_of_nobody"
ABOUT = {
    COST: "Money of this month so far, by tenant: charge is what the ledger says, credits apart; cost is its share of the machines.",
    UNUSED: "What of the machines' cost of this month so far is nobody's: probes, idle, unattributed.",
}
_ZERO = Fraction(0)
Costs = list[tuple[str, str, Fraction]]
"""Book or share, tenant, amount."""


@dataclass(slots=True)
class Charges:
    """What the ledger says of one month, brought up by what was added to it since."""

    _month: str = ""
    _beside: tuple[str, ...] = ()
    _as_of: datetime | None = None
    _amounts: dict[tuple[str, str], Fraction] = field(default_factory=dict)

    def read(self, store: Store, as_of: datetime, month: str) -> dict[tuple[str, str], Fraction]:
        """Return the sum of each (tenant, currency) as it was known at `as_of`."""
        beside = books_at(store, as_of).beside
        if (
            month != self._month
            or beside != self._beside
            or (self._as_of is not None and as_of < self._as_of)
        ):
            self._month, self._beside, self._as_of, self._amounts = month, beside, None, {}
        amounts = dict(self._amounts)
        for tenant, currency, amount in charged_amounts(
            store, month, after=self._as_of, as_of=as_of, beside=beside
        ):
            key = (tenant, currency)
            amounts[key] = amounts.get(key, _ZERO) + read_exact(amount)
        self._amounts, self._as_of = amounts, as_of
        return amounts


@dataclass(slots=True)
class Money:
    """What the two books come to."""

    _settings: CostBookSettings
    _tenants: Admitted
    _charges: Charges = field(default_factory=Charges)
    _costs: Prepared[Costs] = field(default_factory=lambda: Prepared(most=2, fresh=timedelta(minutes=10)))

    def figures(self, store: Store, as_of: datetime, prices: PriceBook | None) -> Iterator[Published]:
        """Yield what each tenant was charged, and what it cost; nothing where there are no prices."""
        if prices is None:
            return
        month = f"{as_of.astimezone(prices.zone):%Y-%m}"
        found: dict[tuple[str, str, str], Fraction] = {}
        for (tenant, currency), amount in self._charges.read(store, as_of, month).items():
            self._add(found, tenant, "charge", currency, amount)
        key = (prices.id, tuple(each.sha256 for each in prices.versions), month)
        costs = self._costs.get(key, as_of, self._costs_of(store, as_of, prices, month))
        currency = prices.currency.code
        for book, tenant, amount in () if costs is None else costs[0]:
            if book == "cost":
                self._add(found, tenant, book, currency, amount)
            else:
                labels = {"share": book, "currency": currency}
                yield Figure(name=UNUSED, about=ABOUT[UNUSED], value=float(amount), labels=labels)
        for (tenant, book, code), amount in found.items():
            labels = {"tenant": tenant, "book": book, "currency": label_text(code)}
            yield Figure(name=COST, about=ABOUT[COST], value=float(amount), labels=labels)

    def close(self) -> None:
        """Work out nothing more."""
        self._costs.close()

    def _add(
        self,
        found: dict[tuple[str, str, str], Fraction],
        tenant: str,
        book: str,
        currency: str,
        amount: Fraction,
    ) -> None:
        key = (self._tenants.of(tenant), book, currency)
        found[key] = found.get(key, _ZERO) + amount

    def _costs_of(self, store: Store, as_of: datetime, prices: PriceBook, month: str) -> Callable[[], Costs]:
        """Return what sweeps the month of engines, which takes longer than anything here may wait."""
        whole = period_of_month(month, prices.zone)
        window = Interval(start=whole.start, end=min(whole.end, as_of))
        return lambda: costs_within(store, window, whole, as_of=as_of, prices=prices, settings=self._settings)


def costs_within(
    store: Store,
    window: Interval,
    whole: Interval,
    *,
    as_of: datetime,
    prices: PriceBook,
    settings: CostBookSettings,
) -> Costs:
    """Return what machines cost in `window`, which lies in the month `whole`: by tenant, and what is nobody's by why."""
    cuts = sorted({whole.start, whole.end, *prices.changes(window)})
    times = read_cost_book(store, window, as_of, settings, cuts=cuts).times
    found: dict[tuple[str, str], Fraction] = {}
    for row in engine_costs((each for each in times if whole.start <= each.start < whole.end), prices):
        for tenant, amount in row.tenants.items():
            found["cost", tenant] = found.get(("cost", tenant), _ZERO) + amount
        for share in ("probes", "idle", "unattributed"):
            found[share, ""] = found.get((share, ""), _ZERO) + row.amounts[share]
    return [(book, tenant, amount) for (book, tenant), amount in found.items()]
