"""Own the checks within and between objectives."""

# Rules state what holds, not what they do.
# ruff: noqa: D401

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic_core import PydanticCustomError

from fairclock.clauses.problems import Path, Problem
from fairclock.clauses.quantities import read_count, read_duration_us
from fairclock.clauses.suggestions import closest, listed
from sla.contracts.consistency.calendars import period_names
from sla.contracts.consistency.tree import at, items_at, mapping_at, quantity_at, text_at, texts_at
from sla.contracts.objectives import KINDS
from sla.contracts.where import read_during

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairclock.clauses.source import Tree

_SHORTEST_INTERVAL_US = 1_000_000


def names_are_distinct(tree: Tree) -> Iterator[Problem]:
    """No two objectives have one name."""
    seen: dict[str, Path] = {}
    for path, objective in items_at(tree, "objectives"):
        name = text_at(objective, "name")
        if name is None:
            continue
        if name in seen:
            yield Problem(
                path=(*path, "name"),
                problem="is the name of another objective too",
                found=f'"{name}", as objectives[{seen[name][-1]}]',
                remedy="give each objective a name of its own",
            )
        seen.setdefault(name, path)


def each_promises_one_thing(tree: Tree) -> Iterator[Problem]:
    """An objective is of one kind."""
    for path, objective in items_at(tree, "objectives"):
        kinds = [kind for kind in KINDS if kind in objective]
        if len(kinds) > 1:
            yield Problem(
                path=path,
                problem="promises more than one thing",
                found=listed(kinds, "and"),
                remedy="write an objective of its own for each",
            )


def periods_exist(tree: Tree) -> Iterator[Problem]:
    """`during` names a period of the calendar."""
    known = period_names(tree)
    for path, objective in items_at(tree, "objectives"):
        text = text_at(objective, "during")
        if text is None:
            continue
        try:
            name = read_during(text).name
        except PydanticCustomError:
            continue
        if name not in known:
            near = closest(name, known)
            example = f'add calendar.{name}: [{{days: mon-fri, from: "09:00", to: "18:00"}}]'
            yield Problem(
                path=(*path, "during"),
                problem="names a period that the calendar does not define",
                found=f'"{text}"',
                remedy=f"did you mean {near}?" if near else example,
            )


def ranges_hold_something(tree: Tree) -> Iterator[Problem]:
    """A range of tokens has an edge, not two of one side, and something inside."""
    for path, objective in items_at(tree, "objectives"):
        for key in ("prompt_tokens", "completion_tokens"):
            limits = at(objective, "where", key)
            if isinstance(limits, dict):
                yield from _of_range((*path, "where", key), limits)


def _of_range(path: Path, limits: dict[str, Tree]) -> Iterator[Problem]:
    for pair in (("below", "at_most"), ("above", "at_least")):
        if set(pair) <= limits.keys():
            yield Problem(
                path=path, problem="has two edges on one side", found=listed(pair, "and"), remedy="keep one"
            )
            return
    edges = {key: quantity_at(read_count, limits, key) for key in ("below", "at_most", "above", "at_least")}
    if not edges.keys() & limits.keys():
        if not limits:
            yield Problem(path=path, problem="has no edge", remedy="write, for example, {below: 512}")
        return
    below, above = edges["below"], edges["above"]
    highest = edges["at_most"] if below is None else below - 1
    lowest = (edges["at_least"] or 0) if above is None else above + 1
    if highest is not None and highest < lowest:
        found = ", ".join(f"{key}: {value}" for key, value in limits.items())
        yield Problem(
            path=path, problem="holds no number at all", found=found, remedy="exchange or widen the edges"
        )


def where_lies_in_scope(tree: Tree) -> Iterator[Problem]:
    """What an objective looks at is in the contract's scope."""
    for key in ("models", "routes", "regions"):
        scope = texts_at(tree, "scope", key)
        if not scope:
            continue
        for path, objective in items_at(tree, "objectives"):
            for word in texts_at(objective, "where", key):
                if word not in scope:
                    near = closest(word, scope)
                    yield Problem(
                        path=(*path, "where", key),
                        problem=f"lies outside scope.{key}",
                        found=f'"{word}"',
                        remedy=f"did you mean {near}?"
                        if near
                        else f"write {listed(scope)}, or widen the scope",
                    )


def windows_are_combined(tree: Tree) -> Iterator[Problem]:
    """`combine` says how windows become one number; without windows there is nothing to combine."""
    for path, objective in items_at(tree, "objectives"):
        latency = mapping_at(objective, "latency")
        if "combine" in latency and "window" not in latency:
            yield Problem(
                path=(*path, "latency", "combine"),
                problem="has no windows to combine",
                remedy="add window: 5m, or take combine away",
            )
        availability = mapping_at(objective, "availability")
        if "below_min" in availability and "min_requests" not in availability:
            yield Problem(
                path=(*path, "availability", "below_min"),
                problem="has no minimum to be below",
                remedy="add min_requests: 20, or take below_min away",
            )


def intervals_last_a_second(tree: Tree) -> Iterator[Problem]:
    """Intervals and windows are at least a second long: a month has no more of them than can be judged."""
    for path, objective in items_at(tree, "objectives"):
        for kind, key in (("latency", "window"), ("rate", "window"), ("availability", "interval")):
            length_us = quantity_at(read_duration_us, objective, kind, key)
            if length_us is not None and 0 < length_us < _SHORTEST_INTERVAL_US:
                yield Problem(
                    path=(*path, kind, key),
                    problem="is shorter than a second",
                    found=f'"{text_at(objective, kind, key)}"',
                    remedy=f"write {key}: 1s, or longer",
                )


RULES = (
    names_are_distinct,
    each_promises_one_thing,
    periods_exist,
    ranges_hold_something,
    where_lies_in_scope,
    windows_are_combined,
    intervals_last_a_second,
)
