"""Own what an entry of the ledger is: balanced postings, the usage and prices they rest on, and its canonical bytes.

The canonical bytes of an entry are UTF-8 JSON with sorted keys, no white space, instants in UTC as ISO 8601, counts
as integers, and amounts as exact text (`billing.ledger.exact`). Its hash is the SHA-256 of the line ``fairclock.ledger/1``, the
line with the hash of the entry before (64 zeros for the first), and these bytes. docs/ledger.md says it for those
who check a ledger without this program.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, replace
from datetime import UTC
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING, Any, cast

from billing.ledger.exact import write_exact
from fairclock.model import utc_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from billing.usage import Usage

SCHEMA = "fairclock.ledger/1"
NO_HASH = "0" * 64
RECEIVABLE = "receivable"
_ZERO = Fraction(0)
SUMS = (
    "requests",
    "uncached_prompt_tokens",
    "cached_prompt_tokens",
    "completion_tokens",
    "gpu_picoseconds",
)
"""What of a usage adds up; the other values say what kind of usage it is, but for `peak_kv_tokens`, a maximum."""


class EntryKind(StrEnum):
    """What an entry does."""

    USAGE = "usage"
    REVERSAL = "reversal"
    ADJUSTMENT = "adjustment"
    CREDIT = "credit"
    CLOSE = "close"


@dataclass(frozen=True, slots=True, kw_only=True)
class Charged:
    """One charge: `quantity` of `unit` at `unit_price` makes `amount`, all exact, in the entry's currency."""

    kind: str
    quantity: Fraction
    unit: str
    unit_price: Fraction
    amount: Fraction

    def reversed(self) -> Charged:
        """Return what takes the charge back."""
        return replace(self, quantity=-self.quantity, amount=-self.amount)


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """What alike requests used and what that costs; `usage` None where a charge rests on no usage of its own."""

    usage: Usage | None
    charges: tuple[Charged, ...]

    @property
    def amount(self) -> Fraction:
        """Return the sum of the charges."""
        return sum((each.amount for each in self.charges), start=_ZERO)

    def reversed(self) -> Item:
        """Return what takes the item back."""
        usage = self.usage
        if usage is not None:
            usage = replace(usage, **{name: -getattr(usage, name) for name in SUMS})
        return Item(usage=usage, charges=tuple(each.reversed() for each in self.charges))


@dataclass(frozen=True, slots=True, kw_only=True)
class Posting:
    """An amount on an account; debits are positive."""

    account: str
    amount: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """An entry before it has a place in its tenant's chain.

    start, end: the time it speaks of. period: the month it is booked in; about: the month it speaks of, an earlier
        one where that is final already. subject: what an adjustment, a credit or a close is of.
    reverses: the sequence of the entry that it takes back, or 0. facts: what else was said, as text.
    """

    kind: EntryKind
    tenant: str
    start: datetime
    end: datetime
    period: str
    about: str
    currency: str
    price_version: str = ""
    subject: str = ""
    items: tuple[Item, ...] = ()
    reverses: int = 0
    facts: Mapping[str, str] = field(default_factory=dict)
    _content: dict[str, Any] | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def amount(self) -> Fraction:
        """Return what the tenant owes by this entry; negative where it gets something back."""
        return sum((each.amount for each in self.items), start=_ZERO)

    @property
    def postings(self) -> tuple[Posting, ...]:
        """Return the balanced postings: what the tenant owes, against the account of each kind of charge."""
        by_kind: dict[str, Fraction] = {}
        for item in self.items:
            for charge in item.charges:
                by_kind[charge.kind] = by_kind.get(charge.kind, _ZERO) + charge.amount
        against = [Posting(account=account_of(self, kind), amount=-by_kind[kind]) for kind in sorted(by_kind)]
        return (Posting(account=RECEIVABLE, amount=self.amount), *against) if against else ()

    def content(self) -> dict[str, Any]:
        """Return what the entry rests on, without its place and month: two with equal content say the same."""
        if self._content is None:
            object.__setattr__(self, "_content", self._made())  # an entry is written several times
        return cast("dict[str, Any]", self._content)

    def _made(self) -> dict[str, Any]:
        return {
            "tenant": self.tenant,
            "from": utc_text(self.start),
            "to": utc_text(self.end),
            "currency": self.currency,
            "price_version": self.price_version,
            "subject": self.subject,
            "items": [_item(each) for each in self.items],
        }

    def content_sha256(self) -> str:
        """Return the hash of `content`."""
        return hashlib.sha256(canonical(self.content())).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """An entry in its tenant's chain, counted from 1."""

    draft: Draft
    sequence: int
    previous: str
    _body: bytes | None = field(default=None, init=False, repr=False, compare=False)

    def body(self) -> bytes:
        """Return the canonical bytes."""
        if self._body is None:
            object.__setattr__(self, "_body", self._written())
        return cast("bytes", self._body)

    def _written(self) -> bytes:
        draft = self.draft
        return canonical(
            {
                "schema": SCHEMA,
                "sequence": self.sequence,
                "kind": str(draft.kind),
                "period": draft.period,
                "about": draft.about,
                "reverses": draft.reverses,
                "facts": dict(draft.facts),
                "postings": [[each.account, write_exact(each.amount)] for each in draft.postings],
                **draft.content(),
            }
        )

    def hash(self) -> str:
        """Return the hash that the next entry names."""
        return chained(self.previous, self.body())


def account_of(draft: Draft, kind: str) -> str:
    """Return the account against which charges of `kind` are posted."""
    return f"credits:{kind}" if draft.kind is EntryKind.CREDIT else f"revenue:{kind}"


def canonical(tree: Any) -> bytes:
    """Return the one JSON text of a tree without floats."""
    return json.dumps(tree, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


def chained(previous: str, body: bytes) -> str:
    """Return the hash of an entry's bytes after the entry with the hash `previous`."""
    return hashlib.sha256(f"{SCHEMA}\n{previous}\n".encode() + body).hexdigest()


def _item(item: Item) -> dict[str, Any]:
    return {
        "usage": None if item.usage is None else _usage(item.usage),
        "charges": [_charge(each) for each in item.charges],
    }


def _usage(usage: Usage) -> dict[str, Any]:
    return {
        "model": usage.model,
        "length_class": usage.length_class,
        "inference_mode": usage.inference_mode,
        "machine": usage.machine,
        "treatment": str(usage.treatment),
        "estimated": usage.estimated,
        "hour": utc_text(usage.hour.astimezone(UTC)),
        "peak_kv_tokens": usage.peak_kv_tokens,
        **{name: getattr(usage, name) for name in SUMS},
    }


def _charge(charge: Charged) -> dict[str, str]:
    return {
        "kind": charge.kind,
        "quantity": write_exact(charge.quantity),
        "unit": charge.unit,
        "unit_price": write_exact(charge.unit_price),
        "amount": write_exact(charge.amount),
    }
