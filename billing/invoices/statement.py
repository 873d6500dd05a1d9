"""Own the statement as one dictionary: rounded once, lines that sum to their totals, numbers as text.

The JSON file is the statement; HTML, PDF and CSV are views that read nothing but this dictionary.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from billing.money import chinese_words
from fairclock.clauses.quantities import decimal_text, write_percent
from fairclock.model import utc_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from billing.invoices.data import Exchange, Line, Party, StatementData
    from billing.money import Money
    from fairclock.model import Interval

SCHEMA = "fairclock.statement/1"


def statement(data: StatementData) -> dict[str, Any]:
    """Return the statement; every amount has the currency's digits, and lines sum to the totals."""
    nets = _nets(data.lines, data.money)
    taxes, by_rate = _taxes(data.lines, nets, data.money)
    net, tax = _sum(nets, data.money), _sum(taxes, data.money)
    opening = data.money.rounded(data.opening_balance)
    totals = {
        "net": str(net),
        "tax": str(tax),
        "gross": str(net + tax),
        "by_tax_rate": by_rate,
        "credits": str(
            _sum(
                [n for line, n in zip(data.lines, nets, strict=True) if line.section == "credits"], data.money
            )
        ),
        "opening_balance": str(opening),
        "due": str(opening + net + tax),
        "gross_in_chinese": chinese_words(net + tax),
    }
    return {
        "schema": SCHEMA,
        "is_tax_invoice": False,
        "simulated": data.simulated,
        "kind": data.kind,
        "number": data.number,
        "status": data.status,
        "issued_on": _day(data.issued_on),
        "due_on": _day(data.due_on),
        "corrects": data.corrects,
        "tenant": data.tenant,
        "month": data.month,
        "time_zone": data.time_zone,
        "service_period": _interval(data.service),
        "billing_period": _interval(data.billing),
        "as_of": utc_text(data.as_of),
        "contract": data.contract,
        "order_number": data.order_number,
        "issuer": _party(data.issuer),
        "customer": _party(data.customer),
        "currency": {"code": data.money.code, "digits": data.money.digits, "rounding": data.money.rounding},
        "price_book": {
            "id": data.price_book,
            "versions": [
                {"name": each.name, "sha256": each.sha256, "from": utc_text(each.start)}
                for each in data.prices
            ],
        },
        "tax_name": dict(data.tax_name),
        "lines": [
            _line(number, line, amount, tax_of)
            for number, (line, amount, tax_of) in enumerate(
                zip(data.lines, nets, taxes, strict=True), start=1
            )
        ],
        "totals": totals,
        "exchange": _exchange(data.exchange, net, tax),
        "einvoice": dict(data.einvoice),
        "software_version": data.software_version,
    }


def _nets(lines: Sequence[Line], money: Money) -> list[Decimal]:
    """Return each line's net: lines sum to their rounded sum, beside which stands what gives back a part of another statement."""
    own = iter(money.apportioned([line.net for line in lines if line.tax is None]))
    return [next(own) if line.tax is None else money.rounded(line.net) for line in lines]


def _taxes(
    lines: Sequence[Line], nets: Sequence[Decimal], money: Money
) -> tuple[list[Decimal], list[dict[str, str]]]:
    """Return each line's tax, and the sums by rate: the tax of a rate is that of its printed net, rounded once.

    A line that says its tax keeps it: it gives back that of another statement, and is not of this one's net.
    """
    taxes = [Decimal(0) if line.tax is None else money.rounded(line.tax) for line in lines]
    by_rate = []
    for rate in sorted({line.tax_rate for line in lines}):
        places = [place for place, line in enumerate(lines) if line.tax_rate == rate]
        own = [place for place in places if lines[place].tax is None]
        found = money.apportioned([Fraction(nets[place]) * rate for place in own])
        for place, tax in zip(own, found, strict=True):
            taxes[place] = tax
        net, tax = (_sum([each[place] for place in places], money) for each in (nets, taxes))
        by_rate.append({"rate": write_percent(rate), "net": str(net), "tax": str(tax)})
    return taxes, by_rate


def _sum(amounts: Sequence[Decimal], money: Money) -> Decimal:
    return money.rounded(sum((Fraction(each) for each in amounts), Fraction(0)))


def _line(number: int, line: Line, net: Decimal, tax: Decimal) -> dict[str, Any]:
    return {
        "number": number,
        "section": line.section,
        "kind": line.kind,
        "month": line.month,
        "model": line.model or None,
        "machine": line.machine or None,
        "treatment": line.treatment or None,
        "estimated": line.estimated,
        "price_version": line.price_version or None,
        "subject": line.subject or None,
        "statement": line.statement or None,
        "objective": line.objective or None,
        "revision": line.revision,
        "quantity": decimal_text(line.quantity),
        "unit": line.unit,
        "unit_price": None if line.unit_price is None else decimal_text(line.unit_price),
        "net_exact": decimal_text(line.net),
        "net": str(net),
        "tax_rate": write_percent(line.tax_rate),
        "tax": str(tax),
        "gross": str(net + tax),
    }


def _exchange(exchange: Exchange | None, net: Decimal, tax: Decimal) -> dict[str, Any] | None:
    if exchange is None:
        return None
    rate = Fraction(exchange.rate)
    into = exchange.to.apportioned([Fraction(net) * rate, Fraction(tax) * rate])
    return {
        "to": exchange.to.code,
        "digits": exchange.to.digits,
        "rate": f"{exchange.rate:f}",
        "source": exchange.source,
        "on": exchange.day.isoformat(),
        "net": str(into[0]),
        "tax": str(into[1]),
        "gross": str(_sum(into, exchange.to)),
    }


def _party(party: Party | None) -> dict[str, Any] | None:
    if party is None:
        return None
    return {
        "name": dict(party.name),
        "registration_id": party.registration_id,
        "address": None if party.address is None else dict(party.address),
        "contact": party.contact,
        "bank": party.bank,
    }


def _interval(interval: Interval) -> dict[str, str]:
    return {"from": utc_text(interval.start), "to": utc_text(interval.end)}


def _day(day: Any) -> str | None:
    return None if day is None else day.isoformat()
