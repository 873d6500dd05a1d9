"""Own what is said about values that a section refuses."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any, get_args

from pydantic import BaseModel

from fairclock.config.values import PROBLEM
from fairclock.config.yaml_text import dotted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic_core import ErrorDetails

    from fairclock.config.yaml_text import Path

_LONGEST_FOUND = 60
_REMEDIES = {
    "bool_parsing": "write true or false",
    "int_parsing": "write a whole number",
    "float_parsing": "write a number",
    "model_type": "write keys and values below it",
    "list_type": "write a list: [first, second]",
    "tuple_type": "write a list: [first, second]",
    "string_type": "write a text",
}


def sentence(error: ErrorDetails, model: type[BaseModel]) -> str:
    """Return ``path: problem (found); remedy`` for one error of pydantic's."""
    path: Path = error["loc"]
    problem, remedy = _told(error, path, model)
    is_secret = error.get("ctx", {}).get("secret", False)
    found = "" if is_secret or error["type"] == "extra_forbidden" else _found(error["input"])
    return f"{dotted(path)}: {problem}{found}; {remedy}"


def _told(error: ErrorDetails, path: Path, model: type[BaseModel]) -> tuple[str, str]:
    kind, context = error["type"], error.get("ctx", {})
    if kind == "extra_forbidden":
        return "is not a key of the configuration", _instead(path, model)
    if error["input"] is None:
        return "has no value", "write one, or take the key away"
    if kind == PROBLEM:
        return context["problem"], context["remedy"]
    if kind == "literal_error":
        return "is none of its choices", f"write {context['expected']}"
    if kind in _REMEDIES:
        return "is not of the right kind", _REMEDIES[kind]
    return error["msg"][0].lower() + error["msg"][1:], "correct it"


def _found(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        return ""
    return f" ({value[:_LONGEST_FOUND]}{'…' if len(value) > _LONGEST_FOUND else ''})"


def _instead(path: Path, model: type[BaseModel]) -> str:
    around: type[BaseModel] | None = model
    for step in path[:-1]:
        field = around.model_fields.get(str(step)) if around is not None and isinstance(step, str) else None
        around = next(_models_in(field.annotation), None) if field is not None else around
    keys = [] if around is None else list(around.model_fields)
    near = difflib.get_close_matches(str(path[-1]), keys, n=1)
    return f"did you mean {near[0]}?" if near else f"the keys here are {', '.join(keys)}"


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _models_in(argument)
