"""Credits as billing knows them: what is paid back, to whom, in which state, and how it enters the ledger."""

from billing.credits.lives import (
    AMOUNT_WITH_TAX,
    TAX,
    TAX_RATE,
    TAXED,
    Credit,
    CreditEntry,
    CreditState,
    check_step,
    credits_at,
    holds,
    state_at,
)

__all__ = [
    "AMOUNT_WITH_TAX",
    "TAX",
    "TAXED",
    "TAX_RATE",
    "Credit",
    "CreditEntry",
    "CreditState",
    "check_step",
    "credits_at",
    "holds",
    "state_at",
]
