"""The tax of a credit: what is given back is the promised share of what was paid, and never taxed twice."""

from __future__ import annotations

from datetime import UTC, datetime
from fractions import Fraction
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from billing.bookkeeping.books import books_at, drafts_of
from billing.bookkeeping.credits import deduct
from billing.credits import TAX, TAX_RATE, TAXED, CreditState
from billing.invoices import Issue, statement, statement_data
from billing.invoices.assembling import lines_of
from billing.ledger import EntryKind
from billing.money import Money
from billing.prices.loading import load_price_book
from fairclock.clauses.quantities import write_percent
from fairclock.store import open_store
from fairclock.store.ledger import EntryChoice
from sla.credits import Earlier, Failed, Fee, compute
from sla.evaluation.charged import Charged
from tests.credits.factories import USD, a_clause, a_credit, an_outcome, some_fees
from tests.invoices.factories import data, line
from tests.ledger.factories import UTC_MONTHS, a_draft
from tests.ledger.test_months_without_use import BOOK

NET_OF_TAX, WITH_TAX = {"fees_of": ["service"], "net_of": ["tax"]}, {"fees_of": ["service"]}
SIX = Fraction(6, 100)
TIMEOUT = Failed(tenant="acme", outcome="timeout", requests=7, cost=Fraction("0.7"))


def whole(base, share="100%", **changes):
    """Return a clause that gives back a share of everything where availability is violated."""
    tiers = [{"objective": "availability", "below": "99.9%", "credit": share}]
    return a_clause(**({"base": base, "tiers": tiers, "cap": None} | changes))


def of(amount, rate=SIX, tenant="acme"):
    return Fee(tenant=tenant, model="m", inference_mode="", amount=Fraction(amount), tax_rate=rate)


def given_back(clause, fees, money=USD, **others):
    return compute(clause, [an_outcome()], fees, money=money, **others).dues


@pytest.mark.parametrize(
    ("base", "fees", "share", "net", "gross"),
    [
        pytest.param(WITH_TAX, [of(1000)], "10%", 100, 106, id="a tenth of the 1,060 that were paid is 106, not 106 and tax on it"),
        pytest.param(NET_OF_TAX, [of(1000)], "10%", 100, 106, id="a tenth of the fees before tax is 100, and its tax goes back with it"),
        pytest.param(WITH_TAX, [of("1.50")], "6%", "0.09", "0.10", id="a share of 1.59 is 0.0954: 0.10 goes back, which no net and 6% of it gives"),
        pytest.param(NET_OF_TAX, [of("1.50")], "6%", "0.09", "0.10", id="a share of 1.50 is 0.09, and 0.0054 of tax are 0.01"),
        pytest.param(WITH_TAX, [of(500), of(500, Fraction(0))], "10%", 100, 103, id="fees at two rates give back tax of what was taxed only"),
    ],
)  # fmt: skip
def test_what_is_given_back(base, fees, share, net, gross):
    (due,) = given_back(whole(base, share), some_fees(fees=tuple(fees)))
    assert (due.amount, due.amount_with_tax) == (Fraction(net), Fraction(gross))


@pytest.mark.parametrize(
    ("base", "amount"),
    [
        pytest.param({"net_of": ["tax"]}, 1000, id="before tax"),
        pytest.param({}, 1060, id="with tax"),
        pytest.param({"net_of": ["tax", "earlier_credits"]}, 760, id="before tax, less what was credited before it"),
        pytest.param({"net_of": ["earlier_credits"]}, Fraction("805.60"), id="with tax, less what was credited and its tax"),
    ],
)  # fmt: skip
def test_the_basis_is_what_the_contract_says(base, amount):
    earlier = (Earlier(tenant="acme", tax_rate=SIX, net=Fraction(240), tax=Fraction("14.40")),)
    (due,) = given_back(
        whole({"fees_of": ["service"]} | base, "10%"), some_fees(fees=(of(1000),), earlier=earlier)
    )
    assert due.basis.amount == amount


def test_what_is_given_back_is_the_net_and_the_tax_that_were_paid_where_amounts_are_rounded_down():
    """1.99 and 0.11 of tax were paid, which is 0.0094 short of 6 %."""
    money = Money(code="XXX", digits=2, rounding="down")
    (due,) = given_back(whole(WITH_TAX), some_fees(fees=(of("1.99"),)), money)
    assert (due.amount, due.amount_with_tax) == (Fraction("1.99"), Fraction("2.10"))


def test_cap_and_minimum_are_in_the_terms_of_the_basis():
    fees = some_fees(fees=(of(1000),))
    (capped,) = given_back(whole(WITH_TAX, cap="50%"), fees)
    (raised,) = given_back(whole(WITH_TAX, "10%", minimum="212"), fees)
    assert (capped.amount_with_tax, raised.amount_with_tax) == (530, 212)


@pytest.mark.parametrize("base", [pytest.param(NET_OF_TAX, id="before tax"), pytest.param(WITH_TAX, id="with tax")])  # fmt: skip
def test_single_failures_give_back_what_such_calls_cost_and_the_tax_on_it(base):
    clause = whole(base, tiers=(), per_failure={"outcomes": ["timeout"], "times_charge": "1"})
    (due,) = given_back(clause, some_fees(fees=(of(1000),)), failures=[TIMEOUT])
    assert (due.amount, due.amount_with_tax) == (Fraction("0.70"), Fraction("0.74"))


