"""Own the minimum: what a month's charges fall short of it is added at close."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from fairclock.model import Interval

if TYPE_CHECKING:
    from billing.prices.book import PriceBook


def owed_at_least(book: PriceBook, month: Interval) -> tuple[Fraction, tuple[str, ...]]:
    """Return the month's minimum and the versions it rests on: of each version the part of the month it was in force."""
    if not month.length_us:
        return Fraction(0), ()
    edges = [month.start, *book.changes(month), month.end]
    owed, versions = Fraction(0), []
    for start, end in pairwise(edges):
        version = book.version_at(start)
        if version is None or version.minimum is None:
            continue
        part = Fraction(Interval(start=start, end=end).length_us, month.length_us)
        owed += Fraction(version.minimum.per_month) * part
        versions.append(version.sha256)
    return owed, tuple(versions)
