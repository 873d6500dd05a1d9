"""Own what has become of each exclusion: what was said of it, in order, as far as it could be said then.

::

    proposed ──> accepted ──> disputed ──> accepted      by the customer
        │ └────> disputed
        ├──────> expired                                 nobody answered in time
        └ any ─> revoked                                 by the provider; for good

Accepting a window without an end reaches up to the instant of accepting, and may be done again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fairclock.model.remedies import ExclusionEntry, ExclusionState

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

_NEXT = {
    ExclusionState.PROPOSED: {ExclusionState.ACCEPTED, ExclusionState.DISPUTED, ExclusionState.REVOKED},
    ExclusionState.ACCEPTED: {ExclusionState.DISPUTED, ExclusionState.REVOKED},
    ExclusionState.DISPUTED: {ExclusionState.ACCEPTED, ExclusionState.REVOKED},
}
_BY_THE_CUSTOMER = {ExclusionState.ACCEPTED, ExclusionState.DISPUTED}


@dataclass(frozen=True, slots=True, kw_only=True)
class Exclusion:
    """An exclusion as it stands: its proposal, its state, the last answer (None without one)."""

    proposal: ExclusionEntry
    state: ExclusionState
    answer: ExclusionEntry | None = None
    accepted_at: datetime | None = None

    @property
    def id(self) -> str:
        """Return its id."""
        return self.proposal.id


def exclusions_at(entries: Iterable[ExclusionEntry], as_of: datetime) -> list[Exclusion]:
    """Return every exclusion as it stood at `as_of`, by start and id; what could not be said is passed over."""
    stored = [each for each in entries if each.stored_at is not None and each.stored_at <= as_of]
    known: dict[str, Exclusion] = {}
    for entry in sorted(stored, key=lambda each: (each.stored_at, each.sequence, each.state)):
        before = known.get(entry.id)
        if before is None:
            if entry.state is ExclusionState.PROPOSED:
                known[entry.id] = Exclusion(proposal=entry, state=entry.state)
        elif entry.stored_at is not None and entry.state in next_states(before, entry.stored_at):
            accepted = entry.state is ExclusionState.ACCEPTED
            known[entry.id] = replace(
                before,
                state=entry.state,
                answer=entry,
                accepted_at=entry.stored_at if accepted else before.accepted_at,
            )
    return sorted(
        (standing(each, as_of) for each in known.values()),
        key=lambda each: (each.proposal.starts_at, each.id),
    )


def standing(exclusion: Exclusion, at: datetime) -> Exclusion:
    """Return `exclusion` as it stands at `at`, expired if nobody answered by then."""
    is_expired = exclusion.state is ExclusionState.PROPOSED and at >= exclusion.proposal.answer_by
    return replace(exclusion, state=ExclusionState.EXPIRED) if is_expired else exclusion


def next_states(exclusion: Exclusion, at: datetime) -> set[ExclusionState]:
    """Return what may be said of `exclusion` at `at`."""
    state = standing(exclusion, at).state
    allowed = set(_NEXT.get(state, set()))
    if state is ExclusionState.ACCEPTED and exclusion.proposal.ends_at is None:
        allowed.add(ExclusionState.ACCEPTED)
    return allowed


def is_by_the_customer(state: ExclusionState) -> bool:
    """Say whether only the customer's side may say this."""
    return state in _BY_THE_CUSTOMER
