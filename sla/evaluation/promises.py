"""Own which objectives of a contract are judged here, and which of its rows each of them looks at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sla.contracts.objectives import AvailabilityObjective, LatencyObjective
from sla.evaluation.fragments import named
from sla.evaluation.membership import membership

if TYPE_CHECKING:
    from fairclock.model import Clock, Interval
    from fairclock.store import Query
    from sla.contracts import Contract

Evaluated = LatencyObjective | AvailabilityObjective


def evaluated_objectives(contract: Contract) -> dict[int, Evaluated]:
    """Return the objectives that get a verdict here, by their place in the file.

    None of them where the contract's months are not calendar months: its month would be another one.
    """
    if contract.period.month != "calendar":
        return {}
    return {
        number: objective
        for number, objective in enumerate(contract.objectives)
        if objective.evaluated and isinstance(objective, LatencyObjective | AvailabilityObjective)
    }


def clock_of(objective: Evaluated) -> Clock | None:
    """Return the clock of a latency objective; None for the others."""
    return objective.latency.clock if isinstance(objective, LatencyObjective) else None


def flag_of(number: int) -> str:
    """Return the column that says whether a row belongs to the objective at place `number`."""
    return f"in_objective_{number}"


def membership_columns(contract: Contract, window: Interval) -> list[Query]:
    """Return the flags of all judged objectives, for rows received in `window`."""
    columns = []
    for number, objective in evaluated_objectives(contract).items():
        intervals = None if objective.during is None else contract.intervals(objective.during, window)
        belongs = membership(objective.where, intervals, name=f"objective_{number}")
        columns.append(named(belongs, flag_of(number)))
    return columns
