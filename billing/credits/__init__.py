"""Credits as billing knows them: what is paid back, to whom, in which state, and how it enters the ledger."""

from billing.credits.lives import Credit, CreditEntry, CreditState, check_step, credits_at, state_at

__all__ = ["Credit", "CreditEntry", "CreditState", "check_step", "credits_at", "state_at"]
