"""Own exclusions as arithmetic: when they lie, who may say what of them, how much of a month they may take.

Nothing here reads a store, a file or a clock. `recurrence` says when a window comes again, `lives` what has
become of each exclusion, `checking` whether a proposal fits its contract, `claims` what each asks of a month,
`caps` how much of that it gets, `plan` which instants are left out, `cold_start` which need nobody's word.
"""

from sla.exclusions.caps import Cap, cap_us
from sla.exclusions.checking import Doubt, DoubtKind, check_answer, check_proposal
from sla.exclusions.claims import Claim, ClaimedWindow, MonthSpan, claims_of
from sla.exclusions.cold_start import EngineStart, cold_start_claims
from sla.exclusions.lives import Exclusion, exclusions_at
from sla.exclusions.plan import NOTHING, Piece, Plan, plan_of
from sla.exclusions.recurrence import Occurrence, Recurrence, RecurrenceError, occurrences
from sla.exclusions.rules import ClauseRule

__all__ = [
    "NOTHING",
    "Cap",
    "Claim",
    "ClaimedWindow",
    "ClauseRule",
    "Doubt",
    "DoubtKind",
    "EngineStart",
    "Exclusion",
    "MonthSpan",
    "Occurrence",
    "Piece",
    "Plan",
    "Recurrence",
    "RecurrenceError",
    "cap_us",
    "check_answer",
    "check_proposal",
    "claims_of",
    "cold_start_claims",
    "exclusions_at",
    "occurrences",
    "plan_of",
]
