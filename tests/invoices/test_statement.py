"""The statement is rounded once: its lines sum to its totals, in 0, 2 and 3 digits, taxes and credits included."""

import json
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from billing.invoices import statement, statement_json, statement_sha256
from billing.money import Money
from tests.invoices.factories import CNY, data, line

nets = st.fractions(min_value=-(10**5), max_value=10**5, max_denominator=10**6)
rates = st.sampled_from([Fraction(0), Fraction(3, 100), Fraction(6, 100), Fraction(13, 100)])
lines = st.lists(st.builds(lambda net, rate: line(net=net, tax_rate=rate), nets, rates), max_size=15)
digits = st.sampled_from([0, 2, 3])
roundings = st.sampled_from(["half_up", "half_even", "down"])


def summed(made, key):
    return sum((Decimal(each[key]) for each in made["lines"]), Decimal(0))


@settings(deadline=None)
@given(lines, digits, roundings)
def test_printed_lines_sum_to_the_printed_totals(many, places, rounding):
    money = Money(code="XXX", digits=places, rounding=rounding)
    made = statement(data(lines=tuple(many), money=money, exchange=None))
    totals = made["totals"]
    for key in ("net", "tax", "gross"):
        assert summed(made, key) == Decimal(totals[key])
        assert Decimal(totals[key]).as_tuple().exponent == -places
    assert Decimal(totals["net"]) == money.rounded(sum((each.net for each in many), Fraction(0)))
    assert Decimal(totals["net"]) + Decimal(totals["tax"]) == Decimal(totals["gross"])
    for each in totals["by_tax_rate"]:
        rate = Fraction(each["rate"].removesuffix("%")) / 100
        assert Decimal(each["tax"]) == money.rounded(Fraction(each["net"]) * rate)


def test_the_statement_of_october():
    made = statement(data())
    assert made["totals"] == {
        "net": "2274.82",
        "tax": "136.49",
        "gross": "2411.31",
        "by_tax_rate": [{"rate": "6%", "net": "2274.82", "tax": "136.49"}],
        "credits": "-120.50",
        "opening_balance": "10.00",
        "due": "2421.31",
        "gross_in_chinese": "贰仟肆佰壹拾壹元叁角壹分",
    }
    assert made["exchange"] == {
        "to": "USD",
        "digits": 2,
        "rate": "0.1402",
        "source": "central parity, CFETS",
        "on": "2026-10-30",
        "net": "318.93",
        "tax": "19.14",
        "gross": "338.07",
    }
    assert made["is_tax_invoice"] is False
    assert [each["net"] for each in made["lines"] if each["section"] == "credits"] == ["-120.50"]


def test_a_credit_of_whole_cents_is_never_moved_by_rounding():
    """The remainder goes to lines that have one."""
    many = [line(net=Fraction(1, 3)) for _ in range(7)]
    credit = line(section="credits", net=Fraction("-0.50"), unit_price=None)
    made = statement(data(lines=(*many, credit)))
    assert made["lines"][-1]["net"] == "-0.50"
    assert made["totals"]["net"] == "1.83"


def test_the_json_holds_no_float_and_always_the_same_bytes():
    text = statement_json(statement(data()))

    def refuse(number):
        raise AssertionError(number)

    read = json.loads(text, parse_float=refuse)
    assert read == statement(data())
    assert statement_sha256(statement(data())) == statement_sha256(read)
    assert text.endswith(b"}\n")


def test_every_element_of_the_contract_is_there():
    made = statement(data())
    for key in (
        "number", "status", "issued_on", "due_on", "contract", "order_number", "service_period", "billing_period",
        "price_book", "currency", "exchange", "einvoice",
    ):  # fmt: skip
        assert made[key], key
    for party in ("issuer", "customer"):
        assert made[party]["name"]["zh"]
        assert made[party]["registration_id"]
    for key in ("quantity", "unit", "net", "tax_rate", "tax"):
        assert all(each[key] for each in made["lines"]), key
    (credit,) = [each for each in made["lines"] if each["section"] == "credits"]
    assert (credit["statement"], credit["objective"], credit["revision"]) == (
        "FC-2026-000041",
        "availability",
        2,
    )


@pytest.mark.parametrize(
    ("net", "words"),
    [("1000", "壹仟零陆拾元整"), ("-20", "负贰拾壹元贰角整"), ("0", "零元整")],
)
def test_the_total_in_chinese_words(net, words):
    made = statement(data(lines=(line(net=Fraction(net)),)))
    assert made["totals"]["gross_in_chinese"] == words


def test_a_statement_of_nothing_owes_its_opening_balance():
    made = statement(replace(data(), lines=(), exchange=None, money=CNY))
    assert (made["totals"]["gross"], made["totals"]["due"], made["totals"]["by_tax_rate"]) == (
        "0.00",
        "10.00",
        [],
    )
