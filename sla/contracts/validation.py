"""Own what the clauses' own checks say, turned into problems with paths and suggestions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

from pydantic import BaseModel, ValidationError

from sla.contracts.calendar import CalendarClause, PeriodRule
from sla.contracts.clause_examples import example_for
from sla.contracts.clauses import TAG_MARK, Clause
from sla.contracts.consistency.answers import open_question
from sla.contracts.contract import Contract
from sla.contracts.fields import PROBLEM
from sla.contracts.objectives import FORMULAS, KINDS, TAGGED
from sla.contracts.problems import Path, Problem, found_text
from sla.contracts.suggestions import closest, listed, one_of

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

    from sla.contracts.source import Tree

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
        found = [_problem(error) for error in errors.errors(include_url=False) if not _is_echo(error)]
        meant = {problem.meant for problem in found}
        return None, [problem for problem in found if not (problem.missing and problem.path in meant)]


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


def _problem(error: ErrorDetails) -> Problem:
    path = tuple(step for step in error["loc"] if not str(step).startswith(TAG_MARK))
    kind = error["type"]
    if kind == "missing":
        return _missing(path)
    if kind == "extra_forbidden":
        return _unknown(path, _model_at(error["loc"][:-1]))
    of_kind = _BY_TYPE.get(kind, _not_of_shape)
    return of_kind(path, error)


def _of_value(path: Path, error: ErrorDetails) -> Problem:
    found, context = found_text(error["input"]), error["ctx"]
    return Problem(path=path, problem=context["problem"], found=found, remedy=context["remedy"])


def _empty(path: Path, error: ErrorDetails) -> Problem:
    del error
    return Problem(path=path, problem="is an empty list", remedy=_write(path))


def _not_of_shape(path: Path, error: ErrorDetails) -> Problem:
    shape = "a list" if error["type"] == "tuple_type" else "a mapping of keys and values"
    found = found_text(error["input"])
    return Problem(path=path, problem=f"is not {shape}", found=found, remedy=_write(path))


def _write(path: Path) -> str:
    example = example_for(path)
    return f"write {example}" if example else "see docs/contract-reference.md"


def _missing(path: Path) -> Problem:
    asked = words_of(path) in ASKED
    if asked:
        return open_question(path)
    return Problem(path=path, problem="is missing", remedy=_write(path), missing=True)


def _unknown(path: Path, model: type[BaseModel] | None) -> Problem:
    known = [] if model is None else keys_of(model)
    near = closest(str(path[-1]), known)
    remedy = f"did you mean {near}?" if near else f"the keys here are {listed(known, 'and')}"
    meant = (*path[:-1], near) if near else None
    return Problem(path=path, problem="is not a key of this clause", remedy=remedy, unknown=True, meant=meant)


def _not_a_choice(path: Path, error: ErrorDetails) -> Problem:
    choices = error["ctx"]["expected"].replace("'", "").replace(" or ", ", ").split(", ")
    value = error["input"]
    remedy = one_of(value, choices) if isinstance(value, str) else f"write {listed(choices)}"
    return Problem(path=path, problem="is none of its choices", found=found_text(value), remedy=remedy)


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
            remedy=_write(path),
        )
    inner = (*path, "formula")
    if "formula" not in value:
        return Problem(path=inner, problem="is missing", remedy=_write(inner))
    formula = value["formula"]
    return Problem(
        path=inner,
        problem="is no formula of availability",
        found=found_text(formula),
        remedy=one_of(str(formula), FORMULAS),
    )


_BY_TYPE = {
    PROBLEM: _of_value,
    "literal_error": _not_a_choice,
    "no_kind": _no_kind,
    "no_formula": _no_formula,
    "too_short": _empty,
}


def keys_of(model: type[BaseModel]) -> list[str]:
    """Return the keys that a clause has in the file."""
    return [field.alias or name for name, field in model.model_fields.items()]


def _model_at(steps: Path) -> type[BaseModel] | None:
    """Return the clause that holds the key at the end of an error's place."""
    model: type[BaseModel] | None = Contract
    for step in steps:
        if step in TAGGED:
            model = TAGGED[str(step)]
        elif isinstance(step, str) and model is not None:
            model = _model_of_key(model, step)
    return model


def _model_of_key(model: type[BaseModel], key: str) -> type[BaseModel] | None:
    for name, field in model.model_fields.items():
        if (field.alias or name) == key:
            return next(_models_in(field.annotation), None)
    if model is CalendarClause:
        return PeriodRule
    return None


def _models_in(annotation: Any) -> Any:
    if isinstance(annotation, type) and issubclass(annotation, Clause):
        yield annotation
    for argument in get_args(annotation):
        yield from _models_in(argument)
