"""Own ``fairclock ledger show --cost-book``: what the machines' time costs, used or not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from billing.bookkeeping.cost_books import SHARES, engine_costs
from billing.cost_book.reading import read_cost_book
from billing.ledger import write_exact
from fairclock.documents.numbers import rounded
from fairclock.model import Interval

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from fractions import Fraction

    from billing.bookkeeping.cost_books import EngineCost
    from billing.bookkeeping.price_books import BookPrices
    from billing.cost_book.settings import CostBookSettings
    from fairclock.store import Store

_PICOSECONDS = 10**12
_PLACES = 6
HEAD = (
    "engine",
    "machine",
    "GPU-s",
    *(f"{name} GPU-s" for name in SHARES),
    "cost",
    *(f"{name} cost" for name in SHARES),
    "",
)


def month_costs(
    store: Store, book: BookPrices, month: str, as_of: datetime, settings: CostBookSettings
) -> list[EngineCost]:
    """Return the engines' costs in the hours of a month that had passed by `as_of`."""
    whole = book.months.interval(month)
    if whole.start >= as_of:
        return []
    window = Interval(start=whole.start, end=min(whole.end, as_of))
    cuts = sorted({whole.start, whole.end, *book.book.changes(window)})
    found = read_cost_book(store, window, as_of, settings, cuts=cuts).times
    return engine_costs((each for each in found if window.start <= each.start < whole.end), book.book)


def cells(rows: Sequence[EngineCost], currency: str) -> list[tuple[str, ...]]:
    """Return the rows of a table; the cost of time that the price book has no price for is not in it."""
    return [
        (
            row.engine,
            row.machine or "-",
            _seconds(row.whole_picoseconds),
            *(_seconds(row.picoseconds[name]) for name in SHARES),
            _money(row.amount),
            *(_money(row.amounts[name]) for name in SHARES),
            f"{currency}, {_seconds(row.unpriced)} GPU-s without a price" if row.unpriced else currency,
        )
        for row in rows
    ]


def tree(row: EngineCost, currency: str) -> dict[str, Any]:
    """Return a row as JSON values; amounts are exact."""
    return {
        "engine": row.engine,
        "machine": row.machine,
        "currency": currency,
        "gpu_seconds": {name: write_exact(row.picoseconds[name] / _PICOSECONDS) for name in SHARES},
        "cost": {name: write_exact(row.amounts[name]) for name in SHARES},
        "tenants": {tenant: write_exact(amount) for tenant, amount in sorted(row.tenants.items())},
        "unpriced_gpu_seconds": write_exact(row.unpriced / _PICOSECONDS),
    }


def _seconds(picoseconds: Fraction) -> str:
    return f"{rounded(picoseconds / _PICOSECONDS, 1):f}"


def _money(amount: Fraction) -> str:
    return f"{rounded(amount, _PLACES):f}"
