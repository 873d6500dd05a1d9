"""Own how a month's entries become the statement of charges of one tenant, and that a final one never changes."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import timedelta
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from billing.bookkeeping.books import Books, drafts_of, stored_rows
from billing.bookkeeping.closing import NUMBER
from billing.invoices import (
    Exchange,
    Line,
    Party,
    PricesUsed,
    StatementData,
    statement,
    statement_json,
    statement_sha256,
)
from billing.ledger import Draft, EntryKind, PeriodState
from billing.ledger.periods import STATE
from billing.money import Money
from fairclock.errors import NotEvaluable
from fairclock.model import Interval
from fairclock.store.ledger import INVOICE_COLUMNS, EntryChoice, keep_row, money_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from billing.ledger import Charged, Item
    from billing.prices.book import PriceBook
    from billing.prices.version import PriceVersion
    from fairclock.store import Store

_ZERO = Fraction(0)
_ORDER = {"charges": 0, "adjustments": 1, "corrections": 2, "credits": 3}


@dataclass(slots=True)
class _Sum:
    quantity: Fraction = _ZERO
    net: Fraction = _ZERO


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Whose statement of which month; what is owed from before, and in which other currency it is shown too."""

    tenant: str
    month: str
    opening_balance: Fraction = _ZERO
    also_in: str | None = None
    software_version: str = field(default="")


def tenants_of(store: Store, books: Books, month: str) -> list[str]:
    """Return the tenants with entries in a month."""
    return sorted(drafts_of(store, books, EntryChoice(period=(month,))))


def statement_of(store: Store, books: Books, book: PriceBook, asked: Asked) -> dict[str, Any]:
    """Return the statement; that of a final month as it was made first, whatever the program is now.

    Raises NotEvaluable where the tenant has no entries in that month.
    """
    found = drafts_of(store, books, EntryChoice(tenants=(asked.tenant,), period=(asked.month,))).get(
        asked.tenant, []
    )
    if not found:
        raise NotEvaluable(
            f"{asked.tenant}, {asked.month}",
            "nothing is in the ledger",
            remedy="run fairclock ledger rate first",
        )
    final = next((draft for _, draft in found if draft.facts.get(STATE) == PeriodState.FINAL), None)
    number = None if final is None else f"{asked.tenant}-{int(final.facts[NUMBER]):06d}"
    if number is not None:
        kept = money_rows(
            store, "invoices", INVOICE_COLUMNS, store.watermark(), number=number, tenant=asked.tenant
        )
        if kept:
            issued: dict[str, Any] = json.loads(kept[0]["body"])
            return issued
    known_at = books.as_of if final is None else _stored_at(store, books, asked)
    made = statement(
        _data(book, asked, found, number, known_at=known_at, numbers=_numbers(store, books, asked.tenant))
    )
    if number is not None:
        keep_row(
            store,
            "invoices",
            {
                "number": number,
                "tenant": asked.tenant,
                "period": asked.month,
                "kind": made["kind"],
                "currency": book.currency.code,
                "sha256": statement_sha256(made),
                "body": statement_json(made).decode(),
            },
        )
    return made


def _data(
    book: PriceBook,
    asked: Asked,
    found: Sequence[tuple[int, Draft]],
    number: str | None,
    *,
    known_at: datetime,
    numbers: Mapping[str, str],
) -> StatementData:
    drafts = [draft for _, draft in found if draft.kind is not EntryKind.CLOSE]
    month = book.month(asked.month)
    lines = _lines(book, drafts, month)
    customer = book.customer_of(asked.tenant)
    issued_on = None if number is None else known_at.astimezone(book.zone).date()
    due_days = None if customer is None else customer.due_days
    kind, corrects = _kind(lines, numbers)
    last = book.version_at(month.end - timedelta(microseconds=1)) or book.versions[0]
    return StatementData(
        kind=kind,
        number=number,
        status="draft" if number is None else "final",
        tenant=asked.tenant,
        month=asked.month,
        time_zone=book.time_zone,
        service=_service(drafts, month),
        billing=month,
        as_of=known_at,
        money=book.money,
        tax_name={} if last.tax.name is None else last.tax.name.model_dump(exclude_none=True),
        issuer=_party(book.issuer),
        customer=_party(customer),
        price_book=book.id,
        prices=_prices(book, lines),
        lines=tuple(lines),
        software_version=asked.software_version,
        issued_on=issued_on,
        due_on=None if issued_on is None or due_days is None else issued_on + timedelta(days=due_days),
        contract=None if customer is None else customer.contract,
        order_number=None if customer is None else customer.order_number,
        corrects=corrects,
        opening_balance=asked.opening_balance,
        exchange=_exchange(book, asked.also_in, month),
        einvoice={}
        if customer is None or customer.einvoice is None
        else customer.einvoice.model_dump(exclude_none=True),
    )


def _lines(book: PriceBook, drafts: Iterable[Draft], month: Interval) -> list[Line]:
    """Return a line for each kind of charge, price and treatment; what was taken back is gone from them."""
    sums: dict[tuple[Any, ...], _Sum] = {}
    for draft in drafts:
        section = _section(draft)
        for item in draft.items:
            for charge in item.charges:
                found = sums.setdefault(_key(section, draft, item, charge), _Sum())
                found.quantity += charge.quantity
                found.net += charge.amount
    lines = [_line(book, month, key, found) for key, found in sums.items() if found.net or found.quantity]
    return sorted(
        lines,
        key=lambda each: (
            _ORDER[each.section],
            each.month,
            each.model,
            each.treatment,
            each.price_version,
            each.kind,
            each.subject,
        ),
    )


