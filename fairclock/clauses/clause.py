"""Own what every clause of a file shares: it is strict, closed to unknown keys, and never changes."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Clause(BaseModel):
    """A part of the file; its keys are the file's keys."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, arbitrary_types_allowed=True)


TAG_MARK = "«"
"""Begins the tag of a choice between clauses, so that a tag is never mistaken for a key."""


def tag(name: str) -> str:
    """Return the tag of the choice `name`."""
    return f"{TAG_MARK}{name}»"
