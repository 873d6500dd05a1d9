"""Own the published JSON Schema of files of clauses, for editors and for other programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fairclock.clauses.clause import Clause

_NULL = {"type": "null"}


def published_schema(model: type[Clause], *, identifier: str, title: str, description: str) -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of a file; numbers may be written as numbers or as texts."""
    schema = _pruned(model.model_json_schema(by_alias=True, mode="validation"))
    body = {key: value for key, value in schema.items() if key not in {"title", "description"}}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": identifier,
        "title": title,
        "description": description,
        **body,
    }


def _pruned(schema: Any) -> Any:
    """Take out what only Python means: an absent key is absent and not null, and titles repeat the keys."""
    if isinstance(schema, list):
        return [_pruned(entry) for entry in schema if entry != _NULL]
    if not isinstance(schema, dict):
        return schema
    pruned = {
        key: _pruned(value)
        for key, value in schema.items()
        if not (key == "title" and isinstance(value, str)) and not (key == "default" and _says_nothing(value))
    }
    if isinstance(pruned.get("default"), dict):
        pruned["default"] = {key: value for key, value in pruned["default"].items() if value is not None}
    alternatives = pruned.get("anyOf")
    if isinstance(alternatives, list) and len(alternatives) == 1:
        return {**{key: value for key, value in pruned.items() if key != "anyOf"}, **alternatives[0]}
    return pruned


def _says_nothing(default: Any) -> bool:
    if isinstance(default, dict):
        return all(_says_nothing(value) for value in default.values())
    return default is None or default in ([], "")
