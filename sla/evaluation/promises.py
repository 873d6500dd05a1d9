"""Own what is judged of a contract: each objective, once for each part that the contract judges apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairclock.model import ENGINE_CLOCKS
from sla.calendars import complement
from sla.contracts.objectives import (
    AvailabilityObjective,
    Downtime,
    LatencyObjective,
    MeanIntervalError,
    RateObjective,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairclock.model import Clock, Interval
    from sla.contracts import Contract
    from sla.evaluation.excluded import Excluded
    from sla.evaluation.parts import Part

Evaluated = LatencyObjective | AvailabilityObjective | RateObjective


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """One objective (at place `number` in the file) for one part of the traffic; None is all of it."""

    key: str
    number: int
    objective: Evaluated
    part: Part | None = None

    @property
    def flag(self) -> str:
        """Return the column that says whether a row belongs to the promise."""
        return f"in_objective_{self.key}"

    @property
    def step_us(self) -> int | None:
        """Return the length of the intervals or windows it is judged by; None where the month is judged whole."""
        match self.objective:
            case LatencyObjective(latency=latency):
                return latency.window_us
            case RateObjective(rate=rate):
                return rate.window_us
            case AvailabilityObjective(availability=Downtime() | MeanIntervalError() as formula):
                return formula.interval_us
        return None


def promises_of(contract: Contract, parts: Sequence[Part] | None = None) -> dict[str, Promise]:
    """Return what gets a verdict, by its key, in the file's order; `parts` None: the traffic as a whole."""
    found: dict[str, Promise] = {}
    for number, objective in enumerate(contract.objectives):
        if not isinstance(objective, Evaluated):
            continue
        if parts is None:
            found[str(number)] = Promise(key=str(number), number=number, objective=objective)
            continue
        for place, part in enumerate(parts):
            if part.may_meet(objective.where):
                key = f"{number}_{place}"
                found[key] = Promise(key=key, number=number, objective=objective, part=part)
    return found


def clock_of(objective: Evaluated) -> Clock | None:
    """Return the clock of a latency objective; None for the others."""
    return objective.latency.clock if isinstance(objective, LatencyObjective) else None


def needs_engine(objective: Evaluated) -> bool:
    """Tell whether the engines have to be read through as well as the gateway: speeds are theirs."""
    return isinstance(objective, RateObjective) or clock_of(objective) in ENGINE_CLOCKS


def looked_at(
    contract: Contract, objective: Evaluated, window: Interval, excluded: Excluded
) -> list[Interval] | None:
    """Return the instants of `window` that an objective looks at, disjoint; None where it is all of them."""
    if objective.during is None and not excluded.instants:
        return None
    instants = contract.intervals(objective.during, window)
    if not excluded.instants:
        return instants
    outside = complement(instants, window)
    return complement((*outside, *excluded.instants), window)
