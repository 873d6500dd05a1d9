"""Own what holds although the contract does not say it, so that it is printed as such and never silent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairclock.clauses.clause import Clause
from fairclock.clauses.problems import path_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairclock.clauses.problems import Path
    from sla.contracts.contract import Contract

_SAID_BY_ABSENCE = {
    "quota": "none: quota_rejected is not counted",
    "scope.models": "all",
    "scope.routes": "all",
    "scope.regions": "all",
    "outcomes": "none: outcomes are as logged",
    "unmeasured.time": "not asked: no objective is judged by intervals",
    "unmeasured.unknown_clock": "not asked: no objective can meet an unknown clock",
}
_MEANINGLESS = frozenset({"exclusions", "calendar", "net_of", "notice_to", "tiers", "named"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Default:
    """A path of the contract file that is absent, and what holds there."""

    path: str
    value: str


def applied_defaults(contract: Contract) -> list[Default]:
    """Return every default that holds in `contract`, in the order of the reference."""
    return [Default(path=path_text(path), value=value) for path, value in _of(contract, ())]


def _of(clause: Clause, path: Path) -> Iterator[tuple[Path, str]]:
    written = clause.model_dump(mode="json", by_alias=True)
    for name, field in type(clause).model_fields.items():
        key = field.alias or name
        value, inner = getattr(clause, name), (*path, key)
        if name in clause.model_fields_set:
            yield from _within(value, inner)
        elif path_text(inner) in _SAID_BY_ABSENCE:
            yield inner, _SAID_BY_ABSENCE[path_text(inner)]
        elif isinstance(value, Clause) and isinstance(written[key], dict):
            yield from _of(value, inner) if key not in _MEANINGLESS else ()
        elif value is not None and key not in _MEANINGLESS:
            yield inner, _text(written[key])


def _within(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(value, Clause):
        yield from _of(value, path)
    elif isinstance(value, tuple):
        for number, entry in enumerate(value):
            yield from _within(entry, (*path, number))


def _text(value: Any) -> str:
    return {True: "true", False: "false"}.get(value, str(value)) if isinstance(value, bool) else str(value)
