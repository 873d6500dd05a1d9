"""Own how a price book prices what the ledger rates, and that a version which was used never changes."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from billing.bookkeeping.adjusting import Adjustment
from billing.charges.closing import closing
from billing.charges.rating import charge
from billing.charges.rules.minimum import owing_without_use
from billing.ledger import Charged, Months, Rated
from billing.ledger.periods import after
from fairclock.errors import PriceBookError
from fairclock.store.ledger import PRICE_COLUMNS, keep_row, money_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from billing.prices.book import PriceBook
    from billing.usage import Usage
    from fairclock.model import Interval
    from fairclock.store import Store


@dataclass(frozen=True, slots=True)
class BookPrices:
    """The prices of one book."""

    book: PriceBook

    @property
    def sha256(self) -> str:
        """Return the hash of what is charged, and whom a minimum is: of the versions and the tenants that customers name.

        Not of the file: a remark, a budget or an address would have everything rated again.
        """
        named = sorted({tenant for customer in self.book.customers for tenant in customer.tenants})
        said = [[each.sha256 for each in self.book.versions], named]
        return hashlib.sha256(json.dumps(said).encode()).hexdigest()

    @property
    def months(self) -> Months:
        """Return the months in which the book counts."""
        return Months(zone=self.book.zone)

    def rate(self, usage: Usage) -> Rated:
        """Return what `usage` costs; nothing, under no version, before the first one begins."""
        version = self.book.version_at(usage.start)
        currency = self.book.currency.code
        if version is None:
            return Rated(price_version="", currency=currency, charges=())
        charges = tuple(
            Charged(
                kind=each.name,
                quantity=each.quantity,
                unit=each.unit_name,
                unit_price=each.price,
                amount=each.amount,
            )
            for each in charge(usage, version)
        )
        return Rated(price_version=version.sha256, currency=currency, charges=charges)

    def owing_without_use(self, label: str) -> tuple[str, ...]:
        """Return the tenants that owe something for a month though nothing may be in the ledger."""
        return owing_without_use(self.book, self.months.interval(label))

    def owing_before(self, label: str) -> Mapping[str, tuple[str, ...]]:
        """Return the same for each month before `label` since the book begins, where anybody owes something."""
        month, found = self.months.label(self.book.versions[0].start), {}
        while month < label:
            owing = self.owing_without_use(month)
            if owing:
                found[month] = owing
            month = after(month)
        return found

    def adjust(self, tenant: str, month: Interval, usages: Sequence[Usage]) -> Iterable[Adjustment]:
        """Return the book's adjustments of one tenant's month."""
        for each in closing(usages, self.book, month, tenant=tenant):
            quantity = each.count or Fraction(1)
            yield Adjustment(
                subject=each.subject,
                price_version=",".join(each.versions),
                currency=self.book.currency.code,
                charges=(
                    Charged(
                        kind=each.rule,
                        quantity=quantity,
                        unit=str(each.unit),
                        unit_price=each.amount / quantity,
                        amount=each.amount,
                    ),
                ),
            )


def keep_versions(store: Store, book: PriceBook, *, until: datetime) -> None:
    """Note the versions that began before `until`: they are used now.

    Raises PriceBookError where one was used before and said something else then: a bill would change behind its reader.
    """
    used = [each for each in book.versions if each.start < until]
    known = {
        row["version"]: row
        for row in money_rows(store, "prices", PRICE_COLUMNS, store.watermark(), book=book.id)
    }
    changed = [
        f"versions: {each.name} was used with other prices, from {known[each.name]['stored_at']:%Y-%m-%d %H:%M} on; "
        "write it as it was, and add a version that begins later"
        for each in used
        if each.name in known and known[each.name]["sha256"] != each.sha256
    ]
    gone = [
        f"versions: {name} was used and is gone; write it as it was"
        for name, row in known.items()
        if row["effective_from"] < until and name not in {each.name for each in book.versions}
    ]
    if changed or gone:
        raise PriceBookError(book.id, [*changed, *gone])
    for each in used:
        if each.name not in known:
            said = {
                "currency": {"code": book.currency.code, "digits": book.currency.digits},
                "rounding": book.rounding,
                "time_zone": book.time_zone,
                "version": each.model_dump(mode="json", by_alias=True, exclude_none=True),
            }
            keep_row(
                store,
                "prices",
                {
                    "book": book.id,
                    "version": each.name,
                    "effective_from": each.start,
                    "sha256": each.sha256,
                    "body": json.dumps(said, sort_keys=True, ensure_ascii=False),
                },
            )


def version_names(store: Store, as_of: datetime) -> dict[str, str]:
    """Return the name of every price version that was used, by its hash."""
    return {row["sha256"]: row["version"] for row in money_rows(store, "prices", PRICE_COLUMNS, as_of)}
