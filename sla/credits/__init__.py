"""What a month's verdicts give back to the customer: which tiers are reached, of which fees, and until when it can be claimed."""

from sla.credits.claiming import ClaimWindow, claim_window
from sla.credits.computing import Computation, Due, Failed, Outcome, compute
from sla.credits.fees import Earlier, Fee, Fees
from sla.credits.paying import Paid

__all__ = [
    "ClaimWindow",
    "Computation",
    "Due",
    "Earlier",
    "Failed",
    "Fee",
    "Fees",
    "Outcome",
    "Paid",
    "claim_window",
    "compute",
]
