"""Own the checks that need more than one key: names that must exist, orders, answers that depend on others.

They look at the tree and not at the clauses, so that they speak even where some clause is malformed. Each rule
is a function from the tree to problems.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sla.contracts.consistency import answers, calendars, frames, objectives, repayments

if TYPE_CHECKING:
    from fairclock.clauses.problems import Problem
    from fairclock.clauses.source import Tree

_RULES = (*frames.RULES, *calendars.RULES, *objectives.RULES, *answers.RULES, *repayments.RULES)


def inconsistencies(tree: Tree) -> list[Problem]:
    """Return every problem between the clauses of a contract's tree."""
    return [problem for rule in _RULES for problem in rule(tree)]
