"""Own the verdict on a promise about cost: what a call, or so many tokens, cost on average over the month, in exact fractions.

All that is charged for the calls that the promise looks at counts, failed and repeated ones among them, and is divided by the
calls that were answered: an unanswered call is none that the customer got. The ledger keeps hours, models, length classes and modes, so a
promise about anything finer is not measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from billing.ledger.views import table
from billing.usage import Treatment
from fairclock.model.length_classes import CELLS, cells_within
from sla.verdicts import Judgement, Reason, Verdict, by_count, under_floor

if TYPE_CHECKING:
    from billing.ledger.views import Dimension, Row
    from sla.contracts import Contract
    from sla.contracts.objectives import CostObjective
    from sla.contracts.where import TokenRange, Where
    from sla.evaluation.charged import Charged
    from sla.evaluation.coverage import Coverage

_BY: tuple[Dimension, ...] = ("model", "length_class", "inference_mode", "treatment")
_TOKENS = {"thousand_tokens": 1_000, "million_tokens": 1_000_000}
_ZERO = Fraction(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class CostJudged:
    """What a promise about cost came to: `counted` calls or tokens, and the exact cost of one unit of the promise."""

    counted: int
    requests: int
    value: Fraction | None
    judgement: Judgement


def judge_cost(
    contract: Contract, objective: CostObjective, charged: Charged | None, coverage: Coverage
) -> CostJudged | None:
    """Judge a promise by the ledger; None where the ledger cannot say: nothing rated, other currency, too fine a question."""
    cost = objective.cost
    if charged is None or cost.currency != charged.money.code or objective.during is not None:
        return None
    classes = _classes(objective.where.prompt_tokens)
    if classes is None or _is_too_fine(objective.where):
        return None
    rows = [row for row in table(charged.drafts, _BY) if _is_meant(contract, objective.where, classes, row)]
    requests = sum(row.requests for row in rows if row.keys[3] == Treatment.COMPLETED)
    tokens = sum(row.tokens for row in rows if row.keys[3] == Treatment.COMPLETED)
    counted = requests if cost.per == "call" else tokens
    amount = sum((row.amount for row in rows), start=_ZERO)
    units = Fraction(counted, _TOKENS.get(cost.per, 1))
    insufficient = contract.insufficient
    judgement = by_count(
        kept=amount <= Fraction(cost.at_most) * units,
        counted=requests,
        minimum=insufficient.below,
        otherwise=insufficient.verdict,
    )
    floored = under_floor(
        judgement,
        covered_us=coverage.of(needs_engine=False),
        elapsed_us=coverage.elapsed_us,
        floor=contract.unmeasured.coverage_floor,
        otherwise=contract.unmeasured.below_floor,
    )
    value = amount / units if units else None
    return CostJudged(counted=counted, requests=requests, value=value, judgement=floored)


def cost_found(judged: CostJudged) -> dict[str, Any]:
    """Return the report's row of a promise about cost; `value` is text, as all amounts are."""
    verdict, reason = str(judged.judgement.verdict), judged.judgement.reason
    return {
        "unit": "requests",
        "n": judged.requests,
        "violations": None,
        "allowed": None,
        "good": None,
        "bad": None,
        "unknown": None,
        "requests": judged.requests,
        "carried": 0,
        "value": None if judged.value is None else float(judged.value),
        "interval": None,
        "verdict": verdict,
        "verdict_without_exclusions": verdict,
        "reason": None if reason is Reason.COUNTED else str(reason),
    }


def is_violated(judged: CostJudged) -> bool:
    """Tell whether the promise was broken."""
    return judged.judgement.verdict is Verdict.VIOLATED


def _is_too_fine(where: Where) -> bool:
    return any(
        each is not None for each in (where.routes, where.regions, where.completion_tokens, where.stream)
    )


def _classes(wanted: TokenRange | None) -> frozenset[str] | None:
    """Return the cells that a range of prompt tokens consists of, all where there is none; None where it cuts one."""
    if wanted is None:
        return frozenset({"", *(name for name, _ in CELLS)})
    return cells_within(wanted.lowest, wanted.highest)


def _is_meant(contract: Contract, where: Where, classes: frozenset[str], row: Row) -> bool:
    model, length_class, mode, treatment = row.keys
    if treatment == Treatment.PROBE or (not model and not length_class and not mode and not row.requests):
        return treatment != Treatment.PROBE and not where.given and not contract.scope.models
    if contract.scope.models and model and model not in contract.scope.models:
        return False
    if where.models is not None and model not in where.models:
        return False
    if where.inference_mode is not None and mode not in where.inference_mode:
        return False
    return length_class in classes
