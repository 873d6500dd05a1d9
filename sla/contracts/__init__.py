"""Own the contract file: what it may say, what it means, and what is wrong with it."""

from sla.contracts.contract import Contract
from sla.contracts.loading import Examination, examine, load_contract, parse_contract
from sla.contracts.objectives import (
    AvailabilityObjective,
    CostObjective,
    LatencyObjective,
    RateObjective,
)
from sla.contracts.problems import Problem
from sla.contracts.where import During, TokenRange, Where

__all__ = [
    "AvailabilityObjective",
    "Contract",
    "CostObjective",
    "During",
    "Examination",
    "LatencyObjective",
    "Problem",
    "RateObjective",
    "TokenRange",
    "Where",
    "examine",
    "load_contract",
    "parse_contract",
]
