"""Own the price book as a value: one file, its versions in time, its money."""

# Clauses read their annotations when the program runs.
# ruff: noqa: TC001

from __future__ import annotations

import hashlib
import json
from bisect import bisect_right
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, PrivateAttr

from billing.money import Money
from billing.prices.clauses import Budget, Ceiling
from billing.prices.fields import Digits
from billing.prices.parties import Customer, Issuer
from billing.prices.version import PriceVersion
from fairclock.clauses.clause import Clause
from fairclock.clauses.fields import Currency, Day, Identifier, PositiveNumber, Text, ZoneName
from fairclock.model import Interval
from fairclock.model.zones import day_start, instant_of_local, zone_of

if TYPE_CHECKING:
    from datetime import tzinfo

_MONTHS_PER_YEAR = 12


class CurrencyClause(Clause):
    """The money of every amount in the book, and how many digits of it are paid."""

    code: Currency
    digits: Digits


class ExchangeRate(Clause):
    """What one unit of the book's currency is worth in another, who says so, and of which day."""

    to: Currency
    digits: Digits
    rate: PositiveNumber
    source: Text
    day: Day = Field(alias="on")


class PriceBook(Clause):
    """One price book: what is charged, by whom, from when on."""

    api_version: Literal["fairclock/v1"] = Field(alias="apiVersion")
    kind: Literal["PriceBook"]
    id: Identifier
    time_zone: ZoneName
    currency: CurrencyClause
    rounding: Literal["half_up", "half_even", "down"]
    issuer: Issuer | None = None
    customers: tuple[Customer, ...] = ()
    exchange_rates: tuple[ExchangeRate, ...] = ()
    ceilings: tuple[Ceiling, ...] = ()
    budgets: tuple[Budget, ...] = ()
    versions: Annotated[tuple[PriceVersion, ...], Field(min_length=1)]

    _file_sha256: str = PrivateAttr(default="")

    def model_post_init(self, _context: object) -> None:
        """Let each version know when it begins, and its own hash."""
        head = {"book": self.id, "time_zone": self.time_zone, "currency": self.currency.code}
        for version in self.versions:
            local = version.local_start.replace(tzinfo=self.zone)
            version._start = instant_of_local(local)  # noqa: SLF001
            said = {**head, "version": version.model_dump(mode="json", by_alias=True, exclude_unset=True)}
            text = json.dumps(said, sort_keys=True, ensure_ascii=False)
            version._sha256 = hashlib.sha256(text.encode()).hexdigest()  # noqa: SLF001

    @property
    def zone(self) -> tzinfo:
        """Return the zone in which versions begin and months are counted."""
        return zone_of(self.time_zone)

    @property
    def money(self) -> Money:
        """Return the currency with its digits and the rule by which they are rounded."""
        return Money(code=self.currency.code, digits=self.currency.digits, rounding=self.rounding)

    @property
    def file_sha256(self) -> str:
        """Return the SHA-256 of the file's bytes."""
        return self._file_sha256

    def version_at(self, instant: datetime) -> PriceVersion | None:
        """Return the version in force at an instant; None before the first one begins."""
        place = bisect_right(self.versions, instant, key=lambda version: version.start)
        return self.versions[place - 1] if place else None

    def changes(self, interval: Interval) -> list[datetime]:
        """Return the instants (UTC) within `interval`, its start left out, from which other prices hold."""
        starts = (version.start for version in self.versions)
        return [start for start in starts if interval.start < start < interval.end]

    def month(self, month: str) -> Interval:
        """Return the instants of a calendar month (``2026-10``) in the book's zone."""
        first = date.fromisoformat(f"{month}-01")
        later = first.year * _MONTHS_PER_YEAR + first.month
        end = date(later // _MONTHS_PER_YEAR, later % _MONTHS_PER_YEAR + 1, 1)
        return Interval(start=day_start(first, self.zone), end=day_start(end, self.zone))

    def customer_of(self, tenant: str) -> Customer | None:
        """Return who is billed for a tenant; None where the book does not say."""
        return next((each for each in self.customers if tenant in each.tenants), None)

    def exchange_rate(self, currency: str, *, until: datetime) -> ExchangeRate | None:
        """Return the latest rate to `currency` of a day that began before `until`; None where there is none."""
        last = until.astimezone(UTC)
        fit = [
            each
            for each in self.exchange_rates
            if each.to == currency and day_start(each.day, self.zone) < last
        ]
        return max(fit, key=lambda each: each.day, default=None)
