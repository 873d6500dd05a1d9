"""Own the proposal of an exclusion, whoever makes it: checked against the contract, kept, with what is doubtful about it."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import UTC, timedelta
from typing import TYPE_CHECKING

from fairclock.errors import UsageError
from fairclock.model import Interval
from fairclock.model.remedies import ExclusionEntry, ExclusionState
from fairclock.store.remedies import keep_exclusion
from sla.calendars import day_start
from sla.evaluation.excluding import rules_of
from sla.exclusions.checking import check_proposal

if TYPE_CHECKING:
    from datetime import datetime

    from fairclock.store import Store
    from sla.contracts import Contract
    from sla.exclusions.checking import Doubt

DAYS_TO_ANSWER = 30
_ID_BYTES = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposed:
    """What is proposed. ends_at: None where the end is not known yet. answer_by: None for `DAYS_TO_ANSWER` from now.

    recurrence: an RFC 5545 rule; exceptions: days on which it does not recur, 20261004. time_zone: None for the contract's.
    """

    clause: str
    starts_at: datetime
    ends_at: datetime | None
    reason: str
    author: str
    recurrence: str = ""
    exceptions: tuple[str, ...] = ()
    time_zone: str | None = None
    evidence: str = ""
    notice_at: datetime | None = None
    notice_to: tuple[str, ...] = ()
    answer_by: datetime | None = None


def propose(
    store: Store, contract: Contract, said: Proposed, *, now: datetime
) -> tuple[ExclusionEntry, list[Doubt]]:
    """Keep a proposal, and return it with what will be marked; it excludes nothing until the customer's side accepts.

    Raises UsageError for what the contract has no room for.
    """
    if said.exceptions and not said.recurrence:
        raise UsageError(
            "--except", "needs --recurrence", remedy="leave it out, or say how the time comes again"
        )
    entry = ExclusionEntry(
        id=f"ex-{secrets.token_hex(_ID_BYTES)}",
        sequence=1,
        contract=contract.id,
        clause=said.clause,
        state=ExclusionState.PROPOSED,
        starts_at=said.starts_at.astimezone(UTC),
        ends_at=None if said.ends_at is None else said.ends_at.astimezone(UTC),
        recurrence="\n".join([said.recurrence, *(f"EXDATE:{each}" for each in said.exceptions)])
        if said.recurrence
        else "",
        time_zone=said.time_zone or contract.term.time_zone,
        reason=said.reason.strip(),
        evidence=said.evidence.strip(),
        notice_at=None if said.notice_at is None else said.notice_at.astimezone(UTC),
        notice_to=tuple(each.strip() for each in said.notice_to),
        answer_by=now + timedelta(days=DAYS_TO_ANSWER)
        if said.answer_by is None
        else said.answer_by.astimezone(UTC),
        author=said.author.strip(),
    )
    term = Interval(
        start=day_start(contract.term.first_day, contract.zone),
        end=day_start(contract.term.last_day + timedelta(days=1), contract.zone),
    )
    doubts = check_proposal(entry, rules_of(contract), term=term, now=now)
    return keep_exclusion(store, entry), doubts
