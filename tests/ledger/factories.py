"""Usage, prices and rows of a ledger, each good until a test changes something."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from billing.bookkeeping.adjusting import Adjustment
from billing.ledger import Charged, Draft, Entry, EntryKind, Item, Months, Rated, Stored, columns_of, sealed
from billing.usage import Treatment, Usage
from fairclock.model.zones import zone_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fairclock.model import Interval

HOUR = timedelta(hours=1)
START = datetime(2026, 10, 5, 8, tzinfo=UTC)
UTC_MONTHS = Months(zone=zone_of("UTC"))


def a_usage(**changes: Any) -> Usage:
    """Return ten completed requests of acme in one hour."""
    start = changes.get("start", START)
    said = {
        "tenant": "acme",
        "hour": start.replace(minute=0),
        "start": start,
        "end": start + HOUR,
        "model": "deepseek-v4",
        "length_class": "short",
        "inference_mode": "fp16",
        "machine": "H200",
        "treatment": Treatment.COMPLETED,
        "estimated": False,
        "requests": 10,
        "uncached_prompt_tokens": 1_000,
        "cached_prompt_tokens": 200,
        "completion_tokens": 500,
        "gpu_picoseconds": 7_000_000_000_001,
        "peak_kv_tokens": 170,
    }
    return Usage(**(said | changes))


@dataclass
class ByTokens:
    """Prices that charge each call and each token class; a minimum at the month's end where `minimum` is set."""

    version: str = "p1"
    per_call: Fraction = Fraction("0.0001")
    per_token: Fraction = Fraction("0.0000015")
    minimum: Fraction = Fraction(0)
    sha256: str = ""
    asked: list[Usage] = field(default_factory=list)

    def rate(self, usage: Usage) -> Rated:
        self.asked.append(usage)
        tokens = usage.uncached_prompt_tokens + usage.cached_prompt_tokens + usage.completion_tokens
        charges = (
            _charge("calls", usage.requests, "call", self.per_call),
            _charge("tokens", tokens, "token", self.per_token),
        )
        return Rated(price_version=self.version, currency="USD", charges=charges)

    def adjust(self, tenant: str, month: Interval, usages: Sequence[Usage]) -> Iterable[Adjustment]:
        assert list(usages) == sorted(usages, key=lambda each: each.start)
        charged = sum(
            (charge.amount for each in usages for charge in self.rate(each).charges), start=Fraction(0)
        )
        if charged < self.minimum:
            rest = _charge("minimum", 1, "month", self.minimum - charged)
            yield Adjustment(subject="minimum", price_version=self.version, currency="USD", charges=(rest,))


def _charge(kind: str, quantity: int, unit: str, price: Fraction) -> Charged:
    return Charged(
        kind=kind, quantity=Fraction(quantity), unit=unit, unit_price=price, amount=quantity * price
    )


def a_draft(**changes: Any) -> Draft:
    """Return an entry about `START`'s hour."""
    usage = a_usage(**{key: changes[key] for key in ("tenant", "start", "end") if key in changes})
    said = {
        "kind": EntryKind.USAGE,
        "tenant": usage.tenant,
        "start": usage.start,
        "end": usage.end,
        "period": "2026-10",
        "about": "2026-10",
        "currency": "USD",
        "price_version": "p1",
        "items": (Item(usage=usage, charges=ByTokens().rate(usage).charges),),
    }
    return Draft(**(said | changes))


def a_chain(length: int = 5, tenant: str = "acme") -> list[Entry]:
    """Return entries about as many hours."""
    return sealed([a_draft(tenant=tenant, start=START + number * HOUR) for number in range(length)], {})


def stored(entries: Iterable[Entry], at: datetime = START) -> list[Stored]:
    """Return entries as rows, each stored a second after the one before."""
    return [
        Stored(**columns_of(each), stored_at=at + timedelta(seconds=number))
        for number, each in enumerate(entries)
    ]


def forged(row: Stored, **changes: Any) -> Stored:
    """Return a row that somebody changed."""
    return replace(row, **changes)
