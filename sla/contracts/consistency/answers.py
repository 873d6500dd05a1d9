"""Own the questions that a contract has to answer only because of something else that it says."""

# Rules state what holds, not what they do.
# ruff: noqa: D401

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from fairclock.clauses.problems import Path, Problem
from fairclock.model import ENGINE_CLOCKS
from sla.contracts.clause_examples import example_for
from sla.contracts.consistency.tree import at, items_at, mapping_at, text_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairclock.clauses.source import Tree

_INTERVAL_FORMULAS = frozenset({"downtime", "mean_interval_error"})
_MEASURED_CONDITIONS = frozenset({"prompt_tokens", "completion_tokens", "stream", "inference_mode"})


_CHOICES = {
    "start": "start: received and start: connected",
    "time": "time: bad and time: void",
    "below_floor": "below_floor: violated and below_floor: void",
    "unknown_clock": "unknown_clock: bad and unknown_clock: void",
    "combine": "combine: worst and combine: mean",
    "below_min": "below_min: merge_next, good, bad and void",
    "tier": "tier: lowest_only and tier: sum",
}


def open_question(path: Path) -> Problem:
    """Return the problem of a question that has no default because the answer changes a verdict."""
    choices = _CHOICES.get(str(path[-1]))
    remedy = f"decide between {choices}" if choices else f"decide, for example {example_for(path)}"
    return Problem(
        path=path,
        problem="is a question that the contract leaves open",
        remedy=remedy,
        asked=True,
        missing=True,
    )


def unmeasured_time_is_answered(tree: Tree) -> Iterator[Problem]:
    """Availability by intervals needs to know what an interval counts as that nobody read through."""
    formulas = {
        text_at(objective, "availability", "formula") for _, objective in items_at(tree, "objectives")
    }
    if formulas & _INTERVAL_FORMULAS and _lacks(tree, "time"):
        yield open_question(("unmeasured", "time"))


def unknown_clocks_are_answered(tree: Tree) -> Iterator[Problem]:
    """An objective on something the gateway does not measure needs to know what an unknown counts as."""
    if _lacks(tree, "unknown_clock") and any(
        _may_be_unknown(objective) for _, objective in items_at(tree, "objectives")
    ):
        yield open_question(("unmeasured", "unknown_clock"))


def _lacks(tree: Tree, key: str) -> bool:
    unmeasured = at(tree, "unmeasured")
    return isinstance(unmeasured, dict) and key not in unmeasured


def _may_be_unknown(objective: dict[str, Tree]) -> bool:
    clock = text_at(objective, "latency", "clock")
    conditions = mapping_at(objective, "where").keys() & _MEASURED_CONDITIONS
    return clock in ENGINE_CLOCKS or "rate" in objective or bool(conditions)


def windows_say_how_they_combine(tree: Tree) -> Iterator[Problem]:
    """Windows without `combine`, and a minimum without `below_min`, leave the verdict open."""
    for path, objective in items_at(tree, "objectives"):
        latency = mapping_at(objective, "latency")
        if "window" in latency and "combine" not in latency:
            yield open_question((*path, "latency", "combine"))
        availability = mapping_at(objective, "availability")
        if "min_requests" in availability and "below_min" not in availability:
            yield open_question((*path, "availability", "below_min"))


def several_tiers_say_which(tree: Tree) -> Iterator[Problem]:
    """Where an objective has several tiers, `tier` says whether the deepest counts or their sum."""
    tiers = Counter(text_at(tier, "objective") for _, tier in items_at(tree, "credits", "tiers"))
    if any(count > 1 for count in tiers.values()) and "tier" not in mapping_at(tree, "credits"):
        yield open_question(("credits", "tier"))


RULES = (
    unmeasured_time_is_answered,
    unknown_clocks_are_answered,
    windows_say_how_they_combine,
    several_tiers_say_which,
)
