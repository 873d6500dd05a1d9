"""Own what each exclusion asks of one month: its windows there, which of them came late, which counts for nothing."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from fairclock.model import Interval
from fairclock.model.remedies import ExclusionState
from sla.exclusions.recurrence import Change, Occurrence, Recurrence, occurrences

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from fairclock.model.remedies import ExclusionEntry
    from sla.exclusions.lives import Exclusion
    from sla.exclusions.rules import ClauseRule


@dataclass(frozen=True, slots=True, kw_only=True)
class MonthSpan:
    """One month: what the term leaves of it (`period`), what had passed of that, and the whole month's length."""

    period: Interval
    elapsed: Interval
    whole_us: int
    is_prorated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedWindow:
    """One window, cut to the month. late: without the notice that was due. retroactive: entered after it began."""

    time: Interval
    late: bool = False
    retroactive: bool = False
    counts: bool = False
    change: Change | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """An exclusion in one month.

    upstream: only requests that the gateway sent there; empty for all.
    fits: whether the contract has its clause.
    windows: those that would be left out if it were granted; `counts` marks those that are not, for their notice.
    """

    id: str
    clause: str
    state: ExclusionState
    windows: tuple[ClaimedWindow, ...]
    fits: bool = True
    upstream: str = ""
    exclusion: Exclusion | None = None
    evidence: str = ""

    @property
    def is_granted(self) -> bool:
        """Say whether it is left out: accepted, or automatic by the contract."""
        return self.state in {ExclusionState.ACCEPTED, ExclusionState.AUTOMATIC}

    @property
    def is_open(self) -> bool:
        """Say whether it might still be left out: proposed or disputed."""
        return self.state in {ExclusionState.PROPOSED, ExclusionState.DISPUTED}

    @property
    def times(self) -> list[Interval]:
        """Return the windows that can be left out."""
        return [each.time for each in self.windows if not each.counts] if self.fits else []


def claims_of(
    exclusions: Iterable[Exclusion], rules: Mapping[str, ClauseRule], month: MonthSpan
) -> list[Claim]:
    """Return the exclusions that touch what has passed of `month`, each with its windows there."""
    claims = []
    for exclusion in exclusions:
        proposal = exclusion.proposal
        rule = rules.get(proposal.clause)
        windows = tuple(
            _window(proposal, occurrence, rule, month.elapsed)
            for occurrence in _occurrences(exclusion, month.elapsed)
        )
        if windows:
            claims.append(
                Claim(
                    id=exclusion.id,
                    clause=proposal.clause,
                    state=exclusion.state,
                    windows=windows,
                    fits=rule is not None,
                    exclusion=exclusion,
                    evidence=proposal.evidence,
                )
            )
    return claims


def _occurrences(exclusion: Exclusion, window: Interval) -> list[Occurrence]:
    proposal = exclusion.proposal
    end = proposal.ends_at
    if end is None:
        # nobody agrees to what is yet to come
        accepted_at = exclusion.accepted_at if exclusion.state is ExclusionState.ACCEPTED else None
        end = max(proposal.starts_at, accepted_at or window.end)
    first = Interval(start=proposal.starts_at, end=end)
    if proposal.recurrence:
        recurrence = Recurrence.parse(proposal.recurrence)
        return occurrences(recurrence, first=first, zone_name=proposal.time_zone, window=window)
    touches = first.start < first.end and first.start < window.end and first.end > window.start
    return [Occurrence(time=first)] if touches else []


def _window(
    proposal: ExclusionEntry, occurrence: Occurrence, rule: ClauseRule | None, elapsed: Interval
) -> ClaimedWindow:
    start = occurrence.time.start
    late = rule is not None and is_late(proposal, start, rule)
    return ClaimedWindow(
        time=Interval(start=max(start, elapsed.start), end=min(occurrence.time.end, elapsed.end)),
        late=late,
        retroactive=proposal.stored_at is not None and proposal.stored_at > start,
        counts=late and rule is not None and rule.late_counts,
        change=occurrence.change,
    )


def is_late(proposal: ExclusionEntry, start: datetime, rule: ClauseRule) -> bool:
    """Say whether a window that starts at `start` lacks the notice that was due, in length or in addressees."""
    if not rule.notice_us:
        return False
    if proposal.notice_at is None or proposal.notice_at > start - timedelta(microseconds=rule.notice_us):
        return True
    told = {each.casefold() for each in proposal.notice_to}
    return not {each.casefold() for each in rule.notice_to} <= told
