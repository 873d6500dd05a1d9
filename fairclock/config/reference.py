"""Own the reference of the configuration: a page with every section and every key, made of the models."""

from __future__ import annotations

import types
from enum import Enum
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel

from fairclock.config.template import example_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic.fields import FieldInfo

_WRITTEN = {
    "_seconds": "duration",
    "_bytes": "size",
    "_path": "path",
    "_listening": "address or `off`",
    "_share": "share",
}
_PLAIN = {str: "text", int: "number", float: "number", bool: "`true` or `false`"}
_NOTHING = "–"
_HEAD = """\
# Configuration

Every key of `fairclock.yaml`, what it is about, how its value is written, and what holds without it. This page is made of
the program's own models by `python docs/make_configuration.py`; a test holds it against them.

`fairclock init` writes the same as a file to begin with; `fairclock doctor` checks one. A setting is taken from the command
line, else from a variable of the environment, else from the file, else it is the default here. The file is the one that
`--config` names, else `FAIRCLOCK_CONFIG`, else `fairclock.yaml` in the working directory. Keys that are not known are refused,
and all problems of a file are told at once.

| written | is |
|---|---|
| duration | `500ms`, `5s`, `2min`, `6h`, `3d` |
| size | `512 MiB`, `2 GB` |
| share | `80%` |
| path | of a file or folder; a relative one counts from the folder of the configuration file |
| address | `127.0.0.1:8780`, `[::1]:8780` |
"""


def reference(model: type[BaseModel]) -> str:
    """Return the page, in Markdown."""
    return _HEAD + "".join(_section(model, ()))


def _section(model: type[BaseModel], path: tuple[str, ...]) -> Iterator[str]:
    if path:
        about = " ".join((model.__doc__ or "").split()).replace("``", "`")
        yield f"\n{'##' if len(path) == 1 else '###'} `{'.'.join(path)}`\n\n{about}\n"
    rows = [
        (name, field)
        for name, field in model.model_fields.items()
        if not _inner(field.annotation) or _listed(field.annotation)
    ]
    if path and rows:
        yield "\n| key | | written | without it |\n|---|---|---|---|\n"
        for name, field in rows:
            about = (field.description or "").replace("``", "`")
            yield f"| `{name}` | {_cell(about)} | {_cell(_how(field))} | {_cell(_without(field))} |\n"
    for name, field in model.model_fields.items():
        inner = _inner(field.annotation)
        if inner is not None:
            yield from _section(inner, (*path, f"{name}[]" if _listed(field.annotation) else name))


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _inner(annotation: Any) -> type[BaseModel] | None:
    """Return the section that `annotation` is, or is a list of."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for each in get_args(annotation) if (found := _inner(each))), None)


def _listed(annotation: Any) -> bool:
    return get_origin(annotation) in {tuple, list, dict} or any(map(_listed, get_args(annotation)))


def _how(field: FieldInfo) -> str:
    return _kind(field.annotation, tuple(field.metadata))


def _kind(annotation: Any, metadata: tuple[Any, ...] = ()) -> str:
    """Return how a value of that type is written; what reads it says more of it than the type."""
    read_by = (getattr(getattr(each, "func", None), "__name__", "") for each in metadata)
    if written := next((_WRITTEN[name] for name in read_by if name in _WRITTEN), None):
        return written
    if hasattr(annotation, "__metadata__"):
        return _kind(annotation.__origin__, annotation.__metadata__)
    origin, inner = get_origin(annotation), get_args(annotation)
    match origin:
        case _ if origin is Literal:
            kind = ", ".join(f"`{each}`" for each in inner)
        case _ if origin in {Union, types.UnionType}:
            kind = " or ".join(dict.fromkeys(_kind(each) for each in inner if each is not type(None)))
        case _ if origin in {tuple, list, frozenset, set}:
            each = _kind(next(each for each in inner if each is not Ellipsis))
            kind = "list" if each in {"text", "mapping"} else f"list of {each}"
        case _ if origin is dict or _inner(annotation):
            kind = "mapping"
        case _ if isinstance(annotation, type) and issubclass(annotation, Enum):
            kind = ", ".join(f"`{each.value}`" for each in annotation)
        case _:
            kind = _PLAIN.get(annotation, "text")
    return kind


def _without(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    if field.default in (None, (), {}):
        example = example_of(field)
        return f"{_NOTHING} (such as `{example}`)" if example else _NOTHING
    return f"`{example_of(field)}`" if example_of(field) else _NOTHING
