"""Own what the ledger says of one contract's month: its tenants' charges, their currency, their tax."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from billing.bookkeeping.books import books_at, drafts_of
from billing.credits import TAX, TAX_RATE
from billing.ledger import Draft, EntryKind, read_exact
from billing.money import Money
from fairclock.clauses.quantities import read_percent
from fairclock.store.ledger import PRICE_COLUMNS, EntryChoice, money_rows
from sla.credits import Earlier

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from billing.bookkeeping.books import Books
    from fairclock.model import Interval
    from sla.contracts import Contract
    from sla.evaluation.rows import Requests

_ZERO = Fraction(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Charged:
    """A month's entries, by tenant, credits apart, and how amounts are paid.

    deducted: what credits took off the statement of the same month. tax_rates: by the hash of a price version.
    """

    money: Money
    drafts: tuple[Draft, ...]
    deducted: tuple[Earlier, ...]
    tax_rates: Mapping[str, Fraction]

    def tax_rate(self, draft: Draft) -> Fraction:
        """Return the rate of an entry's tax: of its price version, of several the first, as its statement has it."""
        return self.tax_rates.get(draft.price_version.partition(",")[0], _ZERO)


def charged_of(
    store: Requests, contract: Contract, label: str, period: Interval, as_of: datetime
) -> Charged | None:
    """Return what the ledger held at `as_of` of a contract's tenants and month; None where nothing was rated.

    Entries in a currency other than the first one's price book are left out: they have their own statement.
    """
    books = books_at(store, as_of)
    tenants = tuple(contract.customer.tenants)
    found = _drafts(store, books, EntryChoice(tenants=tenants, within=period))
    rated = [each for each in found if each.kind not in {EntryKind.CREDIT, EntryKind.CLOSE}]
    versions = {row["sha256"]: row for row in money_rows(store, "prices", PRICE_COLUMNS, as_of)}
    used = [each for each in rated if each.price_version.rpartition(",")[2] in versions]
    if not used:
        return None
    said = json.loads(versions[used[0].price_version.rpartition(",")[2]]["body"])
    money = Money(code=said["currency"]["code"], digits=said["currency"]["digits"], rounding=said["rounding"])
    credited = _drafts(store, books, EntryChoice(tenants=tenants, period=(label,), kinds=("credit",)))
    return Charged(
        money=money,
        drafts=tuple(each for each in rated if each.currency == money.code),
        deducted=tuple(_earlier(each) for each in credited if each.currency == money.code),
        tax_rates={sha256: _tax_rate(row["body"]) for sha256, row in versions.items()},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Charges:
    """What the ledger held at `as_of` of the month `label`; the same tenants and time are read once."""

    store: Requests
    label: str
    as_of: datetime
    _read: dict[tuple[tuple[str, ...], Interval], Charged | None] = field(default_factory=dict)

    def of(self, contract: Contract, period: Interval) -> Charged | None:
        """Return what `charged_of` does."""
        key = (tuple(contract.customer.tenants), period)
        if key not in self._read:
            self._read[key] = charged_of(self.store, contract, self.label, period, self.as_of)
        return self._read[key]


def _drafts(store: Requests, books: Books, choice: EntryChoice) -> list[Draft]:
    return [draft for found in drafts_of(store, books, choice).values() for _, draft in found]


def _earlier(draft: Draft) -> Earlier:
    return Earlier(
        tenant=draft.tenant,
        tax_rate=read_percent(draft.facts.get(TAX_RATE, "0%")),
        net=-draft.amount,
        tax=read_exact(draft.facts.get(TAX, "0")),
    )


def _tax_rate(body: str) -> Fraction:
    return read_percent(json.loads(body)["version"]["tax"]["rate"])
