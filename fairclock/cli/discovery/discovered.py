"""Own what a look at the machine comes to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovered:
    """One statement about the machine; `settings` are the keys (``gpu.source``) that follow from it."""

    subject: str
    detail: str
    is_there: bool = True
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def mark(self) -> str:
        """Return in a word what became of it."""
        if not self.is_there:
            return "not found"
        return "found" if self.settings else "seen"


def absent(subject: str, detail: str) -> Discovered:
    """Return that something is not there."""
    return Discovered(subject=subject, detail=detail, is_there=False)
