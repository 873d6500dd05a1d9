"""Own the clauses about what is left out and what is paid back: exclusions, quality, credits."""

# Clauses read their annotations when the program runs.
# ruff: noqa: TC001

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field, PlainSerializer, PlainValidator, WithJsonSchema

from fairclock.clauses.clause import Clause
from fairclock.clauses.fields import Flag, Number, Percent, PositiveNumber, Text, refuse
from fairclock.clauses.quantities import (
    QuantityError,
    read_duration_us,
    read_percent,
    write_duration,
    write_percent,
)
from sla.contracts.fields import Duration, OutcomeName, Target

_AFTER_MONTH = re.compile(r"([0-9]{1,3}) (workday|day|week|month)s? after month end")


class Cap(NamedTuple):
    """How much of a month an exclusion may take: a duration, or a share of the month."""

    duration_us: int | None
    share: Any

    def __str__(self) -> str:
        return write_percent(self.share) if self.duration_us is None else write_duration(self.duration_us)


def _cap(value: Any) -> Cap:
    try:
        if isinstance(value, str) and value.endswith("%"):
            return Cap(duration_us=None, share=read_percent(value))
        return Cap(duration_us=read_duration_us(str(value)), share=None)
    except QuantityError as error:
        raise refuse("is no cap", "write a time such as 4h, or a share of the month such as 0.1%") from error


class AfterMonthEnd(NamedTuple):
    """A date counted from the end of the month."""

    number: int
    unit: str

    def __str__(self) -> str:
        return f"{self.number} {self.unit}{'' if self.number == 1 else 's'} after month end"


def _after_month_end(value: Any) -> AfterMonthEnd:
    match = _AFTER_MONTH.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise refuse("is not a date after the month", "write, for example, 5 workdays after month end")
    return AfterMonthEnd(number=int(match[1]), unit=match[2])


CapClause = Annotated[
    Cap,
    PlainValidator(_cap),
    PlainSerializer(str),
    WithJsonSchema({"type": "string", "examples": ["4h", "0.1%"]}),
]
AfterMonthEndClause = Annotated[
    AfterMonthEnd,
    PlainValidator(_after_month_end),
    PlainSerializer(str),
    WithJsonSchema({"type": "string", "pattern": f"^{_AFTER_MONTH.pattern}$"}),
]


class Maintenance(Clause):
    """Announced maintenance."""

    notice_us: Duration | None = Field(default=None, alias="notice")
    notice_to: tuple[Text, ...] = ()
    cap_per_month: CapClause | None = None
    emergency: Literal["counts", "excluded"] = "counts"


class CappedExclusion(Clause):
    """An exclusion that may take only so much of a month."""

    cap_per_month: CapClause | None = None


class Exclusions(Clause):
    """Which times may be left out of numerator and denominator."""

    maintenance: Maintenance | None = None
    cold_start: CappedExclusion | None = None
    client_network: CappedExclusion | None = None
    named: tuple[Text, ...] = ()


class QualityLevel(Clause):
    """A way of answering (precision, context, …) and what an answer at that level counts as."""

    name: Text
    modes: Annotated[tuple[Text, ...], Field(min_length=1)]
    counts: Literal["good", "bad"] = "good"
    credit: Percent | None = None


class Quality(Clause):
    """The levels of quality that the contract knows."""

    levels: Annotated[tuple[QualityLevel, ...], Field(min_length=1)]


class CreditBase(Clause):
    """The fees that a credit is a share of."""

    fees_of: tuple[Literal["model", "region", "service"], ...]
    net_of: tuple[Literal["tax", "vouchers", "earlier_credits"], ...] = ()


class CreditTier(Clause):
    """What is paid back when an objective falls below a ratio, or is violated."""

    objective: Text
    below: Target | None = None
    violated: Flag | None = None
    credit: Percent


class PerFailure(Clause):
    """Compensation for single requests: so many times what the call costs."""

    outcomes: Annotated[tuple[OutcomeName, ...], Field(min_length=1)]
    times_charge: PositiveNumber


class Claim(Clause):
    """Whether a credit has to be claimed, and when."""

    required: Flag
    opens: AfterMonthEndClause | None = None
    closes: AfterMonthEndClause | None = None
    decide_within_us: Duration | None = Field(default=None, alias="decide_within")


class Credits(Clause):
    """What is paid back."""

    base: CreditBase | None = None
    tiers: tuple[CreditTier, ...] = ()
    tier: Literal["lowest_only", "sum"] | None = None
    same_cause: Literal["highest_only", "sum"] | None = None
    per_failure: PerFailure | None = None
    cap: Percent | None = None
    minimum: Number | None = None
    form: Literal["voucher", "deduct_next", "cash"] | None = None
    claim: Claim | None = None
