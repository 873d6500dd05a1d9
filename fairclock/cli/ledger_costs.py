"""Own what ``fairclock ledger show`` shows beside the ledger: machines' costs, what engines counted, ceilings and budgets."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from billing.bookkeeping.cost_books import SHARES, engine_costs
from billing.bookkeeping.limits import limits_of
from billing.cost_book.reading import read_cost_book
from billing.cost_book.reconciling import reconcile
from billing.ledger import write_exact
from fairclock.cli.configuration import configuration
from fairclock.cli.ledger import aligned, book_of, shown_number
from fairclock.cli.options import instant, store_dsn
from fairclock.documents.numbers import rounded
from fairclock.errors import UsageError
from fairclock.model import Interval, utc_text
from fairclock.store import open_store

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from fractions import Fraction
    from pathlib import Path

    from billing.bookkeeping.cost_books import EngineCost
    from billing.bookkeeping.limits import Limits
    from billing.bookkeeping.price_books import BookPrices
    from billing.cost_book.reconciliation import Reconciled
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


def show_costs(
    months: tuple[str, ...],
    prices: Path | None,
    as_of: str | None,
    *,
    as_json: bool,
    dsn: str | None,
    config: Path | None,
) -> None:
    """Print each engine's time and cost of a month."""
    month, book = _only(months, "--cost-book"), book_of(prices, config)
    with open_store(store_dsn(dsn, config)) as store:
        known = store.checked_as_of(_moment(as_of))
        rows = month_costs(store, book, month, known, configuration(config).billing.cost_book())
    currency = book.book.currency.code
    if as_json:
        click.echo(_json([tree(row, currency) for row in rows]))
        return
    for line in aligned([HEAD, *cells(rows, currency)], left=2):
        click.echo(line)


def show_reconciled(
    months: tuple[str, ...],
    prices: Path | None,
    as_of: str | None,
    *,
    as_json: bool,
    dsn: str | None,
    config: Path | None,
) -> None:
    """Print, by engine and hour, what vLLM's counters say beside what is known of requests; what nobody explains is a column."""
    month, book = _only(months, "--reconcile"), book_of(prices, config)
    whole = book.months.interval(month)
    with open_store(store_dsn(dsn, config)) as store:
        known = store.checked_as_of(_moment(as_of))
        window = Interval(start=whole.start, end=max(whole.start, min(whole.end, known)))
        settings = configuration(config).billing.cost_book()
        found = reconcile(store, window, known, settings) if window.length_us else []
    rows = [
        each for each in found if each.counted or each.known or each.copied or each.unexplained is not None
    ]
    if as_json:
        click.echo(_json([_reconciled_tree(each) for each in rows]))
        return
    lines = [_reconciled_cells(each, utc_text(each.hour)) for each in rows] + _totals(rows)
    for line in aligned([_RECONCILED_HEAD, *lines], left=3):
        click.echo(line)


def show_limits(
    months: tuple[str, ...],
    prices: Path | None,
    as_of: str | None,
    *,
    as_json: bool,
    dsn: str | None,
    config: Path | None,
) -> None:
    """Print how a month stands against the ceilings and budgets of the price book."""
    month, book = _only(months, "--limits"), book_of(prices, config)
    with open_store(store_dsn(dsn, config)) as store:
        limits = limits_of(store, book.book, month, store.checked_as_of(_moment(as_of)))
    if as_json:
        click.echo(_json(_limits_tree(limits, book.book.currency.code)))
        return
    for line in aligned([_LIMITS_HEAD, *_limits_cells(limits, book.book.currency.code)], left=2):
        click.echo(line)


_RECONCILED_HEAD = (
    "engine", "hour", "what", "counted", "requests", "nobody's", "left", "unexplained", "at least", "at most",
    "usage beyond rows",
)  # fmt: skip
_LIMITS_HEAD = ("limit", "of", "calls", "is", "may be", "forecast", "", "")


def _only(months: tuple[str, ...], option: str) -> str:
    if len(months) != 1:
        raise UsageError(option, "needs one --month", remedy="add --month 2026-10")
    return months[0]


def _moment(as_of: str | None) -> datetime | None:
    return None if as_of is None else instant(as_of, where="--as-of")


def _json(tree_: object) -> str:
    return json.dumps(tree_, ensure_ascii=False, indent=2)


def _reconciled_cells(each: Reconciled, hour: str) -> tuple[str, ...]:
    numbers = (
        each.counted, each.requests, each.nobodys, each.left, each.unexplained,
        None if each.counted is None else each.at_least, None if each.counted is None else each.at_most, each.copied,
    )  # fmt: skip
    return (
        each.engine,
        hour,
        str(each.quantity),
        *("-" if number is None else str(number) for number in numbers),
    )


def _totals(rows: Sequence[Reconciled]) -> list[tuple[str, ...]]:
    """Return a line for each engine and quantity; what was counted and is unexplained is that of the hours that were read."""
    found: dict[tuple[str, str], list[Reconciled]] = {}
    for each in rows:
        found.setdefault((each.engine, str(each.quantity)), []).append(each)
    lines = []
    for (engine, quantity), hours in found.items():
        read = [each for each in hours if each.counted is not None]
        sums = (
            sum(each.counted or 0 for each in read) if read else None,
            sum(each.requests for each in hours),
            sum(each.nobodys for each in hours),
            sum(each.left for each in hours),
            sum(each.unexplained or 0 for each in read) if read else None,
            None,
            None,
            sum(each.copied for each in hours),
        )
        lines.append((engine, "all", quantity, *("-" if each is None else str(each) for each in sums)))
    return lines


def _reconciled_tree(each: Reconciled) -> dict[str, Any]:
    return {
        "engine": each.engine,
        "hour": utc_text(each.hour),
        "quantity": str(each.quantity),
        "counted": each.counted,
        "at_least": None if each.counted is None else each.at_least,
        "at_most": None if each.counted is None else each.at_most,
        "requests": each.requests,
        "nobodys": each.nobodys,
        "left": each.left,
        "unexplained": each.unexplained,
        "possible": each.is_possible,
        "usage_beyond_rows": each.copied,
    }


def _limits_cells(limits: Limits, currency: str) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [
        (
            "per call", each.length_class, str(each.requests), shown_number(each.per_call), shown_number(each.ceiling), "-", currency,
            "above" if each.is_broken else "within",
        )
        for each in limits.ceilings
    ]  # fmt: skip
    return rows + [
        (
            "budget", ", ".join(each.tenants), "-", shown_number(each.spent), shown_number(each.budget), shown_number(each.forecast), currency,
            "above" if each.is_broken else "headed above" if each.is_headed_over else "within",
        )
        for each in limits.budgets
    ]  # fmt: skip


def _limits_tree(limits: Limits, currency: str) -> dict[str, Any]:
    return {
        "month": limits.label,
        "currency": currency,
        "rated_to": utc_text(limits.rated_to),
        "ceilings": [
            {
                "length_class": each.length_class, "requests": each.requests, "per_call": write_exact(each.per_call),
                "ceiling": write_exact(each.ceiling), "above": each.is_broken,
            }
            for each in limits.ceilings
        ],
        "budgets": [
            {
                "tenants": list(each.tenants), "spent": write_exact(each.spent), "budget": write_exact(each.budget),
                "forecast": None if each.forecast is None else write_exact(each.forecast),
                "above": each.is_broken, "headed_above": each.is_headed_over,
            }
            for each in limits.budgets
        ],
    }  # fmt: skip
