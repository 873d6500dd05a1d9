"""Own the verdict on one promise in one month, from its count and the contract's clauses."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from sla.contracts.objectives import AvailabilityObjective, LatencyObjective, RateObjective
from sla.evaluation.numbers import ratio_beside
from sla.evaluation.promises import needs_engine
from sla.interval_formulas import TimeCount
from sla.percentiles import allowed_over, is_met
from sla.verdicts import Count, Judgement, Reason, Verdict, by_count, ratio_allowed, ratio_kept, under_floor
from sla.windows import Combined, WindowCount, fast_enough, short_enough

if TYPE_CHECKING:
    from sla.contracts import Contract
    from sla.evaluation.facts import Facts, Tally
    from sla.evaluation.promises import Promise

_VOID_PARTIAL = Judgement(verdict=Verdict.INSUFFICIENT_DATA, reason=Reason.PARTIAL_MONTH_VOID)
SPEED_UNIT = 1_000_000
"""Speeds are counted in millionths of a token per second."""

Unit = Literal["requests", "windows", "intervals"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One promise's month: n is `counted` `unit`s, of which `over` are over or bad and `allowed` may be.

    `requests` is what the minimum volume is held against (None: time is judged, whatever the volume). `value`
    is a ratio, seconds or a speed; a percentile over the month is looked up later.
    """

    promise: Promise
    count: Tally
    unit: Unit
    counted: int
    over: int
    allowed: int | None
    unknown: int
    requests: int | None
    value: float | None
    judgement: Judgement


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    """What a count says, before the clauses about small volumes and coverage."""

    unit: Unit
    counted: int
    over: int
    allowed: int | None
    unknown: int
    requests: int | None
    value: float | None
    kept: bool


def is_void(contract: Contract, facts: Facts) -> bool:
    """Say whether the term cuts the month and the contract does not judge such months."""
    return facts.month.is_partial and contract.period.partial == "void"


def judge(promise: Promise, facts: Facts, count: Tally) -> Judged:
    """Judge `promise` in the month of `facts`, had it this `count`."""
    contract = facts.subject.contract
    kept = _kept(contract, promise, count)
    insufficient = contract.insufficient
    by_volume = by_count(
        kept=kept.kept,
        counted=kept.counted if kept.requests is None else kept.requests,
        minimum=0 if kept.requests is None else insufficient.below,
        otherwise=insufficient.verdict,
    )
    by_coverage = under_floor(
        by_volume,
        covered_us=facts.coverage.of(needs_engine=needs_engine(promise.objective)),
        elapsed_us=facts.coverage.elapsed_us,
        floor=contract.unmeasured.coverage_floor,
        otherwise=contract.unmeasured.below_floor,
    )
    return Judged(
        promise=promise,
        count=count,
        unit=kept.unit,
        counted=kept.counted,
        over=kept.over,
        allowed=kept.allowed,
        unknown=kept.unknown,
        requests=kept.requests,
        value=kept.value,
        judgement=_VOID_PARTIAL if is_void(contract, facts) else by_coverage,
    )


def is_left_open(contract: Contract, judged: Judged) -> bool:
    """Say whether a month ends without a verdict for want of requests, so that they are carried over."""
    given = judged.judgement.verdict in {Verdict.MET, Verdict.VIOLATED}
    return judged.requests is not None and judged.requests < contract.insufficient.below and not given


def _kept(contract: Contract, promise: Promise, count: Tally) -> _Kept:
    match promise.objective, count:
        case LatencyObjective() | AvailabilityObjective(), Count():
            return _by_request(contract, promise, count)
        case AvailabilityObjective(availability=formula), TimeCount():
            return _by_time(formula.target, count, of_intervals=formula.formula == "downtime")
        case LatencyObjective(latency=latency), WindowCount():
            combined = short_enough(count, at_most=latency.at_most_us, combine=latency.combine or "worst")
            return _by_window(count, combined, of=SPEED_UNIT)
        case RateObjective(rate=rate), WindowCount():
            combined = fast_enough(
                count,
                at_least=math.ceil(rate.at_least * SPEED_UNIT),
                share=rate.windows_met,
                min_requests=rate.min_requests,
            )
            return _by_window(count, combined, of=SPEED_UNIT)
    raise TypeError(f"{promise.objective.name} cannot be judged by {type(count).__name__}")


def _by_request(contract: Contract, promise: Promise, count: Count) -> _Kept:
    unknown_is_bad = contract.unmeasured.unknown_clock == "bad"
    counted = count.counted(unknown_is_bad=unknown_is_bad)
    over = count.over(unknown_is_bad=unknown_is_bad)
    value = None
    if isinstance(promise.objective, LatencyObjective):
        kept = is_met(over, counted, promise.objective.latency.percentile)
        allowed = allowed_over(counted, promise.objective.latency.percentile)
    else:
        assert isinstance(promise.objective, AvailabilityObjective)  # noqa: S101 - the caller matched it
        target = promise.objective.availability.target
        kept = ratio_kept(counted - over, counted, target)
        allowed = ratio_allowed(counted, target)
        value = ratio_beside(Fraction(counted - over, counted) if counted else None, target)
    return _Kept(
        unit="requests",
        counted=counted,
        over=over,
        allowed=allowed,
        unknown=count.unknown,
        requests=counted,
        value=value,
        kept=kept,
    )


def _by_time(target: Fraction, count: TimeCount, *, of_intervals: bool) -> _Kept:
    return _Kept(
        unit="intervals",
        counted=count.intervals,
        over=count.bad,
        allowed=ratio_allowed(count.intervals, target) if of_intervals else None,
        unknown=count.unread,
        requests=None,
        value=ratio_beside(count.available, target),
        kept=count.keeps(target),
    )


def _by_window(count: WindowCount, combined: Combined, *, of: int) -> _Kept:
    return _Kept(
        unit="windows",
        counted=combined.windows,
        over=combined.over,
        allowed=combined.allowed,
        unknown=count.unknown,
        requests=combined.requests,
        value=None if combined.value is None else combined.value / of,
        kept=combined.kept,
    )
