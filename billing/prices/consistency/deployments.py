"""Own that deployments that are named have a factor, and that assignments say whose they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from billing.prices.consistency.tree import entries, mapping, text, versions
from fairclock.clauses.problems import Problem
from fairclock.clauses.suggestions import one_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairclock.clauses.problems import Path
    from fairclock.clauses.source import Tree

_CONDITIONS = ("tenants", "models", "machines")


def deployments_are_known(tree: Tree) -> Iterator[Problem]:
    """Yield a problem for each deployment without a factor, and for each assignment of everything."""
    for path, version in versions(tree):
        clause, at = mapping(version, "deployments"), (*path, "deployments")
        factors = list(mapping(clause, "factors"))
        if not factors:
            continue
        yield from _unknown((*at, "default"), clause.get("default"), factors)
        for place, assignment in entries(clause, "assigned", at):
            yield from _unknown((*place, "to"), assignment.get("to"), factors)
            if not any(condition in assignment for condition in _CONDITIONS):
                yield Problem(
                    path=place,
                    problem="says not whose usage it means",
                    remedy="add tenants, models or machines, or make it the default",
                )


def _unknown(path: Path, value: Tree, factors: list[str]) -> Iterator[Problem]:
    name = text(value)
    if name is not None and name not in factors:
        yield Problem(
            path=path,
            problem="is no deployment with a factor",
            found=f'"{name}"',
            remedy=one_of(name, factors),
        )
