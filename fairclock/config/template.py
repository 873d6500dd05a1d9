"""Own the file to begin with: every key with what it is about, commented out."""

from __future__ import annotations

import textwrap
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from pydantic import BaseModel

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic.fields import FieldInfo

_WIDTH = 100
_NEVER_WRAPPED = 10_000
_INDENT = "  "
_UNITS = ((1 << 30, "GiB"), (1 << 20, "MiB"))


def template(model: type[BaseModel]) -> str:
    """Return the text of a configuration file that says nothing, with every key of `model` and its default."""
    head = (
        "# What is commented out is the default, or an example. Flags and variables stand above this file.\n"
    )
    return head + "".join(f"\n{line}" if line and line[0] not in " #" else line for line in _lines(model, ""))


def _lines(model: type[BaseModel], indent: str) -> Iterator[str]:
    for name, field in model.model_fields.items():
        section = _section_in(field.annotation)
        if section is not None:
            yield f"{indent}{name}:  # {' '.join((section.__doc__ or '').split()).replace('``', '`')}\n"
            yield from _lines(section, indent + _INDENT)
            continue
        about = (field.description or "").replace("``", "`")
        yield from (f"{indent}# {line}\n" for line in textwrap.wrap(about, _WIDTH - len(indent)))
        yield f"{indent}# {name}: {_value(field)}\n"


def _section_in(annotation: Any) -> type[BaseModel] | None:
    is_section = isinstance(annotation, type) and issubclass(annotation, BaseModel)
    return annotation if is_section else None


def _value(field: FieldInfo) -> str:
    value: Any = field.default if field.default not in (None, (), {}) else next(iter(field.examples or [""]))
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        factor, unit = next(((factor, unit) for factor, unit in _UNITS if value % factor == 0), (1, ""))
        return f"{value // factor} {unit}".rstrip()
    if isinstance(value, float):
        return f"{value:g}s"
    if isinstance(value, (list, tuple, dict)):
        plain = (
            [str(each) if isinstance(each, Enum) else each for each in value]
            if isinstance(value, tuple)
            else value
        )
        return yaml.safe_dump(plain, default_flow_style=True, sort_keys=False, width=_NEVER_WRAPPED).strip()
    text = str(value) if isinstance(value, (str, Path)) else ""
    return f'"{text}"' if ":" in text else text
