"""Own the tiles: a few figures that are read first, each with what it means beside it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """A figure with its name; `is_missing` where there is none, `is_risk` where its note tells of trouble."""

    name: str
    value: str
    unit: str = ""
    note: str = ""
    is_missing: bool = False
    is_risk: bool = False
