"""Own the checks of credits: which objective a tier means, and when it is reached."""

# Rules state what holds, not what they do.
# ruff: noqa: D401

from __future__ import annotations

from typing import TYPE_CHECKING

from fairclock.clauses.problems import Problem
from fairclock.clauses.suggestions import closest, listed
from sla.contracts.consistency.tree import items_at, text_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairclock.clauses.source import Tree


def tiers_name_objectives(tree: Tree) -> Iterator[Problem]:
    """A tier belongs to an objective of the contract."""
    names = [name for _, each in items_at(tree, "objectives") if (name := text_at(each, "name"))]
    for path, tier in items_at(tree, "credits", "tiers"):
        name = text_at(tier, "objective")
        if name is not None and name not in names:
            near = closest(name, names)
            known = f"the objectives are {listed(names, 'and')}" if names else "add the objective"
            yield Problem(
                path=(*path, "objective"),
                problem="names no objective of this contract",
                found=f'"{name}"',
                remedy=f"did you mean {near}?" if near else known,
            )


def tiers_have_one_condition(tree: Tree) -> Iterator[Problem]:
    """A tier is reached below a ratio or by a violation, not by both or neither."""
    for path, tier in items_at(tree, "credits", "tiers"):
        if ("below" in tier) == ("violated" in tier):
            yield Problem(
                path=path,
                problem="has both conditions" if "below" in tier else "has no condition",
                remedy="write either below: 99.9% or violated: true",
            )
        elif text_at(tier, "violated") == "false":
            yield Problem(
                path=(*path, "violated"),
                problem="would pay for a promise that was kept",
                found='"false"',
                remedy="write violated: true",
            )


def ratios_are_of_availability(tree: Tree) -> Iterator[Problem]:
    """Only an availability is a ratio that can fall below another."""
    kinds = {text_at(each, "name"): each for _, each in items_at(tree, "objectives")}
    for path, tier in items_at(tree, "credits", "tiers"):
        objective = kinds.get(text_at(tier, "objective"))
        if "below" in tier and objective is not None and {"latency", "rate", "cost"} & objective.keys():
            yield Problem(
                path=(*path, "below"),
                problem="is a ratio, and its objective is no availability",
                found=f'"{tier["below"]}"',
                remedy="write violated: true",
            )


RULES = (tiers_name_objectives, tiers_have_one_condition, ratios_are_of_availability)
