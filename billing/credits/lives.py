"""Own the life of a credit: computed, claimable, claimed, then granted, refused or expired.

Each step that somebody takes is an entry of its own, and so is each revision of what was computed. `computed`,
`claimable` and `expired` follow from the time and are written nowhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from fairclock.errors import UsageError
from fairclock.model import EPOCH, utc_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime
    from fractions import Fraction


TAX, TAX_RATE, TAXED, AMOUNT_WITH_TAX = "tax", "tax_rate", "taxed", "amount_with_tax"
"""Facts of a credit: the tax that goes back with it and its rate; each tenant's `net` and tax by rate; what it comes to with tax."""


class CreditState(StrEnum):
    """What has become of a credit."""

    COMPUTED = "computed"
    CLAIMABLE = "claimable"
    CLAIMED = "claimed"
    GRANTED = "granted"
    REFUSED = "refused"
    EXPIRED = "expired"


ANSWERS = frozenset({CreditState.CLAIMED, CreditState.GRANTED, CreditState.REFUSED})


@dataclass(frozen=True, slots=True, kw_only=True)
class CreditEntry:
    """One thing said about one credit; `stored_at` is when it was written.

    revision: of what was computed, from 1. amount: before tax, in `currency`, as it is paid.
    opens_at, closes_at: when it can be claimed, up to but not including the second; None: without an end.
    decide_by: when a claim has to be decided. form: how it is paid back. shares: what of it is whose, by tenant.
    facts: its basis and tier, as the contract names them.
    """

    id: str
    sequence: int
    contract: str
    month: str
    objective: str
    revision: int
    state: CreditState
    currency: str
    amount: Fraction
    opens_at: datetime
    closes_at: datetime | None
    decide_by: datetime | None = None
    needs_claim: bool
    form: str
    shares: Mapping[str, Fraction]
    facts: Mapping[str, Any]
    author: str = ""
    comment: str = ""
    evidence: str = ""
    stored_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Credit:
    """One credit as it stands: what it was last computed as, and the last answer, if any.

    A claimed credit is that of the revision that was claimed, a granted one that of the newest when it was granted; `computed` may be a later one.
    """

    computed: CreditEntry
    answer: CreditEntry | None
    state: CreditState

    @property
    def entry(self) -> CreditEntry:
        """Return the entry whose amount counts."""
        return self.answer or self.computed

    def overdue(self, now: datetime) -> bool:
        """Tell whether a claim waits for a decision longer than agreed."""
        decide_by = self.entry.decide_by
        return self.state is CreditState.CLAIMED and decide_by is not None and now >= decide_by


def credits_at(entries: Iterable[CreditEntry], now: datetime) -> list[Credit]:
    """Return each credit as it stands at `now`, by month and id; of two steps with one sequence the first stored holds."""
    by_id: dict[str, dict[int, CreditEntry]] = {}
    for entry in sorted(entries, key=lambda each: (each.sequence, *_stored(each, now))):
        by_id.setdefault(entry.id, {}).setdefault(entry.sequence, entry)
    found = [_standing(list(said.values()), now) for said in by_id.values()]
    return sorted(found, key=lambda each: (each.computed.month, each.computed.contract, each.computed.id))


def holds(entry: CreditEntry, told: Iterable[CreditEntry]) -> bool:
    """Tell whether an entry is the first that was stored at its place; `told` are all of its credit, up to a time when none can come before."""
    rivals = [_stored(each) for each in told if each.sequence == entry.sequence and each.stored_at]
    return bool(rivals) and _stored(entry) == min(rivals)


def state_at(entry: CreditEntry, now: datetime) -> CreditState:
    """Return the state of a credit about which nobody has said anything yet."""
    if now < entry.opens_at:
        return CreditState.COMPUTED
    if entry.closes_at is not None and now >= entry.closes_at:
        return CreditState.EXPIRED
    return CreditState.CLAIMABLE


def check_step(credit: Credit, wanted: CreditState, *, author: str) -> None:
    """Refuse a step that cannot be taken from where the credit stands; UsageError says what can."""
    if not author.strip():
        raise UsageError("--author", "is empty", remedy="say who does this")
    entry, state = credit.entry, credit.state
    if wanted is CreditState.CLAIMED:
        allowed = state is CreditState.CLAIMABLE
    else:
        allowed = state is CreditState.CLAIMED or (
            not entry.needs_claim and state in {CreditState.COMPUTED, CreditState.CLAIMABLE}
        )
    if allowed:
        return
    raise UsageError(
        entry.id,
        f"cannot be {wanted} now",
        found=f"it is {state}{_dates(entry, state)}",
        remedy=_remedy(wanted, state),
    )


def _stored(entry: CreditEntry, unstored: datetime = EPOCH) -> tuple[datetime, str, str, str, str]:
    """Return what orders entries at one place: when they were stored, and where that is one instant, what they say."""
    return entry.stored_at or unstored, str(entry.state), entry.author, entry.comment, entry.evidence


def _dates(entry: CreditEntry, state: CreditState) -> str:
    if state is CreditState.COMPUTED:
        return f", and can be claimed from {utc_text(entry.opens_at)}"
    if state is CreditState.EXPIRED and entry.closes_at is not None:
        return f" since {utc_text(entry.closes_at)}"
    return ""


def _remedy(wanted: CreditState, state: CreditState) -> str:
    if wanted is CreditState.CLAIMED and state is CreditState.COMPUTED:
        return "claim it then"
    if state in {CreditState.COMPUTED, CreditState.CLAIMABLE}:
        return "the customer has to claim it first: fairclock ledger claim"
    return "nothing is left to be done about it"


def _standing(said: Sequence[CreditEntry], now: datetime) -> Credit:
    computed = [each for each in said if each.state is CreditState.COMPUTED]
    answers = [each for each in said if each.state in ANSWERS]
    answer = answers[-1] if answers else None
    last = computed[-1]
    return Credit(computed=last, answer=answer, state=state_at(last, now) if answer is None else answer.state)