def _section(draft: Draft) -> str:
    if draft.kind is EntryKind.CREDIT:
        return "credits"
    if draft.about != draft.period:
        return "corrections"
    return "adjustments" if all(item.usage is None for item in draft.items) else "charges"


def _key(section: str, draft: Draft, item: Item, charge: Charged) -> tuple[Any, ...]:
    usage = item.usage
    of: tuple[Any, ...] = (None, "", "", "", False)
    if usage is not None:
        machine = usage.machine if charge.kind.endswith("gpu_seconds") else ""
        of = (charge.unit_price, usage.model, machine, str(usage.treatment), usage.estimated)
    return (
        section,
        charge.kind,
        draft.about,
        charge.unit,
        *of,
        draft.price_version,
        draft.subject,
        draft.facts.get("statement", ""),
        draft.facts.get("objective", ""),
        draft.facts.get("revision", ""),
    )


def _line(book: PriceBook, month: Interval, key: tuple[Any, ...], found: _Sum) -> Line:
    (
        section,
        kind,
        about,
        unit,
        price,
        model,
        machine,
        treatment,
        estimated,
        sha256,
        subject,
        number,
        objective,
        revision,
    ) = key
    version = _version(book, sha256, month)
    return Line(
        section=section,
        kind=kind,
        month=about,
        quantity=found.quantity,
        unit=unit,
        unit_price=price,
        net=found.net,
        tax_rate=version.tax.rate,
        model=model,
        machine=machine,
        treatment=treatment,
        estimated=estimated,
        price_version=version.name if sha256 else "",
        subject=subject,
        statement=number,
        objective=objective,
        revision=int(revision) if revision else None,
    )


def _version(book: PriceBook, sha256: str, month: Interval) -> PriceVersion:
    """Return the version that an entry rests on; of several (an adjustment's) the last, of none the month's last."""
    last = sha256.rpartition(",")[2]
    named = next((each for each in book.versions if each.sha256 == last), None)
    return named or book.version_at(month.end - timedelta(microseconds=1)) or book.versions[0]


def _prices(book: PriceBook, lines: Iterable[Line]) -> tuple[PricesUsed, ...]:
    used = {line.price_version for line in lines}
    return tuple(
        PricesUsed(name=each.name, sha256=each.sha256, start=each.start)
        for each in book.versions
        if each.name in used
    )


def _kind(lines: Sequence[Line], numbers: Mapping[str, str]) -> tuple[Any, str | None]:
    """Return what the statement is: a note where it only corrects earlier months, and the number that it corrects."""
    corrected = sorted({line.month for line in lines if line.section == "corrections"})
    if not corrected or any(line.section != "corrections" for line in lines):
        return "statement", None
    total = sum((line.net for line in lines), _ZERO)
    named = ", ".join(numbers[each] for each in corrected if each in numbers)
    return "credit_note" if total < 0 else "debit_note", named or None


def _service(drafts: Sequence[Draft], month: Interval) -> Interval:
    """Return the time that the charges are about; the month itself where there are none."""
    usage = [each for each in drafts if any(item.usage is not None for item in each.items)]
    if not usage:
        return month
    return Interval(start=min(each.start for each in usage), end=max(each.end for each in usage))


def _party(clause: Any) -> Party | None:
    if clause is None:
        return None
    return Party(
        name=clause.name.model_dump(exclude_none=True),
        registration_id=clause.registration_id,
        address=None if clause.address is None else clause.address.model_dump(exclude_none=True),
        contact=getattr(clause, "contact", None),
        bank=getattr(clause, "bank", None),
    )


def _exchange(book: PriceBook, currency: str | None, month: Interval) -> Exchange | None:
    if currency is None:
        return None
    rate = book.exchange_rate(currency, until=month.end)
    if rate is None:
        raise NotEvaluable(
            f"price book {book.id}",
            f"has no exchange rate to {currency} of a day before the month's end",
            remedy="add it under exchange_rates, with its source and day",
        )
    money = Money(code=rate.to, digits=rate.digits, rounding=book.rounding)
    return Exchange(to=money, rate=rate.rate, source=rate.source, day=rate.day)


def _numbers(store: Store, books: Books, tenant: str) -> dict[str, str]:
    """Return the numbers of a tenant's final statements, by month."""
    closes = drafts_of(store, books, EntryChoice(tenants=(tenant,), kinds=("close",))).get(tenant, ())
    return {
        draft.period: f"{tenant}-{int(draft.facts[NUMBER]):06d}"
        for _, draft in closes
        if draft.facts[STATE] == PeriodState.FINAL
    }


def _stored_at(store: Store, books: Books, asked: Asked) -> datetime:
    rows = stored_rows(
        store,
        books.as_of,
        EntryChoice(tenants=(asked.tenant,), period=(asked.month,), kinds=("close",), beside=books.beside),
    )
    return rows[-1].stored_at
