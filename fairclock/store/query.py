"""Own the value that carries SQL and its parameters together."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """SQL with ``{name:Type}`` placeholders, and the values for them."""

    sql: str
    parameters: Mapping[str, object] = field(default_factory=dict)


def sql_file(name: str) -> str:
    """Return the text of ``fairclock/store/sql/NAME.sql``, usable as a subquery."""
    return (files("fairclock.store") / "sql" / f"{name}.sql").read_text(encoding="utf-8").strip()
