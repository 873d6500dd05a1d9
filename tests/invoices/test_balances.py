"""What is carried from one month's statement to the next, printed or not, and that currencies are never mixed."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

import pytest

from billing.bookkeeping import statements
from billing.bookkeeping.books import books_at, post
from billing.bookkeeping.statements import Asked, statement_of
from billing.invoices import statement_data
from billing.ledger import Charged, Draft, EntryKind, Item
from billing.ledger.periods import NUMBER, STATE
from billing.prices import load_price_book
from fairclock.errors import NotEvaluable
from fairclock.store import open_store
from tests.invoices.test_assembling import ISSUE, OCTOBER, A, made_of, rated, shown

BOOK = load_price_book(Path(__file__).parents[2] / "examples/prices.yaml")
MONTHS = ("2026-07", "2026-08", "2026-09", "2026-10")
NET = {"2026-07": "100", "2026-08": "10.005", "2026-09": "-1", "2026-10": "7"}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    with open_store(f"chdb://{tmp_path_factory.mktemp('store')}") as opened:
        yield opened


def month_of(tenant, month, number, *, currency="CNY"):
    """Return the entries of a final month: an amount, and its close."""
    start = datetime(2026, int(month[5:]), 5, tzinfo=UTC)
    net = Fraction(NET[month])
    charged = Charged(kind="minimum", quantity=Fraction(1), unit="month", unit_price=net, amount=net)
    owes = Draft(
        kind=EntryKind.ADJUSTMENT, tenant=tenant, start=start, end=start, period=month, about=month, currency=currency,
        subject="minimum", items=(Item(usage=None, charges=(charged,)),),
    )  # fmt: skip
    facts = {STATE: "final", NUMBER: str(number), "final_from": ""}
    return [owes, replace(owes, kind=EntryKind.CLOSE, items=(), subject="final", facts=facts)]


def billed(store, tenant, printed, *, currency="CNY", opening=None):
    """Close four months, print the statements of some, and return October's totals."""
    drafts = [
        each
        for number, month in enumerate(MONTHS, 1)
        for each in month_of(
            tenant, month, number, currency=currency if month != "2026-10" else "CNY"
        )
    ]  # fmt: skip
    post(store, lambda books: [] if tenant in books.heads else drafts)
    books = books_at(store, store.watermark())
    for month in printed:
        statement_of(
            store, books, BOOK, Asked(tenant=tenant, month=month, opening_balance=(opening or {}).get(month))
        )
    books = books_at(store, store.watermark())
    return statement_of(store, books, BOOK, Asked(tenant=tenant, month="2026-10"))["totals"]


@pytest.mark.parametrize(
    "printed",
    [
        pytest.param([month for month, is_printed in zip(MONTHS, which, strict=False) if is_printed], id=f"printed {which}")
        for which in ((False, False, False), (True, False, False), (False, True, False), (True, False, True))
    ],
)  # fmt: skip
def test_what_is_owed_from_before_is_the_same_whichever_statements_were_printed(store, printed):
    totals = billed(store, f"tenant-{len(printed)}-{'-'.join(printed)}", printed)
    # 106.00, 10.01 and 0.60 of tax, less 1.06
    assert (totals["opening_balance"], totals["due"]) == ("115.55", "122.97")


def test_what_a_printed_statement_says_was_owed_holds(store):
    """July was paid: August's statement was printed with nothing owed from before, September's never."""
    totals = billed(store, "paid", ["2026-07", "2026-08"], opening={"2026-08": Fraction(0)})
    assert totals["opening_balance"] == "9.55"


def test_of_two_who_print_a_statement_at_once_both_get_the_one_that_is_kept(store, monkeypatch):
    billed(store, "raced", ["2026-08"])
    real, books = statements.keep_row, books_at(store, store.watermark())
    asked = Asked(tenant="raced", month="2026-09")

    def somebody_else_first(*row):
        monkeypatch.undo()
        statement_of(store, books, BOOK, replace(asked, opening_balance=Fraction(3)))
        return real(*row)

    monkeypatch.setattr(statements, "keep_row", somebody_else_first)
    for _ in range(2):
        assert statement_of(store, books, BOOK, asked)["totals"]["opening_balance"] == "3.00"


@pytest.mark.parametrize(
    "is_printed", [True, False], ids=["printed as they became final", "printed at the end"]
)
def test_a_month_that_became_final_after_a_later_one_is_carried_all_the_same(store, is_printed):
    """As a quiet month that owes a minimum is, or one whose logs were imported late; 122.97 is owed in all."""
    tenant = f"late-{is_printed}"
    order = ("2026-07", "2026-09", "2026-08", "2026-10")
    for number, month in enumerate(order, 1):
        drafts = month_of(tenant, month, number)
        post(
            store,
            lambda books, drafts=drafts, before=2 * number - 2: (
                drafts if _reach(books, tenant) == before else []
            ),
        )
        if is_printed:
            statement_of(store, books_at(store, store.watermark()), BOOK, Asked(tenant=tenant, month=month))
    books = books_at(store, store.watermark())
    made = [
        statement_of(store, books, BOOK, Asked(tenant=tenant, month=month))["totals"]
        for month in reversed(order)
    ][::-1]
    assert [each["opening_balance"] for each in made] == ["0.00", "106.00", "104.94", "115.55"]
    assert made[-1]["due"] == "122.97"


def _reach(books, tenant):
    return books.heads[tenant].sequence if tenant in books.heads else 0


def test_months_of_another_currency_are_not_carried_over(store):
    assert billed(store, "moved", [], currency="USD")["opening_balance"] == "0.00"


def test_entries_of_two_currencies_are_never_summed():
    with pytest.raises(NotEvaluable, match=r"entries in USD"):
        made_of(rated(A), replace(rated(A), currency="USD"))


def test_entries_in_another_currency_than_the_book_s_are_never_called_its_own():
    with pytest.raises(NotEvaluable, match=r"entries in USD"):
        statement_data(
            BOOK,
            tenant="acme",
            month="2026-10",
            interval=OCTOBER,
            drafts=[replace(rated(A), currency="USD")],
            issue=ISSUE,
        )


def test_what_was_rated_in_another_currency_and_taken_back_is_not_on_the_statement():
    other = [rated(A), rated(A, kind=EntryKind.REVERSAL, times=-1)]
    data = made_of(rated(A), *(replace(each, currency="USD") for each in other))
    assert shown(data) == shown(made_of(rated(A)))
