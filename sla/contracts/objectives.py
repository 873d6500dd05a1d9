"""Own the objectives: what is promised, one class a kind."""

# Clauses read their annotations when the program runs.
# ruff: noqa: TC001

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Discriminator, Field, PlainSerializer, PlainValidator, Tag, WithJsonSchema

from fairclock.clauses.clause import Clause, tag
from fairclock.clauses.fields import Currency, PositiveCount, PositiveNumber, Text, refuse
from fairclock.clauses.suggestions import one_of
from fairclock.model import Clock
from sla.contracts.fields import Duration, Percentile, Statistic, Target
from sla.contracts.where import DuringClause, Where

Kind = Literal["latency", "availability", "rate", "cost"]
KINDS: tuple[Kind, ...] = ("latency", "availability", "rate", "cost")


def _clock(value: Any) -> Clock:
    names = [clock.value for clock in Clock]
    if value == "output_tokens_per_second":
        raise refuse("is a rate", "write rate: {clock: output_tokens_per_second, at_least: …}")
    if not isinstance(value, str) or value not in names:
        raise refuse("is not a clock", one_of(str(value), names))
    return Clock(value)


ClockName = Annotated[
    Clock,
    PlainValidator(_clock),
    PlainSerializer(str),
    WithJsonSchema({"enum": [clock.value for clock in Clock]}),
]


class Latency(Clause):
    """The percentile of a clock is at most so long; over the month, or window by window."""

    clock: ClockName
    percentile: Percentile
    at_most_us: Duration = Field(alias="at_most")
    window_us: Duration | None = Field(default=None, alias="window")
    combine: Literal["mean", "worst"] | None = None


class RequestRatio(Clause):
    """Good requests among all that count."""

    formula: Literal["request_ratio"]
    target: Target


class Downtime(Clause):
    """Time that was not down: so many bad intervals in a row are."""

    formula: Literal["downtime"]
    interval_us: Duration = Field(alias="interval")
    bad_above: Target | None = None
    consecutive: PositiveCount = 1
    min_requests: PositiveCount | None = None
    below_min: Literal["merge_next", "good", "bad", "void"] | None = None
    empty: Literal["good", "bad", "void"]
    target: Target


class MeanIntervalError(Clause):
    """One less the mean of the intervals' error ratios."""

    formula: Literal["mean_interval_error"]
    interval_us: Duration = Field(alias="interval")
    empty: Literal["zero_error", "bad", "void"]
    target: Target


FORMULAS = ("request_ratio", "downtime", "mean_interval_error")


def _formula(value: Any) -> str | None:
    formula = value.get("formula") if isinstance(value, dict) else getattr(value, "formula", None)
    return tag(formula) if formula in FORMULAS else None


Availability = Annotated[
    Annotated[RequestRatio, Tag(tag("request_ratio"))]
    | Annotated[Downtime, Tag(tag("downtime"))]
    | Annotated[MeanIntervalError, Tag(tag("mean_interval_error"))],
    Discriminator(_formula, custom_error_type="no_formula", custom_error_message="no formula"),
]


class Rate(Clause):
    """A speed is at least so high in so many of the windows."""

    clock: Literal["output_tokens_per_second"]
    at_least: PositiveNumber
    window_us: Duration = Field(alias="window")
    statistic: Statistic
    windows_met: Target
    min_requests: PositiveCount = 1


class Cost(Clause):
    """What a call, or so many tokens, cost at most."""

    at_most: PositiveNumber
    per: Literal["call", "thousand_tokens", "million_tokens"]
    currency: Currency


class _Objective(Clause):
    """What every objective has: a name, when it holds, which requests it looks at."""

    kind: ClassVar[Kind]

    name: Text
    during: DuringClause | None = None
    where: Where = Where()

    @property
    def evaluated(self) -> bool:
        """Tell whether this version of Fairclock gives a verdict on the objective."""
        return True


class LatencyObjective(_Objective):
    """A promise about a clock."""

    kind: ClassVar[Kind] = "latency"
    latency: Latency


class AvailabilityObjective(_Objective):
    """A promise that the service answers."""

    kind: ClassVar[Kind] = "availability"
    availability: Availability


class RateObjective(_Objective):
    """A promise about the speed of tokens."""

    kind: ClassVar[Kind] = "rate"
    rate: Rate


class CostObjective(_Objective):
    """A promise about what requests cost."""

    kind: ClassVar[Kind] = "cost"
    cost: Cost

    @property
    def evaluated(self) -> bool:
        """Tell whether a verdict is given: not before there is a ledger."""
        return False


def _kind(value: Any) -> str | None:
    if not isinstance(value, dict):
        return tag(value.kind) if isinstance(value, _Objective) else None
    named = [kind for kind in KINDS if kind in value]
    return tag(named[0]) if named else None


Objective = Annotated[
    Annotated[LatencyObjective, Tag(tag("latency"))]
    | Annotated[AvailabilityObjective, Tag(tag("availability"))]
    | Annotated[RateObjective, Tag(tag("rate"))]
    | Annotated[CostObjective, Tag(tag("cost"))],
    Discriminator(_kind, custom_error_type="no_kind", custom_error_message="no kind"),
]

TAGGED: dict[str, type[Clause]] = {
    tag("latency"): LatencyObjective,
    tag("availability"): AvailabilityObjective,
    tag("rate"): RateObjective,
    tag("cost"): CostObjective,
    tag("request_ratio"): RequestRatio,
    tag("downtime"): Downtime,
    tag("mean_interval_error"): MeanIntervalError,
}
"""The clause that each tag stands for, so that a problem's path can be followed to its keys."""
