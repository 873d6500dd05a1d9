"""Own how a month of a tenant's ledger becomes the exact lines of a statement: what is alike is one line.

An entry and what took it back in the same month cancel out. What is about an earlier month, whose statement is final, is
a correction.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta
from fractions import Fraction
from typing import TYPE_CHECKING

from billing.credits import TAX, TAX_RATE
from billing.invoices.data import Exchange, Line, Party, PricesUsed, StatementData
from billing.ledger.entries import EntryKind
from billing.ledger.exact import read_exact
from billing.money import Money
from billing.prices.clauses import Kind
from billing.usage.groups import Treatment
from fairclock.clauses.quantities import read_percent
from fairclock.errors import NotEvaluable
from fairclock.model import Interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import date, datetime
    from typing import Literal

    from billing.invoices.data import Section, StatementKind
    from billing.ledger.entries import Charged, Draft, Item
    from billing.prices.book import PriceBook
    from billing.prices.parties import Customer, Issuer, Names
    from billing.prices.version import PriceVersion

_SECTIONS: tuple[Section, ...] = ("charges", "adjustments", "corrections", "credits")
_TREATMENTS = [Treatment.COMPLETED, *(each for each in Treatment if each is not Treatment.COMPLETED)]
_INSTANT = timedelta(microseconds=1)
_ZERO = Fraction(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Issue:
    """What is said of a statement beside the ledger: its number, its days, what is owed from before.

    exchange_to: a currency of the price book's rates, in which the total is shown too. numbers: of the tenant's final
        statements, by month, for what corrects them.
    """

    number: str | None
    status: Literal["draft", "final"]
    issued_on: date | None
    as_of: datetime
    software_version: str
    opening_balance: Fraction = Fraction(0)
    exchange_to: str | None = None
    numbers: Mapping[str, str] = field(default_factory=dict)
    simulated: bool = False


def statement_data(
    book: PriceBook, *, tenant: str, month: str, interval: Interval, drafts: Iterable[Draft], issue: Issue
) -> StatementData:
    """Return what a statement says of the entries that are booked in a month.

    Raises NotEvaluable where they come to something in another currency than the book's, or in a currency without a rate.
    """
    booked = [draft for draft in drafts if draft.period == month and draft.kind is not EntryKind.CLOSE]
    last = book.version_at(interval.end - _INSTANT) or book.versions[0]
    booked = _of_currency(book, booked, last, where=f"{tenant}, {month}")
    customer = book.customer_of(tenant)
    due = None
    if issue.issued_on is not None and customer is not None and customer.due_days is not None:
        due = issue.issued_on + timedelta(days=customer.due_days)
    lines = lines_of(book, booked, last)
    kind, corrects = _kind(lines, issue.numbers)
    return StatementData(
        kind=kind,
        number=issue.number,
        status=issue.status,
        tenant=tenant,
        month=month,
        time_zone=book.time_zone,
        service=_service(booked, interval),
        billing=interval,
        as_of=issue.as_of,
        money=book.money,
        tax_name={} if last.tax.name is None else _names(last.tax.name),
        issuer=None if book.issuer is None else _issuer(book.issuer),
        customer=None if customer is None else _customer(customer),
        price_book=book.id,
        prices=_prices_used(book, booked),
        lines=lines,
        corrects=corrects,
        software_version=issue.software_version,
        issued_on=issue.issued_on,
        due_on=due,
        contract=None if customer is None else customer.contract,
        order_number=None if customer is None else customer.order_number,
        opening_balance=issue.opening_balance,
        exchange=_exchange(book, issue.exchange_to, interval),
        einvoice={}
        if customer is None or customer.einvoice is None
        else customer.einvoice.model_dump(exclude_none=True),
        simulated=issue.simulated,
    )


def _of_currency(book: PriceBook, booked: list[Draft], last: PriceVersion, *, where: str) -> list[Draft]:
    """Return the entries in the book's currency; those of others have to cancel out, as where a month was rated again."""
    currency = book.currency.code
    for other in sorted({draft.currency for draft in booked} - {currency}):
        if lines_of(book, [draft for draft in booked if draft.currency == other], last):
            raise NotEvaluable(
                where,
                f"its entries are not all in the currency of price book {book.id}, {currency}",
                found=f"entries in {other}",
                remedy="rate the month by one price book; a final month has to be stated by the one that it was rated by",
            )
    return [draft for draft in booked if draft.currency == currency]


def lines_of(book: PriceBook, drafts: Iterable[Draft], last: PriceVersion) -> tuple[Line, ...]:
    """Return exact lines in the order in which they are printed; `last` gives the tax of what has no version."""
    versions = {each.sha256: each for each in book.versions}
    sums: dict[Line, tuple[Fraction, Fraction, Fraction]] = {}
    for draft in drafts:
        version = versions.get(draft.price_version.partition(",")[0])
        tax = _tax_said(draft)
        for item in draft.items:
            for charge in item.charges:
                alike = _line(draft, item, charge, version or last, known=version is not None)
                quantity, net, taxes = sums.get(alike, (_ZERO, _ZERO, _ZERO))
                sums[alike] = (quantity + charge.quantity, net + charge.amount, taxes + (tax or _ZERO))
    found = [
        replace(line, quantity=quantity, net=net, tax=None if line.tax is None else tax)
        for line, (quantity, net, tax) in sums.items()
        if quantity or net
    ]
    return tuple(sorted(found, key=lambda line: _order(line, list(versions.values()))))


