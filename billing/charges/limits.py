"""Own what is said where usage costs more than it may: ceilings per call, and budgets with their forecast.

Billing returns conditions; who is told of them is decided elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from fairclock.model import Interval
from fairclock.model.length_classes import cells_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from billing.prices.clauses import Budget, Ceiling


@dataclass(frozen=True, slots=True, kw_only=True)
class CeilingCondition:
    """What calls of a length class cost on average beside what they may; equality is within."""

    length_class: str
    requests: int
    per_call: Fraction
    ceiling: Fraction

    @property
    def is_broken(self) -> bool:
        """Tell whether the average is above the ceiling."""
        return self.per_call > self.ceiling


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetCondition:
    """What tenants spent of their month's budget, and what the month comes to at the same pace.

    forecast: None at the month's first instant, where there is no pace.
    """

    tenants: tuple[str, ...]
    budget: Fraction
    spent: Fraction
    forecast: Fraction | None

    @property
    def is_broken(self) -> bool:
        """Tell whether more is spent than was meant to be."""
        return self.spent > self.budget

    @property
    def is_headed_over(self) -> bool:
        """Tell whether the month will come to more at this pace."""
        return self.forecast is not None and self.forecast > self.budget


def ceiling_conditions(
    ceilings: Iterable[Ceiling], costs: Mapping[str, tuple[int, Fraction]]
) -> list[CeilingCondition]:
    """Return a condition for each ceiling with calls; `costs` are (requests, amount) by the narrowest length class."""
    found = []
    for each in ceilings:
        parts = [costs[cell] for cell in cells_of(each.length_class) if cell in costs]
        requests = sum(count for count, _ in parts)
        if requests:
            amount = sum((amount for _, amount in parts), Fraction(0))
            found.append(
                CeilingCondition(
                    length_class=each.length_class,
                    requests=requests,
                    per_call=amount / requests,
                    ceiling=Fraction(each.per_call),
                )
            )
    return found


def budget_conditions(
    budgets: Iterable[Budget], spent: Mapping[str, Fraction], *, month: Interval, now: datetime
) -> list[BudgetCondition]:
    """Return a condition for each budget; `spent` are the month's amounts by tenant, up to `now`."""
    elapsed_us = Interval(start=month.start, end=min(max(now, month.start), month.end)).length_us
    found = []
    for each in budgets:
        used = sum((spent.get(tenant, Fraction(0)) for tenant in each.tenants), Fraction(0))
        pace = Fraction(month.length_us, elapsed_us) if elapsed_us else None
        found.append(
            BudgetCondition(
                tenants=each.tenants,
                budget=Fraction(each.per_month),
                spent=used,
                forecast=None if pace is None else used * pace,
            )
        )
    return found
