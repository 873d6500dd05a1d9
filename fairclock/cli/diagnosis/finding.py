"""Own what a check finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from fairclock.errors import FairclockError

State = Literal["ok", "warning", "error"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """How one thing fares; whatever is not ok comes with a remedy."""

    check: str
    state: State
    detail: str
    remedy: str = ""

    def __post_init__(self) -> None:
        """Refuse a problem without a remedy."""
        if self.state != "ok" and not self.remedy:
            raise ValueError(f"{self.check}: a finding needs a remedy ({self.detail})")


def ok(check: str, detail: str) -> Finding:
    """Return a finding that all is well."""
    return Finding(check=check, state="ok", detail=detail)


def warning(check: str, detail: str, remedy: str) -> Finding:
    """Return a finding of something that may turn into a problem."""
    return Finding(check=check, state="warning", detail=detail, remedy=remedy)


def error(check: str, detail: str, remedy: str) -> Finding:
    """Return a finding of something that does not work."""
    return Finding(check=check, state="error", detail=detail, remedy=remedy)


def from_error(check: str, problem: FairclockError) -> Finding:
    """Return the finding that an error amounts to."""
    found = f" ({problem.found})" if problem.found else ""
    detail = f"{problem.where}: {problem.problem}{found}"
    return error(check, detail, problem.remedy or "correct it, and run fairclock doctor again")