AMOUNTS = st.lists(st.fractions(min_value=0, max_value=10**4, max_denominator=10**5), min_size=1, max_size=6)
MONEYS = st.builds(
    Money, code=st.just("XXX"), digits=st.sampled_from([0, 2, 3]),
    rounding=st.sampled_from(["half_up", "half_even", "down"]),
)  # fmt: skip
RATES = st.sampled_from([Fraction(0), Fraction(3, 100), SIX, Fraction(13, 100), Fraction(1, 5)])


def credited(due):
    """Return the lines with which a credit stands on a later statement, at whatever rate that has."""
    return [
        line(section="credits", unit_price=None, net=-each.net, tax=-each.tax, tax_rate=each.tax_rate)
        for each in due.paid
    ]


@settings(deadline=None)
@given(AMOUNTS, AMOUNTS, MONEYS, RATES, st.sampled_from([NET_OF_TAX, WITH_TAX]))
def test_a_credit_of_all_gives_back_exactly_what_was_paid_in_any_currency(amounts, others, money, rate, base):
    """Whatever else is on the statement that it goes off."""

    def owed(*lines):
        return Fraction(statement(data(lines=lines, money=money, exchange=None))["totals"]["gross"])

    paid = owed(*(line(net=each, tax_rate=rate) for each in amounts))
    dues = given_back(whole(base), some_fees(fees=tuple(of(each, rate) for each in amounts)), money)
    assert sum((each.amount_with_tax for each in dues), Fraction(0)) == paid
    if base is WITH_TAX and rate:
        net = Fraction(
            statement(
                data(lines=[line(net=each, tax_rate=rate) for each in amounts], money=money, exchange=None)
            )["totals"]["net"]
        )
        assert sum((each.amount for each in dues), Fraction(0)) == net
    later = [line(net=each, tax_rate=rate) for each in others]
    off = [each for due in dues for each in credited(due)]
    assert owed(*later, *off) == owed(*later) - paid


@settings(deadline=None)
@given(AMOUNTS, MONEYS, RATES, st.integers(1, 100))
def test_a_share_of_what_was_paid_is_that_share_rounded_once(amounts, money, rate, percent):
    fees = some_fees(fees=tuple(of(each, rate) for each in amounts))
    lines = tuple(line(net=each, tax_rate=rate) for each in amounts)
    paid = Fraction(statement(data(lines=lines, money=money, exchange=None))["totals"]["gross"])
    dues = given_back(whole(WITH_TAX, f"{percent}%"), fees, money)
    back = sum((each.amount_with_tax for each in dues), Fraction(0))
    assert back == Fraction(money.rounded(paid * percent / 100))


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    with open_store(f"chdb://{tmp_path_factory.mktemp('store')}") as opened:
        yield opened


def test_a_later_rate_of_tax_does_not_change_what_goes_back(store, tmp_path):
    """Fees of October were taxed at 6 %; the statement that the credit goes off has 9 %."""
    path = tmp_path / "prices.yaml"
    path.write_text(BOOK.read_text().replace("tax: {rate: 6%", "tax: {rate: 9%"))
    book = load_price_book(path)
    (due,) = given_back(whole(WITH_TAX, "10%"), some_fees(fees=(of(1000), of(500, Fraction(0)))))
    taxed = [
        {"tenant": each.tenant, TAX_RATE: write_percent(each.tax_rate), "net": str(each.net), TAX: str(each.tax)}
        for each in due.paid
    ]  # fmt: skip
    credit = a_credit(
        id="cr-taxed", state=CreditState.GRANTED, currency="CNY", amount=due.amount, shares=due.shares,
        facts={"tier": "", TAXED: taxed},
    )  # fmt: skip
    assert len(deduct(store, credit, UTC_MONTHS)) == 2
    assert deduct(store, credit, UTC_MONTHS) == []
    books = books_at(store, store.watermark())
    drafts = [draft for _, draft in drafts_of(store, books, EntryChoice(kinds=(EntryKind.CREDIT,)))["acme"]]
    issue = Issue(
        number=None, status="draft", issued_on=None, as_of=datetime(2026, 12, 1, tzinfo=UTC), software_version=""
    )  # fmt: skip
    made = statement(
        statement_data(
            book, tenant="acme", month="2026-11", interval=book.month("2026-11"), drafts=drafts, issue=issue
        )
    )
    assert (made["totals"]["net"], made["totals"]["gross"]) == ("-150.00", "-156.00")
    assert [(each["tax_rate"], each["net"], each["tax"]) for each in made["lines"]] == [
        ("0%", "-50.00", "0.00"),
        ("6%", "-100.00", "-6.00"),
    ]


def test_what_rests_on_two_versions_of_the_prices_is_taxed_as_its_statement_taxes_it():
    first, last = SIX, Fraction(13, 100)
    rates = {"a": first, "b": last}
    charged = Charged(money=USD, drafts=(), deducted=(), tax_rates=rates)
    minimum = a_draft(kind=EntryKind.ADJUSTMENT, price_version="a,b", subject="minimum")
    versions = [
        SimpleNamespace(sha256=name, name=name, tax=SimpleNamespace(rate=rate))
        for name, rate in rates.items()
    ]
    book = SimpleNamespace(versions=versions)
    taxed = {each.tax_rate for each in lines_of(book, [minimum], versions[-1])}
    assert {charged.tax_rate(minimum)} == taxed == {first}
