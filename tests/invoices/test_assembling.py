"""A month of the ledger becomes lines: what is alike is one, what was taken back is gone, what is late is a correction."""

from dataclasses import replace
from datetime import date
from fractions import Fraction
from pathlib import Path

import pytest

from billing.charges import charge
from billing.invoices import Issue, statement, statement_data
from billing.ledger.entries import Charged, Draft, EntryKind, Item
from billing.prices import load_price_book
from fairclock.errors import FairclockError
from tests.charges.factories import START, usage

BOOK = load_price_book(Path(__file__).parents[2] / "examples/prices.yaml")
(VERSION,) = BOOK.versions
OCTOBER = BOOK.month("2026-10")
ISSUE = Issue(
    number="7", status="final", issued_on=date(2026, 11, 8), as_of=OCTOBER.end, software_version="0.1.0"
)


def rated(one, *, about="2026-10", period="2026-10", kind=EntryKind.USAGE, times=1):
    charges = tuple(
        Charged(
            kind=each.name,
            quantity=times * each.quantity,
            unit=each.unit_name,
            unit_price=each.price,
            amount=times * each.amount,
        )
        for each in charge(one, VERSION)
    )
    return Draft(
        kind=kind, tenant="acme", start=one.start, end=one.end, period=period, about=about, currency="CNY",
        price_version=VERSION.sha256, items=(Item(usage=one, charges=charges),),
    )  # fmt: skip


def beside(kind, subject, amount, **changes):
    charged = Charged(
        kind=subject.split(":")[0], quantity=Fraction(1), unit="month", unit_price=amount, amount=amount
    )
    values = {
        "kind": kind, "tenant": "acme", "start": START, "end": OCTOBER.end, "period": "2026-10", "about": "2026-10",
        "currency": "CNY", "price_version": VERSION.sha256, "subject": subject, "items": (Item(usage=None, charges=(charged,)),),
    }  # fmt: skip
    return Draft(**(values | changes))


def made_of(*drafts, **changes):
    issue = replace(ISSUE, **changes)
    return statement_data(BOOK, tenant="acme", month="2026-10", interval=OCTOBER, drafts=drafts, issue=issue)


A = usage(model="deepseek-v4", requests=10, completion_tokens=1000, machine="NVIDIA H200")
B = usage(hour=3, model="deepseek-v4", requests=5, completion_tokens=500, machine="NVIDIA H200")


def shown(data):
    return [(each.section, each.kind, each.quantity, each.net) for each in data.lines]


def test_what_is_alike_is_one_line_whatever_the_hour():
    assert shown(made_of(rated(A), rated(B))) == [
        ("charges", "requests", 15, Fraction("0.0045")),
        ("charges", "completion", Fraction("0.0015"), Fraction("0.003")),
    ]


def test_what_was_taken_back_in_the_month_is_gone():
    assert shown(made_of(rated(A), rated(A, kind=EntryKind.REVERSAL, times=-1))) == []


def test_what_is_about_an_earlier_month_is_a_correction():
    data = made_of(rated(A), rated(B, about="2026-09"))
    assert [each.section for each in data.lines] == ["charges", "charges", "corrections", "corrections"]
    assert {each.month for each in data.lines if each.section == "corrections"} == {"2026-09"}


def test_each_treatment_has_lines_of_its_own():
    refused = usage(model="deepseek-v4", requests=3, treatment="refused")
    aborted = usage(model="deepseek-v4", requests=2, completion_tokens=100, treatment="aborted")
    lines = made_of(rated(A), rated(refused), rated(aborted)).lines
    found = [(each.treatment, each.kind, each.quantity, each.net) for each in lines[2:]]
    assert found == [
        ("refused", "requests", 3, 0),
        ("aborted", "requests", 2, 0),
        ("aborted", "completion", Fraction("0.0001"), Fraction("0.0002")),
    ]


def test_what_was_estimated_is_never_on_one_line_with_what_was_measured():
    lines = made_of(rated(A), rated(replace(B, estimated=True))).lines
    assert [each.estimated for each in lines] == [False, False, True, True]


def test_adjustments_and_credits_have_sections_of_their_own():
    facts = {"objective": "availability", "revision": "2", "statement": "6", "contract": "acme-2026"}
    credit = beside(
        EntryKind.CREDIT, "credit-1", Fraction("-12.5"), about="2026-09", price_version="", facts=facts
    )
    lines = made_of(credit, beside(EntryKind.ADJUSTMENT, "minimum", Fraction(3)), rated(A)).lines
    assert [each.section for each in lines] == ["charges", "charges", "adjustments", "credits"]
    last = lines[-1]
    assert (last.net, last.objective, last.revision, last.statement, last.month) == (
        Fraction("-12.5"), "availability", 2, "6", "2026-09",
    )  # fmt: skip
    assert (last.unit_price, last.tax_rate) == (None, Fraction(6, 100))


def test_entries_of_other_months_and_closes_are_not_on_it():
    other = replace(rated(A), period="2026-11")
    close = replace(rated(A), kind=EntryKind.CLOSE, items=())
    assert made_of(other, close).lines == ()


def test_parties_terms_and_hints_come_from_the_price_book():
    data = made_of(rated(A), exchange_to="USD")
    assert (data.issuer.registration_id, data.customer.registration_id) == (
        "91310000MA1FL0XX4K",
        "91310115MA1H8XYZ2Q",
    )
    assert (data.contract, data.order_number, data.due_on) == ("acme-2026", "PO-2026-0117", date(2026, 12, 8))
    assert data.einvoice["tax_classification_code"] == "3040299000000000000"
    assert (data.exchange.source[:14], data.exchange.day) == ("central parity", date(2026, 10, 30))
    assert [each.name for each in data.prices] == ["2026-1"]
    assert statement(data)["totals"]["net"] == "0.01"


def test_a_tenant_that_the_book_does_not_name_has_a_statement_all_the_same():
    data = statement_data(BOOK, tenant="someone", month="2026-10", interval=OCTOBER, drafts=[], issue=ISSUE)
    assert (data.customer, data.due_on, data.einvoice) == (None, None, {})


def test_a_currency_without_a_rate_is_refused():
    with pytest.raises(FairclockError, match="EUR"):
        made_of(rated(A), exchange_to="EUR")


@pytest.mark.parametrize(
    ("times", "kind"),
    [pytest.param(1, "debit_note", id="more is owed"), pytest.param(-1, "credit_note", id="less is owed")],
)
def test_what_only_corrects_earlier_months_is_a_note(times, kind):
    late = rated(B, about="2026-09", times=times)
    data = made_of(late, numbers={"2026-09": "acme-000006", "2026-08": "acme-000005"})
    assert (data.kind, data.corrects) == (kind, "acme-000006")
    both = made_of(late, rated(A), numbers={"2026-09": "acme-000006"})
    assert (both.kind, both.corrects) == ("statement", None)


def test_the_service_period_is_that_of_what_was_used():
    assert made_of(rated(A), rated(B)).service.start == A.start
    assert made_of(rated(A), rated(B)).service.end == B.end
    assert made_of().service == OCTOBER
