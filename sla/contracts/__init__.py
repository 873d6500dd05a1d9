"""Own the contract file: what it may say, what it means, and what is wrong with it."""

from fairclock.clauses.problems import Problem
from sla.contracts.contract import Contract
from sla.contracts.lint import Finding, lint, lint_examination, require_lintable
from sla.contracts.loading import Examination, examine, load_contract, parse_contract, read_file
from sla.contracts.objectives import (
    AvailabilityObjective,
    CostObjective,
    LatencyObjective,
    RateObjective,
)
from sla.contracts.where import During, TokenRange, Where

__all__ = [
    "AvailabilityObjective",
    "Contract",
    "CostObjective",
    "During",
    "Examination",
    "Finding",
    "LatencyObjective",
    "Problem",
    "RateObjective",
    "TokenRange",
    "Where",
    "examine",
    "lint",
    "lint_examination",
    "load_contract",
    "parse_contract",
    "read_file",
    "require_lintable",
]
