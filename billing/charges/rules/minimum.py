"""Own the minimum: what a month's charges fall short of it is added at close."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from fairclock.model import Interval

if TYPE_CHECKING:
    from billing.prices.book import PriceBook


def owed_at_least(
    book: PriceBook, month: Interval, *, tenant: str, is_used: bool
) -> tuple[Fraction, tuple[str, ...]]:
    """Return a tenant's minimum and the versions it rests on: of each version the part of the month it was in force.

    is_used: whether any of the tenant's usage is charged. A month of which nothing is (nobody called, only probes did, only what its
    treatment exempts) owes a minimum only where the version says so, and the book names the tenant as a customer.
    """
    if not month.length_us or (not is_used and book.customer_of(tenant) is None):
        return Fraction(0), ()
    edges = [month.start, *book.changes(month), month.end]
    owed, versions = Fraction(0), []
    for start, end in pairwise(edges):
        version = book.version_at(start)
        if version is None or version.minimum is None:
            continue
        if not is_used and version.minimum.without_use != "owed":
            continue
        part = Fraction(Interval(start=start, end=end).length_us, month.length_us)
        owed += Fraction(version.minimum.per_month) * part
        versions.append(version.sha256)
    return owed, tuple(versions)


def owing_without_use(book: PriceBook, month: Interval) -> tuple[str, ...]:
    """Return the tenants that owe a minimum for a month of which nothing is charged."""
    named = sorted({tenant for customer in book.customers for tenant in customer.tenants})
    return tuple(each for each in named if owed_at_least(book, month, tenant=each, is_used=False)[0])
