"""Own how options of the command line stand above the configuration: flag, variable, file, default."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import click
from pydantic import BaseModel, ValidationError

from fairclock.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

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
    tree = settings.model_dump(exclude_unset=True)
    for name, value in given.items():
        *around, key = name.split(_STEP)
        place = tree
        for step in around:
            place = place.setdefault(step, {})
        place[key] = value
    try:
        return type(settings).model_validate(tree)
    except ValidationError as errors:
        raise _wrong(errors.errors(include_url=False)[0]) from errors


def _wrong(error: ErrorDetails) -> UsageError:
    name = _STEP.join(step for step in error["loc"] if isinstance(step, str))
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