def _line(draft: Draft, item: Item, charge: Charged, version: PriceVersion, *, known: bool) -> Line:
    """Return a line without its sums: two that are equal are one on the statement."""
    usage, section = item.usage, _section(draft, item)
    is_credit = section == "credits"
    revision = draft.facts.get("revision", "") if is_credit else ""
    return Line(
        section=section,
        kind=charge.kind,
        month=draft.about,
        quantity=Fraction(0),
        unit=charge.unit,
        unit_price=None if usage is None else charge.unit_price,
        net=Fraction(0),
        tax_rate=version.tax.rate if _tax_said(draft) is None else read_percent(draft.facts[TAX_RATE]),
        tax=None if _tax_said(draft) is None else _ZERO,
        model="" if usage is None else usage.model,
        machine=usage.machine if usage is not None and charge.kind.endswith(Kind.GPU_SECONDS) else "",
        treatment="" if usage is None else str(usage.treatment),
        estimated=usage is not None and usage.estimated,
        price_version=version.name if known and usage is not None else "",
        subject="" if usage is not None else draft.subject,
        statement=draft.facts.get("statement", "") if is_credit else "",
        objective=draft.facts.get("objective", "") if is_credit else "",
        revision=int(revision) if revision.isdigit() else None,
    )


def _tax_said(draft: Draft) -> Fraction | None:
    """Return the tax of a credit that says its own; such an entry has one charge."""
    said = draft.facts.get(TAX) if draft.kind is EntryKind.CREDIT else None
    return None if said is None else -read_exact(said)


def _kind(lines: Sequence[Line], numbers: Mapping[str, str]) -> tuple[StatementKind, str | None]:
    """Return what the statement is: a note where it only corrects earlier months, and the numbers that it corrects."""
    corrected = sorted({line.month for line in lines if line.section == "corrections"})
    if not corrected or any(line.section != "corrections" for line in lines):
        return "statement", None
    named = ", ".join(numbers[month] for month in corrected if month in numbers)
    total = sum((line.net for line in lines), Fraction(0))
    return "credit_note" if total < 0 else "debit_note", named or None


def _service(drafts: Sequence[Draft], month: Interval) -> Interval:
    """Return the time that the charges are about; the month itself where there are none."""
    used = [draft for draft in drafts if any(item.usage is not None for item in draft.items)]
    if not used:
        return month
    return Interval(start=min(each.start for each in used), end=max(each.end for each in used))


def _section(draft: Draft, item: Item) -> Section:
    if draft.kind is EntryKind.CREDIT:
        return "credits"
    if draft.about != draft.period:
        return "corrections"
    return "adjustments" if item.usage is None else "charges"


def _order(line: Line, versions: Sequence[PriceVersion]) -> tuple[object, ...]:
    kinds = [str(kind) for kind in Kind]
    kind = line.kind.removeprefix("unpriced_")
    names = [each.name for each in versions]
    return (
        _SECTIONS.index(line.section),
        line.month,
        line.model,
        _TREATMENTS.index(Treatment(line.treatment)) if line.treatment else 0,
        line.estimated,
        kinds.index(kind) if kind in kinds else len(kinds),
        line.kind,
        names.index(line.price_version) if line.price_version in names else -1,
        line.machine,
        line.subject,
        line.objective,
        line.unit_price if line.unit_price is not None else Fraction(-1),
        line.unit,
    )


def _prices_used(book: PriceBook, drafts: Sequence[Draft]) -> tuple[PricesUsed, ...]:
    used = {sha256 for draft in drafts for sha256 in draft.price_version.split(",")}
    return tuple(
        PricesUsed(name=each.name, sha256=each.sha256, start=each.start)
        for each in book.versions
        if each.sha256 in used
    )


def _exchange(book: PriceBook, to: str | None, interval: Interval) -> Exchange | None:
    if to is None:
        return None
    rate = book.exchange_rate(to, until=interval.end)
    if rate is None:
        raise NotEvaluable(
            f"price book {book.id}",
            f"has no exchange rate to {to} of a day before the month's end",
            remedy="add one to its exchange_rates, with its source and day",
        )
    money = Money(code=rate.to, digits=rate.digits, rounding=book.rounding)
    return Exchange(to=money, rate=rate.rate, source=rate.source, day=rate.day)


def _issuer(issuer: Issuer) -> Party:
    return Party(
        name=_names(issuer.name),
        registration_id=issuer.registration_id,
        address=None if issuer.address is None else _names(issuer.address),
        contact=issuer.contact,
        bank=issuer.bank,
    )


def _customer(customer: Customer) -> Party:
    return Party(
        name=_names(customer.name),
        registration_id=customer.registration_id,
        address=None if customer.address is None else _names(customer.address),
    )


def _names(names: Names) -> dict[str, str]:
    return {code: text for code, text in (("en", names.en), ("zh", names.zh)) if text is not None}
