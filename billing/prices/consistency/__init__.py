"""Own what clauses say of each other: asked of the tree, so that a mistake elsewhere hides none of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from billing.prices.consistency.deployments import deployments_are_known
from billing.prices.consistency.names import names_are_told_apart, tokens_have_prices
from billing.prices.consistency.order import versions_follow_each_other
from billing.prices.consistency.tiers import steps_climb, volumes_do_not_overlap

if TYPE_CHECKING:
    from fairclock.clauses.problems import Problem
    from fairclock.clauses.source import Tree

_CHECKS = (
    versions_follow_each_other,
    names_are_told_apart,
    tokens_have_prices,
    deployments_are_known,
    steps_climb,
    volumes_do_not_overlap,
)


def inconsistencies(tree: Tree) -> list[Problem]:
    """Return every contradiction between clauses; what is malformed is passed over, its own check speaks of it."""
    return [problem for check in _CHECKS for problem in check(tree)]
