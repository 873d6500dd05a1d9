"""Own what a statement of charges is made of: who, when, at which prices, exact lines, and what is written beside them."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date, datetime
    from decimal import Decimal

    from billing.money import Money
    from fairclock.model import Interval

Section = Literal["charges", "adjustments", "corrections", "credits"]
StatementKind = Literal["statement", "credit_note", "debit_note"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line before it is rounded; `net` is exact, and negative where it is the customer's.

    kind: what is charged for, or the rule of an adjustment. month: of which month it speaks (``2026-10``).
    unit_price: None where a line has none of its own (an adjustment, a credit). subject: of an adjustment.
    tax: where it is said and does not follow from the rate: what a credit gives back of another statement's.
    statement, objective, revision: of a credit: the number of the statement whose fees it is of, and the verdict it rests on.
    """

    section: Section
    kind: str
    month: str
    quantity: Fraction
    unit: str
    unit_price: Fraction | None
    net: Fraction
    tax_rate: Fraction
    tax: Fraction | None = None
    model: str = ""
    machine: str = ""
    treatment: str = ""
    estimated: bool = False
    price_version: str = ""
    subject: str = ""
    statement: str = ""
    objective: str = ""
    revision: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Party:
    """Who bills or is billed, by its legal name in the languages it has."""

    name: Mapping[str, str]
    registration_id: str | None = None
    address: Mapping[str, str] | None = None
    contact: str | None = None
    bank: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PricesUsed:
    """A version of the price book that lines rest on."""

    name: str
    sha256: str
    start: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """What one unit of the statement's currency is worth in another; who says so, and of which day."""

    to: Money
    rate: Decimal
    source: str
    day: date


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementData:
    """Everything that a statement says.

    number: None until it is issued. service: when what is charged was received; billing: the period that is closed.
    opening_balance: owed from before, positive; what is due is it and this statement's gross.
    """

    kind: StatementKind
    number: str | None
    status: Literal["draft", "final"]
    tenant: str
    month: str
    time_zone: str
    service: Interval
    billing: Interval
    as_of: datetime
    money: Money
    tax_name: Mapping[str, str]
    issuer: Party | None
    customer: Party | None
    price_book: str
    prices: tuple[PricesUsed, ...]
    lines: tuple[Line, ...]
    software_version: str
    issued_on: date | None = None
    due_on: date | None = None
    contract: str | None = None
    order_number: str | None = None
    corrects: str | None = None
    opening_balance: Fraction = Fraction(0)
    exchange: Exchange | None = None
    einvoice: Mapping[str, str] = field(default_factory=dict)
    simulated: bool = False
