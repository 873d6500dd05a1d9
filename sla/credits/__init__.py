"""What a month's verdicts give back to the customer: which tiers are reached, of which fees, and until when it can be claimed."""

from sla.credits.claiming import ClaimWindow, claim_window
from sla.credits.computing import Computation, Due, Failed, Outcome, compute
from sla.credits.fees import Fee, Fees

__all__ = ["ClaimWindow", "Computation", "Due", "Failed", "Fee", "Fees", "Outcome", "claim_window", "compute"]
