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
from fairclock.errors import UsageError
from fairclock.store.ledger import EntryChoice
from tests.ledger.factories import a_usage

BOOK = Path(__file__).parent / "prices.yaml"
NOW = datetime(2026, 12, 30, tzinfo=UTC)


def prices(folder, minimum):
    path = folder / "prices.yaml"
    text = BOOK.read_text().replace("{per_month: 500.00}", minimum).replace("[acme]", "[acme, quiet, probed]")
    path.write_text(text)
    return BookPrices(load_price_book(path))


def written(folder, old, new):
    path = folder / "prices.yaml"
    path.write_text(path.read_text().replace(old, new))
    return path


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


def test_a_month_is_not_final_before_a_quiet_one_that_owes(store, tmp_path):
    """Its number would come after that of the later month, and what is late for it would have no month to go to."""
    book = prices(tmp_path, "{per_month: 500.00, without_use: owed}")
    book = BookPrices(load_price_book(written(tmp_path, "[acme, quiet, probed]", "[still, came, old]")))
    hour = {"start": datetime(2027, 3, 5, 8, tzinfo=UTC), "end": datetime(2027, 3, 5, 9, tzinfo=UTC)}
    april = {"start": datetime(2027, 4, 5, 8, tzinfo=UTC), "end": datetime(2027, 4, 5, 9, tzinfo=UTC)}
    for label, used in (
        ("2027-03", a_usage(**hour, tenant="old")),
        ("2027-04", a_usage(**april, tenant="still")),
    ):
        rate(store, lambda _, used=used: [used], book.months.interval(label), as_of=store.watermark(), prices=book, months=book.months)  # fmt: skip

    def close(label, *tenants):
        closing = Closing(
            month=label, state=PeriodState.FINAL, grace=timedelta(0), tenants=tenants,
            owing=book.owing_without_use(label),
            owing_before={key: owing for key, owing in book.owing_before(label).items() if key >= "2027-03"},
        )  # fmt: skip
        return close_month(
            store, closing, prices=book, months=book.months, now=NOW + timedelta(days=365), currency="CNY"
        )

    with pytest.raises(
        UsageError, match=r"follows one of still that is not final \(2027-03\); close 2027-03 first"
    ):
        close("2027-04", "still")
    close("2027-03", "still", "old")
    finals = [each.draft.facts.get("number") for each in close("2027-04", "still")]
    assert "2" in finals
    # it was not in the book when March became final
    assert close("2027-04", "came")
    with pytest.raises(UsageError, match="2027-04"):
        close("2027-05", "old")
