"""Credit clauses, fees and outcomes, each good until a test changes something."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from billing.credits import CreditEntry, CreditState
from billing.money import Money
from sla.contracts.remedies import Credits
from sla.credits import Fee, Fees, Outcome
from sla.verdicts import Verdict

USD = Money(code="USD", digits=2, rounding="half_up")
OPENS = datetime(2026, 11, 6, tzinfo=UTC)
CLOSES = datetime(2027, 1, 1, tzinfo=UTC)


def a_clause(**changes: Any) -> Credits:
    """Return the credits of the example contract, as text."""
    said = {
        "base": {"fees_of": ["model"], "net_of": ["tax", "vouchers", "earlier_credits"]},
        "tiers": [
            {"objective": "availability", "below": "99.9%", "credit": "10%"},
            {"objective": "availability", "below": "99%", "credit": "25%"},
            {"objective": "p99-peak", "violated": "true", "credit": "5%"},
        ],
        "tier": "lowest_only",
        "same_cause": "highest_only",
        "cap": "50%",
        "form": "deduct_next",
    }
    kept = {key: value for key, value in (said | changes).items() if value is not None}
    return Credits.model_validate(tuples(kept))


def tuples(value: Any) -> Any:
    """Return a tree with tuples for its lists, as a file is read."""
    if isinstance(value, dict):
        return {key: tuples(each) for key, each in value.items()}
    return tuple(map(tuples, value)) if isinstance(value, list) else value


def some_fees(*, tax_rate: str = "0", **changes: Any) -> Fees:
    """Return 1,000 of acme's for one model, 200 for another, and a minimum of 40, before tax."""
    fees = (
        Fee(tenant="acme", model="deepseek-v4", inference_mode="fp16", amount=Fraction(900)),
        Fee(tenant="acme", model="deepseek-v4", inference_mode="int8", amount=Fraction(100)),
        Fee(tenant="acme", model="qwen3-32b", inference_mode="fp16", amount=Fraction(200)),
        Fee(tenant="acme", model="", inference_mode="", amount=Fraction(40)),
    )
    taxed = tuple(replace(each, tax_rate=Fraction(tax_rate)) for each in fees)
    return Fees(**({"currency": "USD", "fees": taxed} | changes))


def an_outcome(objective: str = "availability", ratio: str | None = "0.9985", **changes: Any) -> Outcome:
    """Return a violated availability."""
    said = {
        "objective": objective,
        "verdict": Verdict.VIOLATED,
        "ratio": None if ratio is None else Fraction(ratio),
        "target": None if ratio is None else Fraction("0.999"),
    }
    return Outcome(**(said | changes))


def a_credit(**changes: Any) -> CreditEntry:
    """Return 100 that was computed for October and can be claimed until the end of the year."""
    said = {
        "id": "cr-1",
        "sequence": 1,
        "contract": "acme-2026",
        "month": "2026-10",
        "objective": "availability",
        "revision": 1,
        "state": CreditState.COMPUTED,
        "currency": "USD",
        "amount": Fraction(100),
        "opens_at": OPENS,
        "closes_at": CLOSES,
        "needs_claim": True,
        "form": "deduct_next",
        "shares": {"acme": Fraction(100)},
        "facts": {"tier": "below 99.9%: 10%"},
    }
    return CreditEntry(**(said | changes))
