"""Own what every reading is given: the store as of one instant, what is configured, and who asks."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from fairclock.console.readings.models.base import Anchor, Basis, Measured
from fairclock.console.readings.month_sums import MonthSums
from fairclock.console.readings.prepared import Prepared
from fairclock.errors import NotShown

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from fractions import Fraction

    from billing.cost_book.settings import CostBookSettings
    from billing.prices.book import PriceBook
    from fairclock.console.access.callers import Caller
    from fairclock.console.readings.kept_reports import KeptReports
    from fairclock.console.readings.models.cost import CostBookFigures
    from fairclock.store import Store
    from fairclock.store.slices import SliceKey
    from sla.contracts import Contract

Versions = list["Contract"]
"""The versions of one contract, in the order of their terms."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """What readings remember from one answer to the next."""

    reports: KeptReports
    month_sums: MonthSums = field(default_factory=MonthSums)
    shares: dict[SliceKey, tuple[Fraction | None, ...]] = field(default_factory=dict)
    cost_books: Prepared[CostBookFigures | None] = field(
        default_factory=lambda: Prepared(most=24, fresh=timedelta(minutes=10))
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """One question: the store as of an instant, the contracts, the price book, and who asks."""

    store: Store
    caller: Caller
    as_of: datetime
    now: datetime
    contracts: Sequence[Versions]
    prices: PriceBook | None
    cost_book: CostBookSettings
    memory: Memory

    def visible(self) -> list[Versions]:
        """Return the contracts whose figures the caller may see: all of a contract's tenants must be the caller's."""
        return [
            versions
            for versions in self.contracts
            if self.caller.may_see({tenant for each in versions for tenant in each.customer.tenants})
        ]

    def contract(self, named: str) -> Versions:
        """Return the versions of the contract with this id; NotShown where there is none for the caller."""
        for versions in self.visible():
            if versions[0].id == named:
                return versions
        raise NotShown("contract", "there is none of that id here", remedy="see the overview")

    def of_tenant(self, tenant: str) -> list[Versions]:
        """Return the contracts the caller may see that judge `tenant`; NotShown where the tenant is another's."""
        if not self.caller.may_see({tenant}):
            raise NotShown("tenant", "there is none of that name here", remedy="see the overview")
        return [
            versions
            for versions in self.visible()
            if any(tenant in each.customer.tenants for each in versions)
        ]

    def measured(self, anchor: Anchor, basis: Basis, *, revision: int | None = None) -> Measured:
        """Return how a figure of this question came about."""
        return Measured(anchor=anchor, basis=basis, as_of=self.as_of, revision=revision)
