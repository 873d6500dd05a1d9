"""Own the demonstration's money: its month rated, shown, closed, verified and invoiced, at prices of its own."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import timedelta
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING, Any

from billing.bookkeeping.books import anchors, books_at, drafts_of, stored_rows
from billing.bookkeeping.closing import Closing, close_month
from billing.bookkeeping.credits import deduct, keep_computed, step
from billing.bookkeeping.price_books import BookPrices, keep_versions
from billing.bookkeeping.rating import rate
from billing.bookkeeping.statements import Asked, statement_of, tenants_of
from billing.configuration import BillingSection
from billing.credits import CreditState
from billing.invoices import LANGUAGES, write_statement
from billing.ledger import PeriodState, verify
from billing.ledger.periods import after
from billing.ledger.views import table
from billing.prices.loading import load_price_book
from billing.usage.reading import read_usage
from fairclock import __version__
from fairclock.errors import StoreError
from fairclock.store.ledger import EntryChoice
from sla.evaluation import computed_credits

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from billing.ledger.views import Row
    from billing.usage import Usage
    from fairclock.demo.month import Month
    from fairclock.store import Store
    from sla.contracts import Contract

CREDITED_CONTRACT = "lumen-search"
MACHINE = "NVIDIA H200"
_FORMATS = ("pdf", "html", "json", "csv")
_REQUESTS_AT_ONCE = 300_000
_NO_GRACE = timedelta(0)  # a simulation has no late rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Billed:
    """What the month's ledger came to. `is_final`: the month is over, and closed for good; `entries` were verified."""

    rows: tuple[Row, ...]
    statements: tuple[Mapping[str, Any], ...]
    entries: int
    is_final: bool


def write_billing(*, month: Month, engines: Mapping[str, str], folder: Path, store: Path) -> Path:
    """Write ``prices.yaml``, in force in the year of `month` and in its zone, and return its path.

    Beside it ``fairclock.yaml`` names it, the store, and the engines (addresses by name), so that ``fairclock ledger`` says the same.
    """
    text = (files("fairclock.demo") / "prices.yaml").read_text(encoding="utf-8")
    prices = folder / "prices.yaml"
    prices.write_text(
        Template(text).substitute(year=month.name[:4], zone=month.zone), encoding="utf-8", newline="\n"
    )
    said = {"store": {"dsn": f"chdb://{store}"}, "billing": {"prices": "prices.yaml"} | _gpu_time(engines)}
    (folder / "fairclock.yaml").write_text(
        json.dumps(said, ensure_ascii=False, indent=2) + "\n", encoding="utf-8", newline="\n"
    )
    return prices


def bill(
    store: Store, *, prices: Path, month: Month, requests: int, engines: Mapping[str, str], now: datetime
) -> Billed:
    """Rate a month of `requests`, close it for good where it is over by `now`, verify every entry, and make the tenants' statements.

    Raises StoreError where the ledger is not what was written.
    """
    book = BookPrices(load_price_book(prices))
    settings = BillingSection.model_validate(_gpu_time(engines)).cost_book()
    cuts = sorted({month.interval.start, month.interval.end, *book.book.changes(month.interval)})
    keep_versions(store, book.book, until=month.interval.end)

    def used(as_of: datetime) -> list[Usage]:
        days_at_once = max(1, len(month.days) * _REQUESTS_AT_ONCE // requests)
        found = read_usage(store, month.interval, as_of, settings, cuts=cuts, days_at_once=days_at_once)
        return [each for each in found if month.interval.start <= each.start < month.interval.end]

    rate(store, used, month.interval, as_of=store.watermark(), prices=book, months=book.months)
    is_final = now >= month.interval.end
    if is_final:
        close_month(
            store,
            Closing(
                month=month.name,
                state=PeriodState.FINAL,
                grace=_NO_GRACE,
                owing=book.owing_without_use(month.name),
            ),
            prices=book,
            months=book.months,
            now=now,
            currency=book.book.currency.code,
        )
    entries = _verified(store)
    books = books_at(store, store.watermark())
    found = drafts_of(store, books, EntryChoice(about=(month.name,)))
    return Billed(
        rows=tuple(table((draft for drafts in found.values() for _, draft in drafts), ["tenant"])),
        statements=tuple(
            statement_of(
                store,
                books,
                book.book,
                Asked(tenant=tenant, month=month.name, software_version=__version__, simulated=True),
            )
            for tenant in tenants_of(store, books, month.name)
        ),
        entries=entries,
        is_final=is_final,
    )


def grant_credits(
    store: Store, contract: Contract, *, prices: Path, month: Month, now: datetime
) -> tuple[Mapping[str, Any], ...]:
    """Grant what a contract that asks for no claim gives back for `month`; return the next month's statements that show it."""
    book = BookPrices(load_price_book(prices))
    computed = keep_computed(
        store, computed_credits(store, contract, month=month.name), contract=contract.id, month=month.name
    )
    for each in computed:
        deduct(store, step(store, each.id, CreditState.GRANTED, author="Li Wei", now=now), book.months)
    books, label = books_at(store, store.watermark()), after(month.name)
    return tuple(
        statement_of(
            store,
            books,
            book.book,
            Asked(tenant=tenant, month=label, software_version=__version__, simulated=True),
        )
        for tenant in tenants_of(store, books, label)
    )


def write_invoices(statements: Sequence[Mapping[str, Any]], folder: Path) -> list[Path]:
    """Write ``<tenant>-<YYYY-MM>-invoice`` in every format and both languages, and return the paths."""
    return [
        path
        for each in statements
        for path in write_statement(each, formats=_FORMATS, languages=LANGUAGES, directory=folder)
    ]


def _verified(store: Store) -> int:
    known = store.watermark()
    rows = stored_rows(store, known)
    if faults := verify(rows, anchors(store, known)):
        raise StoreError(
            store.dsn,
            "the ledger is not what was written",
            found=str(faults[0]),
            remedy="run the demonstration again",
        )
    return len(rows)


def _gpu_time(engines: Mapping[str, str]) -> dict[str, Any]:
    said = [
        {"engine": name, "machine": MACHINE, "upstreams": [address]}
        for name, address in sorted(engines.items())
    ]
    return {"gpu_time": {"engines": said}}
