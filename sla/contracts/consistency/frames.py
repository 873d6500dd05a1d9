"""Own the checks between the clauses that frame the promises."""

# Rules state what holds, not what they do.
# ruff: noqa: D401

from __future__ import annotations

from typing import TYPE_CHECKING

from fairclock.clauses.problems import Path, Problem
from fairclock.clauses.quantities import read_count, read_date, read_duration_us
from sla.contracts.consistency.tree import at, items_at, mapping_at, quantity_at, text_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairclock.clauses.source import Tree

_HIGHEST_STATUS = 599


def term_runs_forward(tree: Tree) -> Iterator[Problem]:
    """The last day does not lie before the first."""
    first = quantity_at(read_date, tree, "term", "from")
    last = quantity_at(read_date, tree, "term", "to")
    if first is not None and last is not None and last < first:
        yield Problem(
            path=("term", "to"),
            problem="lies before term.from",
            found=f"{last} before {first}",
            remedy=f"write a last day from {first} on",
        )


def title_says_something(tree: Tree) -> Iterator[Problem]:
    """A title has a text in at least one language."""
    title = at(tree, "title")
    if isinstance(title, dict) and not {"en", "zh"} & title.keys():
        yield Problem(
            path=("title",), problem="has no text", remedy="write title: {en: …, zh: …}, one of them at least"
        )


def backoff_grows(tree: Tree) -> Iterator[Problem]:
    """The longest pause between tries is not shorter than the first."""
    path = ("retries", "with_backoff")
    first = quantity_at(read_duration_us, tree, *path, "from")
    longest = quantity_at(read_duration_us, tree, *path, "to")
    if first is not None and longest is not None and longest < first:
        yield Problem(
            path=(*path, "to"),
            problem="is shorter than the first pause",
            found=f'"{text_at(tree, *path, "to")}"',
            remedy="write a longest pause that is at least as long as `from`",
        )


def quota_limits_something(tree: Tree) -> Iterator[Problem]:
    """A quota names at least one limit."""
    quota = at(tree, "quota")
    if isinstance(quota, dict) and not {"requests_per_minute", "tokens_per_minute"} & quota.keys():
        yield Problem(
            path=("quota",),
            problem="limits nothing",
            remedy="add requests_per_minute or tokens_per_minute, or take the quota away",
        )


def outcome_rules_are_conditions(tree: Tree) -> Iterator[Problem]:
    """Each remapping has a condition, and no condition is mapped twice."""
    seen: dict[tuple[Tree, Tree], int] = {}
    for path, rule in items_at(tree, "outcomes"):
        if not {"status", "error_code"} & rule.keys():
            yield Problem(
                path=path, problem="has no condition", remedy="add status: 503, error_code: …, or both"
            )
            continue
        status = quantity_at(read_count, rule, "status")
        if status is not None and status > _HIGHEST_STATUS:
            yield Problem(
                path=(*path, "status"),
                problem="is no HTTP status",
                found=f'"{rule["status"]}"',
                remedy="write a status from 0 to 599",
            )
        condition = (rule.get("status"), rule.get("error_code"))
        if condition in seen:
            yield Problem(
                path=path,
                problem="has the same condition as another rule",
                found=f"outcomes[{seen[condition]}]",
                remedy="keep one of them",
            )
        seen.setdefault(condition, int(path[-1]))


def no_list_repeats_itself(tree: Tree) -> Iterator[Problem]:
    """No list of words holds a word twice."""
    yield from _repeats(tree, ())


def _repeats(tree: Tree, path: Path) -> Iterator[Problem]:
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield from _repeats(value, (*path, key))
    elif isinstance(tree, tuple):
        seen: set[str] = set()
        for number, value in enumerate(tree):
            if isinstance(value, str) and value in seen:
                yield Problem(
                    path=(*path, number),
                    problem="stands twice in its list",
                    found=f'"{value}"',
                    remedy="keep one",
                )
            elif isinstance(value, str):
                seen.add(value)
            yield from _repeats(value, (*path, number))


def quality_levels_are_distinct(tree: Tree) -> Iterator[Problem]:
    """No level's name, and no mode, belongs to two levels."""
    names: set[str] = set()
    modes: dict[str, str] = {}
    for path, level in items_at(tree, "quality", "levels"):
        name = text_at(level, "name") or ""
        if name in names:
            yield Problem(
                path=(*path, "name"),
                problem="is the name of another level too",
                found=f'"{name}"',
                remedy="give each level a name of its own",
            )
        names.add(name)
        listed = at(level, "modes")
        for number, mode in enumerate(listed if isinstance(listed, tuple) else ()):
            if isinstance(mode, str) and modes.setdefault(mode, name) != name:
                yield Problem(
                    path=(*path, "modes", number),
                    problem="belongs to another level too",
                    found=f'"{mode}" in "{modes[mode]}"',
                    remedy="list each mode in one level",
                )


def makeup_needs_holidays(tree: Tree) -> Iterator[Problem]:
    """Makeup workdays are those of a holiday calendar."""
    calendar = mapping_at(tree, "calendar")
    if calendar.get("makeup_workdays") == "true" and "holidays" not in calendar:
        yield Problem(
            path=("calendar", "makeup_workdays"),
            problem="needs a holiday calendar",
            remedy="add holidays: CN, or another country's code",
        )


RULES = (
    term_runs_forward,
    title_says_something,
    backoff_grows,
    quota_limits_something,
    outcome_rules_are_conditions,
    no_list_repeats_itself,
    quality_levels_are_distinct,
    makeup_needs_holidays,
)
