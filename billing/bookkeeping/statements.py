"""Own how a month's entries become the statement of charges of one tenant, and that a final one never changes."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from billing.bookkeeping.books import Books, drafts_of, stored_rows
from billing.bookkeeping.credits import credit_entries
from billing.credits import CreditState, credits_at
from billing.invoices import (
    Issue,
    statement,
    statement_data,
    statement_json,
    statement_sha256,
)
from billing.ledger import PeriodState, write_exact
from billing.ledger.periods import NUMBER, STATE
from fairclock.errors import NotEvaluable
from fairclock.store.ledger import (
    INVOICE_COLUMNS,
    EntryChoice,
    booked_months,
    has_simulated_requests,
    keep_row,
    money_rows,
    wait_until_settled,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from billing.ledger import Draft
    from billing.prices.book import PriceBook
    from fairclock.store import Store

_ZERO = Fraction(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Whose statement of which month; what is owed from before, and in which other currency it is shown too.

    opening_balance: None is what was due by the final statement numbered before. simulated: it is about no real service, and
    says so; it does by itself where requests of the month are marked so.
    """

    tenant: str
    month: str
    opening_balance: Fraction | None = None
    also_in: str | None = None
    software_version: str = field(default="")
    simulated: bool = False


def tenants_of(store: Store, books: Books, month: str) -> list[str]:
    """Return the tenants with entries in a month."""
    choice = EntryChoice(period=(month,), beside=books.beside)
    return [tenant for tenant, _ in booked_months(store, books.as_of, choice)]


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
    number = _number(asked.tenant, found)
    issued = None if number is None else _issued(store, asked.tenant, number, store.watermark())
    if issued is not None:
        return issued
    made = _made(store, books, book, asked, found)
    if number is None:
        return made
    stamp = keep_row(
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
    # somebody else may have made it at the same time, with another balance
    return _issued(store, asked.tenant, number, wait_until_settled(store, stamp)) or made


def _issued(store: Store, tenant: str, number: str, as_of: datetime) -> dict[str, Any] | None:
    """Return a final statement as it was made first; None where nobody has made it."""
    kept = money_rows(store, "invoices", INVOICE_COLUMNS, as_of, number=number, tenant=tenant)
    issued: dict[str, Any] | None = json.loads(kept[0]["body"]) if kept else None
    return issued


def _made(
    store: Store, books: Books, book: PriceBook, asked: Asked, found: Sequence[tuple[int, Draft]]
) -> dict[str, Any]:
    """Return the statement of the entries `found`, which are all that are booked in the month."""
    number = _number(asked.tenant, found)
    known_at = books.as_of if number is None else _stored_at(store, books, asked)
    issue = Issue(
        number=number,
        status="draft" if number is None else "final",
        issued_on=None if number is None else known_at.astimezone(book.zone).date(),
        as_of=known_at,
        software_version=asked.software_version,
        opening_balance=_carried(store, books, book, asked)
        if asked.opening_balance is None
        else asked.opening_balance,
        exchange_to=asked.also_in,
        numbers=_numbers(store, books, asked.tenant),
        simulated=asked.simulated
        or has_simulated_requests(store, asked.tenant, book.month(asked.month), known_at),
    )
    made = statement(
        statement_data(
            book,
            tenant=asked.tenant,
            month=asked.month,
            interval=book.month(asked.month),
            drafts=[draft for _, draft in found],
            issue=issue,
        )
    )
    for line in made["lines"]:
        if line["section"] == "credits":
            line.update(_fallen(store, line["subject"], asked.tenant, known_at))
    return made


def _fallen(store: Store, credit_id: str, tenant: str, as_of: datetime) -> dict[str, str]:
    """Return what was granted and what it was computed as since, where that is less: what was granted stays, and both are said."""
    for credit in credits_at(credit_entries(store, as_of, id=credit_id), as_of):
        granted, now = (each.shares.get(tenant, _ZERO) for each in (credit.entry, credit.computed))
        if credit.state is CreditState.GRANTED and now < granted:
            return {"granted": write_exact(granted), "comes_to": write_exact(now)}
    return {}


def _carried(store: Store, books: Books, book: PriceBook, asked: Asked) -> Fraction:
    """Return what was due by the final statement before, by number, in the same currency; 0 where there is none.

    By number and not by month: a month that became final after a later one would be carried to nobody. It need not have been printed:
    where it was, it says so; else it follows from its entries and from what was due before.
    """
    closes = drafts_of(store, books, EntryChoice(tenants=(asked.tenant,), kinds=("close",)))
    finals = [
        draft for _, draft in closes.get(asked.tenant, ()) if draft.facts[STATE] == PeriodState.FINAL
    ]  # in the order of their numbers
    months = [draft.period for draft in finals if draft.currency == book.currency.code]
    if asked.month in months:
        months = months[: months.index(asked.month)]
    printed: dict[str, Fraction] = {}
    for row in money_rows(store, "invoices", INVOICE_COLUMNS, books.as_of, tenant=asked.tenant):
        if row["currency"] == book.currency.code:
            printed.setdefault(row["period"], Fraction(json.loads(row["body"])["totals"]["due"]))
    first = max((place for place, month in enumerate(months) if month in printed), default=-1)
    due = _ZERO if first < 0 else printed[months[first]]
    for month in months[first + 1 :]:
        found = drafts_of(store, books, EntryChoice(tenants=(asked.tenant,), period=(month,)))[asked.tenant]
        earlier = replace(asked, month=month, opening_balance=due, also_in=None)
        due = Fraction(_made(store, books, book, earlier, found)["totals"]["due"])
    return due


def _number(tenant: str, found: Sequence[tuple[int, Draft]]) -> str | None:
    """Return the number of the statement of a month's entries; None while the month is not final."""
    final = next((draft for _, draft in found if draft.facts.get(STATE) == PeriodState.FINAL), None)
    return None if final is None else f"{tenant}-{int(final.facts[NUMBER]):06d}"


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
