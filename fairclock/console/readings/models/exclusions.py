"""Own what the page of exclusions shows, what may be proposed there, and what came of it."""

# pydantic reads what annotations name when the program runs
# ruff: noqa: TC003

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import AwareDatetime, Field, StringConstraints

from fairclock.console.readings.models.base import Count, Measured, Page, Shown

Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2000)]
Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]


class ClauseRule(Shown):
    """What a contract says of one reason to leave time out: notice, cap, and whether somebody may propose it."""

    contract: str
    clause: str
    may_propose: bool
    notice_seconds: int | None
    notice_to: tuple[str, ...]
    cap_seconds_per_month: float | None
    cap_ratio_per_month: float | None
    is_automatic: bool
    """cold starts: found by the engines' own lives, and never proposed"""


class ExclusionRow(Shown):
    """An exclusion as it stands; `marks` are what is doubtful about it (late, retroactive, …)."""

    id: str
    contract: str
    clause: str
    state: str
    starts_at: datetime
    ends_at: datetime | None
    recurrence: str
    time_zone: str
    reason: str
    evidence: str
    author: str
    recorded_at: datetime | None
    notice_at: datetime | None
    notice_to: tuple[str, ...]
    answer_by: datetime | None
    answered_by: str | None
    answered_at: datetime | None
    answer_comment: str | None
    answer_evidence: str | None


class CapUse(Shown):
    """How much of a clause's cap the contract's latest month has used."""

    contract: str
    clause: str
    month: str
    used_seconds: float
    allowed_seconds: float | None


class ExclusionPage(Page):
    """Exclusions of every contract the caller may see, the newest first, and the rules for new ones."""

    exclusions: tuple[ExclusionRow, ...]
    rules: tuple[ClauseRule, ...]
    caps: tuple[CapUse, ...]
    may_propose: bool
    measured: Measured


class ExclusionProposal(Shown):
    """What is proposed; it leaves nothing out until the customer's side accepts it."""

    contract: Name
    clause: Name
    starts_at: AwareDatetime
    ends_at: AwareDatetime | None = None
    recurrence: Annotated[str, Field(max_length=1000)] = ""
    exceptions: Annotated[tuple[str, ...], Field(max_length=100)] = ()
    time_zone: Annotated[str | None, Field(max_length=100)] = None
    reason: Words
    author: Name
    evidence: Annotated[str, Field(max_length=2000)] = ""
    notice_at: AwareDatetime | None = None
    notice_to: Annotated[tuple[Name, ...], Field(max_length=20)] = ()
    answer_by: AwareDatetime | None = None


class Mark(Shown):
    """What is doubtful about a proposal: `kind` is a word, `sentence` says it in English."""

    kind: str
    sentence: str


class ExclusionProposed(Shown):
    """The exclusion as it was kept, and what is doubtful about it."""

    exclusion: ExclusionRow
    marks: tuple[Mark, ...]


class ChangeRow(Shown):
    """One thing that somebody changed, or tried to, through the console: of the audit log."""

    at: datetime
    who: str
    scope: str
    address: str
    action: str
    subject: str
    outcome: str
    detail: str


class ChangePage(Page):
    """The latest changes, the newest first; for administrators."""

    changes: tuple[ChangeRow, ...]
    most: Count
    measured: Measured
