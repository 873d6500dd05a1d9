"""Own what clauses' own checks say, turned into problems with paths and remedies."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, get_args

from fairclock.clauses.clause import TAG_MARK, Clause
from fairclock.clauses.fields import PROBLEM
from fairclock.clauses.problems import Path, Problem, found_text
from fairclock.clauses.suggestions import closest, listed, one_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pydantic_core import ErrorDetails


@dataclass(frozen=True, slots=True, kw_only=True)
class Guide:
    """What is known of one kind of file when a remedy is looked for."""

    model: type[Clause]
    example: Callable[[Path], str | None]
    """Returns the clause to suggest at a path."""
    reference: str
    """Where the file is described."""
    tagged: Mapping[str, type[Clause]] = field(default_factory=dict)
    """The clauses behind the tags of choices."""
    free_keys: Mapping[type[Clause], type[Clause]] = field(default_factory=dict)
    """The clauses below keys that the file's author names."""
    open_question: Callable[[Path], Problem | None] = lambda _path: None
    """Returns the problem where what is missing is a question."""
    others: Mapping[str, Callable[[Path, ErrorDetails], Problem]] = field(default_factory=dict)
    """What to say of the kinds of error that only this file has."""

    def problem(self, error: ErrorDetails) -> Problem:
        """Return one error of pydantic's as a problem."""
        path = tuple(step for step in error["loc"] if not str(step).startswith(TAG_MARK))
        if error["type"] == "extra_forbidden":
            return _unknown(path, self._model_at(error["loc"][:-1]))
        by_type = {
            "missing": self._missing,
            "too_short": self._empty,
            PROBLEM: _of_value,
            "literal_error": _not_a_choice,
            **self.others,
        }
        return by_type.get(error["type"], self._not_of_shape)(path, error)

    def write(self, path: Path) -> str:
        """Return the remedy to write what belongs at `path`."""
        example = self.example(path)
        return f"write {example}" if example else f"see {self.reference}"

    def _empty(self, path: Path, error: ErrorDetails) -> Problem:
        del error
        return Problem(path=path, problem="is an empty list", remedy=self.write(path))

    def _missing(self, path: Path, error: ErrorDetails) -> Problem:
        del error
        question = self.open_question(path)
        if question is not None:
            return question
        return Problem(path=path, problem="is missing", remedy=self.write(path), missing=True)

    def _not_of_shape(self, path: Path, error: ErrorDetails) -> Problem:
        shape = "a list" if error["type"] == "tuple_type" else "a mapping of keys and values"
        found = found_text(error["input"])
        return Problem(path=path, problem=f"is not {shape}", found=found, remedy=self.write(path))

    def _model_at(self, steps: Path) -> type[Clause] | None:
        """Return the clause that holds the key at the end of an error's place."""
        model: type[Clause] | None = self.model
        for step in steps:
            if step in self.tagged:
                model = self.tagged[str(step)]
            elif isinstance(step, str) and model is not None:
                model = self._model_of_key(model, step)
        return model

    def _model_of_key(self, model: type[Clause], key: str) -> type[Clause] | None:
        for name, info in model.model_fields.items():
            if (info.alias or name) == key:
                return next(_models_in(info.annotation), None)
        return self.free_keys.get(model)


def keys_of(model: type[Clause]) -> list[str]:
    """Return the keys that a clause has in the file."""
    return [info.alias or name for name, info in model.model_fields.items()]


def without_echoes(problems: list[Problem]) -> list[Problem]:
    """Leave out what is missing where a key that is not known was most likely meant to be it."""
    meant = {problem.meant for problem in problems}
    return [problem for problem in problems if not (problem.missing and problem.path in meant)]


def without_repeats(problems: list[Problem]) -> list[Problem]:
    """Keep the first problem of each place, and none inside a place that has no value at all."""
    kept: dict[Path, Problem] = {}
    for problem in problems:
        kept.setdefault(problem.path, problem)
    return list(kept.values())


def _of_value(path: Path, error: ErrorDetails) -> Problem:
    found, context = found_text(error["input"]), error["ctx"]
    return Problem(path=path, problem=context["problem"], found=found, remedy=context["remedy"])


def _unknown(path: Path, model: type[Clause] | None) -> Problem:
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


def _models_in(annotation: Any) -> Any:
    if isinstance(annotation, type) and issubclass(annotation, Clause):
        yield annotation
    for argument in get_args(annotation):
        yield from _models_in(argument)
