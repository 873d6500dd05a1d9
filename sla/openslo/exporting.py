"""Own how a contract becomes OpenSLO v1 documents: one SLO an objective, in one YAML stream."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import yaml

from fairclock.clauses.quantities import write_duration
from sla.contracts.objectives import (
    AvailabilityObjective,
    Downtime,
    LatencyObjective,
    MeanIntervalError,
    RateObjective,
)
from sla.contracts.showing import clauses_of

if TYPE_CHECKING:
    from sla.contracts.contract import Contract
    from sla.contracts.objectives import Objective

API_VERSION = "openslo/v1"
SOURCE = "fairclock"
"""The metric source's type: its `spec` holds the objective as the contract has it."""

_CARRIED = frozenset({"apiVersion", "kind", "id", "title", "objectives"})
_NOT_IN_A_NAME = re.compile(r"[^a-z0-9]+")
_US_PER_SECOND = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """The YAML stream, and the paths of the contract that OpenSLO has no place for."""

    text: str
    not_carried: tuple[str, ...]


def export_openslo(contract: Contract) -> Exported:
    """Return a contract's objectives as OpenSLO v1; costs, and everything around the objectives, stay behind."""
    clauses = clauses_of(contract)
    not_carried = [key for key in clauses if key not in _CARRIED]
    documents = []
    for number, (objective, written) in enumerate(
        zip(contract.objectives, clauses["objectives"], strict=True)
    ):
        if isinstance(objective, LatencyObjective | AvailabilityObjective | RateObjective):
            documents.append(_document(contract, objective, written, number))
        else:
            not_carried.append(f"objectives[{number}]")
    comments = "".join(f"# not carried: {path}\n" for path in not_carried)
    head = f"# Objectives of the contract {contract.id}, version {contract.version_sha256}\n"
    body = yaml.safe_dump_all(documents, allow_unicode=True, sort_keys=False, explicit_start=True)
    return Exported(text=f"{head}{comments}{body}", not_carried=tuple(not_carried))


def _document(
    contract: Contract, objective: Objective, written: dict[str, Any], number: int
) -> dict[str, Any]:
    month = {"duration": "1M", "isRolling": False}
    month["calendar"] = {
        "startTime": f"{contract.term.first_day.isoformat()} 00:00:00",
        "timeZone": contract.term.time_zone,
    }
    return {
        "apiVersion": API_VERSION,
        "kind": "SLO",
        "metadata": {
            "name": f"{_slug(contract.id)}-{number}-{_slug(objective.name)}".rstrip("-"),
            "displayName": objective.name,
        },
        "spec": {
            "description": contract.title.in_language("en"),
            "service": _slug(contract.id),
            "indicator": _indicator(objective, written, number),
            "timeWindow": [month],
            **_target(objective),
        },
    }


def _indicator(objective: Objective, written: dict[str, Any], number: int) -> dict[str, Any]:
    source = {"metricSource": {"type": SOURCE, "spec": written}}
    metric: dict[str, Any] = {"thresholdMetric": source}
    if isinstance(objective, AvailabilityObjective):
        good = {"metricSource": {"type": SOURCE, "spec": {"outcome": "good"}}}
        metric = {"ratioMetric": {"counter": True, "good": good, "total": source}}
    return {"metadata": {"name": f"indicator-{number}"}, "spec": metric}


def _target(objective: Objective) -> dict[str, Any]:
    """Return the budgeting method and the objective; numbers are the contract's digits, as ratios."""
    match objective:
        case LatencyObjective(latency=latency):
            promised: dict[str, Any] = {
                "op": "lte",
                "value": _number(latency.at_most_us, _US_PER_SECOND),
                "target": float(latency.percentile / 100),
            }
            if latency.window_us is None:
                return {"budgetingMethod": "Occurrences", "objectives": [promised]}
            promised |= {"timeSliceWindow": write_duration(latency.window_us)}
            return {"budgetingMethod": "Timeslices", "objectives": [promised]}
        case RateObjective(rate=rate):
            promised = {
                "op": "gte",
                "value": float(rate.at_least),
                "target": float(rate.windows_met),
                "timeSliceTarget": float(rate.windows_met),
                "timeSliceWindow": write_duration(rate.window_us),
            }
            return {"budgetingMethod": "Timeslices", "objectives": [promised]}
        case AvailabilityObjective(availability=availability):
            promised = {"target": float(availability.target)}
            match availability:
                case Downtime():
                    limit = availability.bad_above or 0
                    promised["timeSliceTarget"] = float(1 - limit)
                    promised["timeSliceWindow"] = write_duration(availability.interval_us)
                    return {"budgetingMethod": "Timeslices", "objectives": [promised]}
                case MeanIntervalError():
                    promised["timeSliceWindow"] = write_duration(availability.interval_us)
                    return {"budgetingMethod": "RatioTimeslices", "objectives": [promised]}
            return {"budgetingMethod": "Occurrences", "objectives": [promised]}
    raise TypeError(f"an objective of the kind {objective.kind} has no place in OpenSLO")


def _number(value: int, per: int) -> float | int:
    whole, rest = divmod(value, per)
    return whole if rest == 0 else value / per


def _slug(text: str) -> str:
    return _NOT_IN_A_NAME.sub("-", text.lower()).strip("-")
