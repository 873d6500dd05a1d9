"""Own a stand-in for a contract that has problems, so that lint can speak about the rest of it at once.

A stand-in is never judged, stored or shown: it only lets the rules run, and whatever they say about a place that
was repaired is dropped.
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING

from fairclock.clauses.source import read_source
from sla.contracts.clause_examples import CONTRACT_FILE, example_for
from sla.contracts.consistency import inconsistencies
from sla.contracts.validation import validate

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairclock.clauses.problems import Path, Problem
    from fairclock.clauses.source import Tree
    from sla.contracts.contract import Contract

_MOST_ROUNDS = 6


def stand_in(tree: Tree, problems: Iterable[Problem]) -> tuple[Contract | None, list[Path]]:
    """Return a contract like `tree` with each problem's place mended, and the places; None if it cannot be."""
    mended: list[Path] = []
    pending = list(problems)
    for _ in range(_MOST_ROUNDS):
        for problem in (each for each in pending if each.path):
            tree = _mend(tree, problem.path, unknown=problem.unknown)
            mended.append(problem.path)
        contract, pending = validate(tree)
        pending += inconsistencies(tree)
        if not pending:
            return contract, mended
    return None, mended


def _mend(tree: Tree, path: Path, *, unknown: bool) -> Tree:
    replacement = None if unknown else _replacement(path)
    return _put(tree, path, replacement)


def _replacement(path: Path) -> Tree:
    if path[0] == "objectives" and isinstance(path[-1], int):
        return {
            "name": f"objective {path[-1]}",
            "cost": {"at_most": "1", "per": "call", "currency": "USD"},
        }
    if path[0] == "objectives" and path[-1] == "name":
        return f"objective {path[1]}"
    clause = example_for(path)
    if clause is None or isinstance(path[-1], int):
        return None
    example = (
        read_source(clause.encode(), CONTRACT_FILE).tree if ": " in clause and clause[0] not in "[{" else None
    )
    return example.get(str(path[-1])) if isinstance(example, dict) else None


def _put(tree: Tree, path: Path, value: Tree) -> Tree:
    """Return `tree` with `value` at `path`; without that place where `value` is None."""
    step, rest = path[0], path[1:]
    if isinstance(tree, dict) and isinstance(step, str):
        changed = copy(tree)
        if rest:
            if step in changed:
                changed[step] = _put(changed[step], rest, value)
        elif value is None:
            changed.pop(step, None)
        else:
            changed[step] = value
        return changed
    if isinstance(tree, tuple) and isinstance(step, int) and step < len(tree):
        inner = _put(tree[step], rest, value) if rest else value
        kept = () if inner is None else (inner,)
        return (*tree[:step], *kept, *tree[step + 1 :])
    return tree
