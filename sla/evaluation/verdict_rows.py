"""Own the rows of ``report.json`` that hold verdicts: what was promised, what was found, under which version."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairclock.model import utc_text
from sla.contracts.objectives import (
    AvailabilityObjective,
    CostObjective,
    LatencyObjective,
    RateObjective,
)
from sla.evaluation.carried import carried_requests
from sla.evaluation.cost_objectives import cost_found
from sla.evaluation.numbers import plain, seconds
from sla.evaluation.sections import interval
from sla.verdicts import Reason, Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sla.contracts.objectives import Objective
    from sla.evaluation.cost_objectives import CostJudged
    from sla.evaluation.facts import Facts, Tally
    from sla.evaluation.judged import Judged
    from sla.evaluation.parts import Part
    from sla.evaluation.values import Delivered

_NOT_FOUND = {
    "unit": None,
    "n": None,
    "violations": None,
    "allowed": None,
    "good": None,
    "bad": None,
    "unknown": None,
    "requests": None,
    "carried": None,
    "value": None,
    "interval": None,
    "verdict": str(Verdict.NOT_MEASURED),
    "verdict_without_exclusions": str(Verdict.NOT_MEASURED),
    "reason": str(Reason.NOT_EVALUATED),
}


def version_section(facts: Facts) -> dict[str, Any]:
    """Return a version by its hash, and the part of the month that it judges."""
    return {
        "version_sha256": facts.subject.contract.version_sha256,
        "from": utc_text(facts.month.period.start),
        "to": utc_text(facts.month.period.end),
    }


def objectives_section(
    facts: Facts,
    judged: Mapping[str, Judged],
    delivered: Mapping[str, Delivered],
    carried: Mapping[str, Tally],
    without: Mapping[str, str] | None = None,
    *,
    costs: Mapping[int, CostJudged] | None = None,
) -> list[dict[str, Any]]:
    """Return every objective of the file, in its order, once a part; those not evaluated are not measured.

    `without` are the verdicts had nothing been left out; None where nothing was. `costs` are what the ledger says, by place.
    """
    contract = facts.subject.contract
    unknown_is_bad = contract.unmeasured.unknown_clock == "bad"
    rows = []
    for number, objective in enumerate(contract.objectives):
        promised = _promised(objective, number)
        version = {"version_sha256": contract.version_sha256}
        mine = [each for each in judged.values() if each.promise.number == number]
        rows += [
            {
                **promised,
                "part": part_of(each.promise.part),
                **_found(
                    each,
                    delivered[each.promise.key],
                    carried_requests(carried[each.promise.key], unknown_is_bad=unknown_is_bad),
                    None if without is None else without[each.promise.key],
                ),
                **version,
            }
            for each in mine
        ]
        if isinstance(objective, CostObjective):
            found = _NOT_FOUND if number not in (costs or {}) else cost_found((costs or {})[number])
            rows.append({**promised, "part": None, **found, **version})
    return rows


def part_of(part: Part | None) -> dict[str, str] | None:
    """Return the part of the traffic that a promise is judged for; None for all of it."""
    if part is None:
        return None
    found = {"model": part.model, "region": part.region}
    return {name: value for name, value in found.items() if value is not None}


def _promised(objective: Objective, number: int) -> dict[str, Any]:
    clock, percentile, threshold = _threshold(objective)
    where = objective.where.model_dump(mode="json", exclude_none=True)
    return {
        "name": objective.name,
        "kind": objective.kind,
        "clause": f"objectives[{number}]",
        "clock": clock,
        "percentile": percentile,
        "threshold": threshold,
        **_manner(objective),
        "during": None if objective.during is None else str(objective.during),
        "where": where or None,
    }


def _threshold(objective: Objective) -> tuple[str | None, int | float | None, float | None]:
    """Return (clock, percentile, threshold: seconds, a ratio, or the number promised)."""
    match objective:
        case LatencyObjective(latency=latency):
            return str(latency.clock), plain(latency.percentile), seconds(latency.at_most_us)
        case AvailabilityObjective(availability=availability):
            return None, None, float(availability.target)
        case RateObjective(rate=rate):
            return rate.clock, None, float(rate.at_least)
        case CostObjective(cost=cost):
            return None, None, float(cost.at_most)


def _manner(objective: Objective) -> dict[str, Any]:
    """Return how the promise is judged, as far as it is not by requests over the month.

    `formula` names an availability's; `window` and `interval_length` are seconds; `combine`, `statistic` and
    `windows_met` say how windows become one answer; `consecutive` how many bad intervals are downtime.
    """
    match objective:
        case LatencyObjective(latency=latency) if latency.window_us is not None:
            return {"window": seconds(latency.window_us), "combine": latency.combine}
        case RateObjective(rate=rate):
            return {
                "window": seconds(rate.window_us),
                "statistic": rate.statistic,
                "windows_met": float(rate.windows_met),
            }
        case AvailabilityObjective(availability=availability):
            if availability.formula == "request_ratio":
                return {"formula": availability.formula}
            length = {
                "formula": availability.formula,
                "interval_length": seconds(availability.interval_us),
            }
            if availability.formula == "mean_interval_error":
                return length
            limit = availability.bad_above
            return {
                **length,
                "bad_above": None if limit is None else float(limit),
                "consecutive": availability.consecutive,
            }
    return {}


def _found(judged: Judged, delivered: Delivered, carried: int, without: str | None) -> dict[str, Any]:
    verdict, reason = str(judged.judgement.verdict), judged.judgement.reason
    return {
        "unit": judged.unit,
        "n": judged.counted,
        "violations": judged.over,
        "allowed": judged.allowed,
        "good": judged.counted - judged.over,
        "bad": judged.over,
        "unknown": judged.unknown,
        "requests": judged.requests,
        "carried": carried,
        "value": seconds(delivered.value_us) if judged.value is None else judged.value,
        "interval": interval(delivered.interval_us),
        "verdict": verdict,
        "verdict_without_exclusions": verdict if without is None else without,
        "reason": None if reason is Reason.COUNTED else str(reason),
    }
