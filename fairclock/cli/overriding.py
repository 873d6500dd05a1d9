"""Own how options of the command line stand above the configuration: flag, variable, file, default."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import click
from pydantic import BaseModel, ValidationError

from fairclock.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pydantic_core import ErrorDetails

Model = TypeVar("Model", bound=BaseModel)
_STEP = "__"


def overridden(settings: Model, flags: Mapping[str, Any]) -> Model:
    """Return `settings` with the flags that were given in their places; raises `UsageError`, naming the option.

    A flag's name is its path with double underscores, as in ``gateway__syslog__udp``; None and empty tuples are
    flags that were not given.
    """
    given = {name: value for name, value in flags.items() if value is not None and value != ()}
    if not given:
        return settings
    tree: dict[str, Any] = {}
    for name, value in given.items():
        *around, key = name.split(_STEP)
        place = tree
        for step in around:
            place = place.setdefault(step, {})
        place[key] = value
    return _changed(settings, tree)


def _changed(section: Model, changes: Mapping[str, Any], *around: str) -> Model:
    """Return `section` validated anew with `changes`; what it holds already goes in as the values it was read as."""
    values = {name: getattr(section, name) for name in section.model_fields_set}
    for name, change in changes.items():
        inner = getattr(section, name)
        values[name] = _changed(inner, change, *around, name) if isinstance(inner, BaseModel) else change
    try:
        return type(section).model_validate(values)
    except ValidationError as errors:
        raise _wrong(errors.errors(include_url=False)[0], around) from errors


def _wrong(error: ErrorDetails, around: Sequence[str]) -> UsageError:
    name = _STEP.join([*around, *(step for step in error["loc"] if isinstance(step, str))])
    context = error.get("ctx", {})
    is_shown = isinstance(error["input"], str) and not context.get("secret", False)
    return UsageError(
        _option(name),
        str(context.get("problem", error["msg"])),
        found=error["input"] if is_shown else None,
        remedy=str(context["remedy"]) if "remedy" in context else None,
    )


def _option(name: str) -> str:
    context = click.get_current_context(silent=True)
    parameters = context.command.params if context is not None else []
    return next((each.opts[0] for each in parameters if each.name == name), name.replace(_STEP, "."))
