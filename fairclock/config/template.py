"""Own the file to begin with: every key with what it is about, commented out where nothing is known of it."""

from __future__ import annotations

import textwrap
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from pydantic import BaseModel

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pydantic.fields import FieldInfo

_WIDTH = 100
_NEVER_WRAPPED = 10_000
_INDENT = "  "
_UNITS = ((1 << 30, "GiB"), (1 << 20, "MiB"))


def template(
    model: type[BaseModel], settings: Mapping[str, Any] | None = None, *, notes: Sequence[str] = ()
) -> str:
    """
    Return the text of a configuration file with every key of `model`: what `settings` say, else its default, commented out.

    `settings` are named by their paths (``gpu.source``); `notes` are the lines of a comment at its head.
    """
    head = "".join(f"# {note}\n" for note in notes) + ("#\n" if notes else "")
    head += (
        "# What is commented out is the default, or an example. Flags and variables stand above this file.\n"
    )
    lines = _lines(model, "", settings or {}, "")
    return head + "".join(f"\n{line}" if line and line[0] not in " #" else line for line in lines)


def _lines(model: type[BaseModel], indent: str, settings: Mapping[str, Any], above: str) -> Iterator[str]:
    for name, field in model.model_fields.items():
        section, path = _section_in(field.annotation), f"{above}{name}"
        if section is not None:
            yield f"{indent}{name}:  # {' '.join((section.__doc__ or '').split()).replace('``', '`')}\n"
            yield from _lines(section, indent + _INDENT, settings, f"{path}.")
            continue
        about = (field.description or "").replace("``", "`")
        yield from (f"{indent}# {line}\n" for line in textwrap.wrap(about, _WIDTH - len(indent)))
        if path in settings:
            yield f"{indent}{name}: {_flow(settings[path])}\n"
        else:
            yield f"{indent}# {name}: {example_of(field)}\n"


def _flow(value: Any) -> str:
    text: str = yaml.safe_dump(value, default_flow_style=True, sort_keys=False, width=_NEVER_WRAPPED)
    return text.removesuffix("...\n").strip()


def _section_in(annotation: Any) -> type[BaseModel] | None:
    is_section = isinstance(annotation, type) and issubclass(annotation, BaseModel)
    return annotation if is_section else None


def example_of(field: FieldInfo) -> str:
    """Return the default of a key, or an example where there is none, as it is written in the file."""
    value: Any = field.default if field.default not in (None, (), {}) else next(iter(field.examples or [""]))
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        factor, unit = next(((factor, unit) for factor, unit in _UNITS if value % factor == 0), (1, ""))
        return f"{value // factor} {unit}".rstrip()
    if isinstance(value, float):
        return f"{value:g}s"
    if isinstance(value, tuple) and all(isinstance(each, float) for each in value):
        return f"[{', '.join(f'{each:g}s' for each in value)}]"
    if isinstance(value, (list, tuple, dict)):
        plain = (
            [str(each) if isinstance(each, Enum) else each for each in value]
            if isinstance(value, tuple)
            else value
        )
        return _flow(plain)
    text = str(value) if isinstance(value, (str, Path)) else ""
    return f'"{text}"' if ":" in text else text
