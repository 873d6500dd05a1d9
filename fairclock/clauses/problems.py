"""Own what a problem of a file of clauses looks like: where, what, found what, and what to write instead."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

Path: TypeAlias = "tuple[str | int, ...]"
_LONGEST_FOUND = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that keeps a file from being what it is said to be."""

    path: Path
    problem: str
    found: str | None = None
    remedy: str
    asked: bool = False
    """Whether it is a question that the file leaves unanswered, rather than a mistake in its form."""
    missing: bool = False
    """Whether it is about a key that is not there."""
    unknown: bool = False
    """Whether it is about a key that means nothing here."""
    meant: Path | None = None
    """Where an unknown key was most likely meant to be."""


def path_text(path: Path) -> str:
    """Write a path as ``objectives[2].latency.at_most``."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += f".{step}" if text else step
    return text or "(the whole file)"


def found_text(value: object) -> str:
    """Write what was found, short enough for a sentence."""
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        return "a mapping with " + (", ".join(list(value)[:4]) or "no keys")
    if isinstance(value, tuple):
        return f"a list of {len(value)}"
    text = str(value)
    short = text if len(text) <= _LONGEST_FOUND else text[: _LONGEST_FOUND - 1] + "…"
    return ascii(short) if any(not character.isprintable() for character in short) else f'"{short}"'
