"""Own what the contract's clauses' own checks say, turned into problems with paths and suggestions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import ValidationError

from fairclock.clauses.problems import Path, Problem, found_text
from fairclock.clauses.suggestions import closest, listed, one_of
from fairclock.clauses.validation import Guide, without_echoes
from sla.contracts.calendar import CalendarClause, PeriodRule
from sla.contracts.clause_examples import example_for
from sla.contracts.consistency.answers import open_question
from sla.contracts.contract import Contract
from sla.contracts.objectives import FORMULAS, KINDS, TAGGED

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

    from fairclock.clauses.source import Tree

ASKED = frozenset(
    {
        ("clock", "start"),
        ("objectives", "availability", "empty"),
        ("unmeasured", "coverage_floor"),
        ("unmeasured", "below_floor"),
    }
)
"""Questions that have no default because the answer changes a verdict (paths without numbers)."""


def validate(tree: Tree) -> tuple[Contract | None, list[Problem]]:
    """Return the contract that `tree` is, or every problem that its clauses have."""
    try:
        return Contract.model_validate(tree), []
    except ValidationError as errors:
        found = [GUIDE.problem(error) for error in errors.errors(include_url=False) if not _is_echo(error)]
        return None, without_echoes(found)


def _is_echo(error: ErrorDetails) -> bool:
    """Tell whether an error only repeats another: a list emptied by its bad entries, a second kind of promise."""
    if error["type"] == "too_short":
        return bool(error["input"])
    extra = error["type"] == "extra_forbidden"
    return (
        extra and error["loc"][0] == "objectives" and error["loc"][-1] in KINDS and error["loc"][-2] in TAGGED
    )


def words_of(path: Path) -> tuple[str, ...]:
    """Return `path` without the numbers in lists."""
    return tuple(step for step in path if isinstance(step, str))


def _asked(path: Path) -> Problem | None:
    return open_question(path) if words_of(path) in ASKED else None


def _no_kind(path: Path, error: ErrorDetails) -> Problem:
    value = error["input"]
    if not isinstance(value, dict):
        return Problem(
            path=path,
            problem="is not a mapping of keys and values",
            found=found_text(value),
            remedy="write {name: p99, latency: {clock: end_to_end, percentile: 99, at_most: 2s}}",
        )
    near = next(
        (f"did you mean {kind} in place of {key}?" for key in value if (kind := closest(key, KINDS))), ""
    )
    return Problem(
        path=path,
        problem=f"promises none of {listed(KINDS, 'and')}",
        found=found_text(value),
        remedy=near or f"add, for example, {example_for((*path, 'latency'))}",
    )


def _no_formula(path: Path, error: ErrorDetails) -> Problem:
    value = error["input"]
    if not isinstance(value, dict):
        return Problem(
            path=path,
            problem="is not a mapping of keys and values",
            found=found_text(value),
            remedy=GUIDE.write(path),
        )
    inner = (*path, "formula")
    if "formula" not in value:
        return Problem(path=inner, problem="is missing", remedy=GUIDE.write(inner))
    formula = value["formula"]
    return Problem(
        path=inner,
        problem="is no formula of availability",
        found=found_text(formula),
        remedy=one_of(str(formula), FORMULAS),
    )


GUIDE = Guide(
    model=Contract,
    example=example_for,
    reference="docs/contract-reference.md",
    tagged=TAGGED,
    free_keys={CalendarClause: PeriodRule},
    open_question=_asked,
    others={"no_kind": _no_kind, "no_formula": _no_formula},
)
