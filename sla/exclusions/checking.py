"""Own whether an exclusion may be proposed or answered so: against the contract, and by whom.

What the contract has no room for is a `UsageError`; what may be entered, and is marked, is a doubt.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from fairclock.errors import UsageError
from fairclock.model import Interval
from fairclock.model.remedies import ExclusionState
from sla.calendars import zone_of
from sla.exclusions.claims import is_late
from sla.exclusions.lives import is_by_the_customer, next_states, standing
from sla.exclusions.recurrence import Recurrence, RecurrenceError, check_first
from sla.exclusions.rules import COLD_START

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from fairclock.model.remedies import ExclusionEntry
    from sla.exclusions.lives import Exclusion
    from sla.exclusions.rules import ClauseRule


class DoubtKind(StrEnum):
    """What is entered all the same, and marked."""

    LATE = "late"
    RETROACTIVE = "retroactive"
    OPEN_ENDED = "open_ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """A kind of doubt and the sentence about it."""

    kind: DoubtKind
    sentence: str


def check_proposal(
    entry: ExclusionEntry, rules: Mapping[str, ClauseRule], *, term: Interval, now: datetime
) -> list[Doubt]:
    """Refuse a proposal that the contract has no room for; return what will be marked. `now` is the present."""
    rule = rules.get(entry.clause)
    if entry.clause == COLD_START:
        raise UsageError(
            "--clause",
            "is noticed from the engines themselves",
            found=entry.clause,
            remedy="enter nothing by hand",
        )
    if rule is None:
        known = ", ".join(name for name in rules if name != COLD_START) or "none"
        raise UsageError(
            "--clause",
            "the contract excludes no such thing",
            found=entry.clause,
            remedy=f"its clauses are: {known}",
        )
    _check_text(entry.reason, "--reason", "say why the time should be left out")
    _check_text(entry.author, "--author", "say who enters this")
    if rule.needs_evidence and not entry.evidence.strip():
        raise UsageError(
            "--evidence",
            f"{entry.clause} needs evidence: no log of the gateway shows it",
            remedy="name a document, a ticket or a measurement",
        )
    _check_times(entry, term, now)
    return _doubts(entry, rule, now)


def check_answer(
    exclusion: Exclusion, state: ExclusionState, *, author: str, evidence: str, now: datetime
) -> None:
    """Refuse an answer that this exclusion cannot be given now, or not by this author."""
    _check_text(author, "--author", "say who answers")
    stands = standing(exclusion, now).state
    if state not in next_states(exclusion, now):
        raise UsageError(exclusion.id, f"cannot be {state}", found=f"it is {stands}", remedy=_instead(stands))
    same = author.strip().casefold() == exclusion.proposal.author.strip().casefold()
    if is_by_the_customer(state) and same:
        raise UsageError(
            "--author",
            "whoever proposed an exclusion cannot answer it",
            found=author,
            remedy="let the customer's side answer",
        )
    if state is ExclusionState.ACCEPTED and not evidence.strip():
        raise UsageError(
            "--evidence",
            "an acceptance needs evidence",
            remedy="name the message, letter or ticket in which the customer agreed",
        )


def _instead(state: ExclusionState) -> str:
    if state is ExclusionState.EXPIRED:
        return "propose it anew; it will be marked as retroactive"
    if state is ExclusionState.REVOKED:
        return "propose it anew"
    return "see fairclock exclusions list"


def _check_text(text: str, where: str, remedy: str) -> None:
    if not text.strip():
        raise UsageError(where, "is empty", remedy=remedy)


def _check_times(entry: ExclusionEntry, term: Interval, now: datetime) -> None:
    end = entry.ends_at
    if end is not None and end <= entry.starts_at:
        raise UsageError(
            "--to",
            "the time is empty",
            found=f"{entry.starts_at} to {end}",
            remedy="name an instant after --from",
        )
    if entry.starts_at >= term.end or (not entry.recurrence and end is not None and end <= term.start):
        raise UsageError(
            "--from",
            "lies outside the contract's term",
            found=entry.starts_at.isoformat(),
            remedy="name an instant of the term",
        )
    if entry.notice_at is not None and entry.notice_at > now:
        raise UsageError(
            "--notice-at",
            "lies in the future",
            found=entry.notice_at.isoformat(),
            remedy="enter a notice once it is given",
        )
    if entry.notice_to and entry.notice_at is None:
        raise UsageError("--notice-to", "needs --notice-at", remedy="say when they were told")
    if entry.answer_by <= now:
        raise UsageError(
            "--answer-by", "has passed", found=entry.answer_by.isoformat(), remedy="name an instant to come"
        )
    if entry.recurrence:
        _check_recurrence(entry, end)


def _check_recurrence(entry: ExclusionEntry, end: datetime | None) -> None:
    if end is None:
        raise UsageError("--recurrence", "needs --to", remedy="say when the first window ends")
    try:
        zone_of(entry.time_zone)
    except ValueError as error:
        raise UsageError(
            "--zone", "no such zone", found=entry.time_zone, remedy="write a place, such as Asia/Shanghai"
        ) from error
    try:
        recurrence = Recurrence.parse(entry.recurrence)
        check_first(recurrence, Interval(start=entry.starts_at, end=end), entry.time_zone)
    except RecurrenceError as error:
        raise UsageError("--recurrence", error.problem, found=error.found, remedy=error.remedy) from error


def _doubts(entry: ExclusionEntry, rule: ClauseRule, now: datetime) -> list[Doubt]:
    found = []
    if is_late(entry, entry.starts_at, rule):
        effect = "it counts like any other time" if rule.late_counts else "it is marked"
        found.append(
            Doubt(kind=DoubtKind.LATE, sentence=f"the notice due was not given, or not to everyone: {effect}")
        )
    if entry.starts_at < now:
        found.append(
            Doubt(kind=DoubtKind.RETROACTIVE, sentence="it had begun already: it is marked as retroactive")
        )
    if entry.ends_at is None:
        found.append(
            Doubt(
                kind=DoubtKind.OPEN_ENDED,
                sentence="it has no end: an acceptance reaches up to the instant at which it is given",
            )
        )
    return found
