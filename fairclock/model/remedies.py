"""Own what people say about a period: that it should be left out, or that answers in it were of a lesser quality."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime


class ExclusionState(StrEnum):
    """What has become of an exclusion; `expired` follows from the time and is written nowhere."""

    PROPOSED = "proposed"
    ACCEPTED = "accepted"
    DISPUTED = "disputed"
    REVOKED = "revoked"
    EXPIRED = "expired"
    AUTOMATIC = "automatic"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExclusionEntry:
    """One thing said about one exclusion: its proposal, or an answer to it. `stored_at` is when it was written.

    ends_at: None where the end is not known yet.
    recurrence: an RFC 5545 rule and its EXDATEs, a line each; empty for a single window. What recurs is the
        local time of `starts_at` to `ends_at` in `time_zone`.
    notice_at, notice_to: when the customer was told, and at which addresses; None and () where nobody was.
    answer_by: when a proposal without an answer expires.
    evidence: what the proposal rests on; an answer's own evidence is in `answer_evidence`.
    """

    id: str
    sequence: int
    contract: str
    clause: str
    state: ExclusionState
    starts_at: datetime
    ends_at: datetime | None
    recurrence: str = ""
    time_zone: str
    reason: str
    evidence: str = ""
    notice_at: datetime | None = None
    notice_to: tuple[str, ...] = ()
    answer_by: datetime
    author: str
    comment: str = ""
    answer_evidence: str = ""
    stored_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DegradationEntry:
    """One thing said about one degradation; the entry with the greatest `sequence` of an id holds.

    mode: the `inference_mode` that requests carried; level: a quality level of the contract, or empty.
    ends_at: None while it lasts. tenants: () for all.
    origin: `command`, `api`, `alert`, or `engines` where Fairclock noticed it itself.
    kind, engine, evidence: what happened to which engine, and what shows it; empty where somebody said it. What is
        noticed has no mode and no level.
    """

    id: str
    sequence: int
    mode: str
    level: str = ""
    starts_at: datetime
    ends_at: datetime | None
    tenants: tuple[str, ...] = ()
    reason: str
    author: str
    origin: str
    kind: str = ""
    engine: str = ""
    evidence: str = ""
    stored_at: datetime | None = None
