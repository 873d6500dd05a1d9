"""Own the verdict on one objective in one month, from its count and the contract's clauses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sla.contracts.objectives import LatencyObjective
from sla.evaluation.promises import clock_of
from sla.percentiles import allowed_over, is_met
from sla.verdicts import Count, Judgement, Reason, Verdict, by_count, ratio_allowed, ratio_kept, under_floor

if TYPE_CHECKING:
    from sla.contracts import Contract
    from sla.evaluation.facts import Facts
    from sla.evaluation.promises import Evaluated

_VOID_PARTIAL = Judgement(verdict=Verdict.INSUFFICIENT_DATA, reason=Reason.PARTIAL_MONTH_VOID)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One objective's month: n is `counted`, of which `over` are over or bad and `allowed` may be."""

    objective: Evaluated
    count: Count
    counted: int
    over: int
    allowed: int
    judgement: Judgement


def is_void(contract: Contract, facts: Facts) -> bool:
    """Say whether the term cuts the month and the contract does not judge such months."""
    return facts.month.is_partial and contract.period.partial == "void"


def judge(contract: Contract, objective: Evaluated, facts: Facts, count: Count) -> Judged:
    """Judge `objective` in the month of `facts`, had it this `count`."""
    unmeasured = contract.unmeasured
    unknown_is_bad = unmeasured.unknown_clock == "bad"
    counted = count.counted(unknown_is_bad=unknown_is_bad)
    over = count.over(unknown_is_bad=unknown_is_bad)
    if isinstance(objective, LatencyObjective):
        kept = is_met(over, counted, objective.latency.percentile)
        allowed = allowed_over(counted, objective.latency.percentile)
    else:
        kept = ratio_kept(counted - over, counted, objective.availability.target)
        allowed = ratio_allowed(counted, objective.availability.target)
    by_volume = by_count(
        kept=kept,
        counted=counted,
        minimum=contract.insufficient.below,
        otherwise=contract.insufficient.verdict,
    )
    by_coverage = under_floor(
        by_volume,
        covered_us=facts.coverage.of(clock_of(objective)),
        elapsed_us=facts.coverage.elapsed_us,
        floor=unmeasured.coverage_floor,
        otherwise=unmeasured.below_floor,
    )
    return Judged(
        objective=objective,
        count=count,
        counted=counted,
        over=over,
        allowed=allowed,
        judgement=_VOID_PARTIAL if is_void(contract, facts) else by_coverage,
    )


def is_left_open(contract: Contract, judged: Judged) -> bool:
    """Say whether a month ends without a verdict for want of requests, so that they are carried over."""
    given = judged.judgement.verdict in {Verdict.MET, Verdict.VIOLATED}
    return judged.counted < contract.insufficient.below and not given
