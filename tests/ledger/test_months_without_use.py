"""Who owes a minimum for a month of which nothing is charged: whom the book names, where it says so, and nobody else."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path

import pytest

from billing.bookkeeping.books import books_at, drafts_of
from billing.bookkeeping.closing import Closing, close_month
from billing.bookkeeping.price_books import BookPrices
from billing.bookkeeping.rating import rate
from billing.ledger import PeriodState
from billing.prices.loading import load_price_book
from billing.usage import Treatment
from fairclock.store.ledger import EntryChoice
from tests.ledger.factories import a_usage

BOOK = Path(__file__).parent / "prices.yaml"
NOW = datetime(2026, 12, 30, tzinfo=UTC)


def prices(folder, minimum):
    path = folder / "prices.yaml"
    text = BOOK.read_text().replace("{per_month: 500.00}", minimum).replace("[acme]", "[acme, quiet, probed]")
    path.write_text(text)
    return BookPrices(load_price_book(path))


def owed(store, month):
    found = drafts_of(store, books_at(store, store.watermark()), EntryChoice(about=(month,)))
    return {tenant: sum((draft.amount for _, draft in each), Fraction(0)) for tenant, each in found.items()}


@pytest.mark.parametrize(
    ("month", "minimum", "expected"),
    [
        pytest.param(10, "{per_month: 500.00}", {"acme": 500, "probed": 0, "prober": 0, "refused": 0},
                     id="only whoever is charged for usage owes the minimum"),
        pytest.param(11, "{per_month: 500.00, without_use: owed}",
                     {"acme": 500, "quiet": 500, "probed": 500, "prober": 0, "refused": 0},
                     id="whom the book names owes it without entries too, where the book says so, and nobody else"),
    ],
)  # fmt: skip
def test_who_owes_a_minimum(store, tmp_path, month, minimum, expected):
    book = prices(tmp_path, minimum)
    label = f"2026-{month}"
    start = datetime(2026, month, 5, 8, tzinfo=UTC)
    here = {"start": start, "end": start + timedelta(hours=1)}
    probe = a_usage(**here, treatment=Treatment.PROBE)
    usages = [
        a_usage(**here),
        *(replace(probe, tenant=name) for name in ("probed", "prober")),
        a_usage(**here, tenant="refused", treatment=Treatment.REFUSED),
    ]
    rate(store, lambda _: usages, book.months.interval(label), as_of=store.watermark(), prices=book, months=book.months)  # fmt: skip

    def close():
        closing = Closing(
            month=label,
            state=PeriodState.FINAL,
            grace=timedelta(0),
            owing=book.owing_without_use(label),
        )
        return close_month(store, closing, prices=book, months=book.months, now=NOW, currency="CNY")

    numbered = {each.draft.tenant for each in close() if each.draft.facts.get("state") == "final"}
    assert owed(store, label) == expected
    assert numbered == set(expected)
    assert close() == []
