"""Own the report's ``credits``: what a month's verdicts give back, and how each credit stands."""

from __future__ import annotations

import hashlib
from datetime import timedelta
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from billing.bookkeeping.credits import DEDUCTED, credit_entries
from billing.credits import (
    AMOUNT_WITH_TAX,
    TAX,
    TAX_RATE,
    TAXED,
    CreditEntry,
    CreditState,
    credits_at,
)
from billing.credits.further import CLAIMED_AS, FURTHER_TO, Reopened, with_further
from billing.ledger import write_exact
from billing.ledger.views import table
from billing.usage import Treatment
from fairclock.clauses.quantities import write_percent
from fairclock.model import utc_text
from sla.contracts.objectives import AvailabilityObjective
from sla.credits import Failed, Fee, Fees, Outcome, claim_window, compute
from sla.evaluation.causes import causes_of
from sla.evaluation.fragments import select, sql
from sla.interval_formulas import TimeCount
from sla.verdicts import Count

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from billing.credits import Credit
    from billing.ledger import Draft
    from sla.contracts import Contract
    from sla.contracts.remedies import Credits
    from sla.credits import Due
    from sla.evaluation.charged import Charged
    from sla.evaluation.cost_objectives import CostJudged
    from sla.evaluation.facts import Facts
    from sla.evaluation.judged import Judged
    from sla.evaluation.rows import Requests

_ID_DIGITS = 16
"""With eight, of the 65,000 credits of a few years two would share a life more likely than not."""
_ZERO = Fraction(0)


def credits_of(
    store: Requests,
    facts: Facts,
    judged: Mapping[str, Judged],
    costs: Mapping[int, CostJudged],
    charged: Charged | None,
) -> list[CreditEntry]:
    """Return what a version's part of a month gives back, as it would be written down; nothing where nothing was rated."""
    contract = facts.subject.contract
    clause = contract.credits
    if clause is None or charged is None:
        return []
    found = compute(
        clause,
        _outcomes(store, facts, judged, costs, clause),
        _fees(charged),
        money=charged.money,
        models=contract.scope.models,
        failures=_failures(store, facts, charged, clause),
        quality=contract.quality,
    )
    return [
        _entry(contract, facts, due, charged, capped=found.capped, raised=found.raised) for due in found.dues
    ]


def with_differences(
    store: Requests, contract: Contract, label: str, computed: Sequence[CreditEntry], as_of: datetime
) -> list[CreditEntry]:
    """Return what a month was computed as, with what it comes to beyond credits that had been granted by `as_of`."""
    known = credits_at(credit_entries(store, as_of, contract=contract.id, month=label), as_of)
    clause = None if contract.credits is None else contract.credits.claim

    def reopened(at: datetime) -> Reopened:
        after = at.astimezone(contract.zone).date() + timedelta(days=1)
        window = claim_window(clause, after, contract.zone, contract.calendar.holiday_calendar)
        last_day = None if window.last_day is None else window.last_day.isoformat()
        return Reopened(opens_at=at, closes_at=window.closes_at, last_day=last_day)

    return with_further(computed, known, at=as_of, reopened=reopened)


def credits_section(
    store: Requests, contract: Contract, label: str, computed: Sequence[CreditEntry], as_of: datetime
) -> list[dict[str, Any]]:
    """Return every credit of a month, as it was computed now, with what was said of it by `as_of`.

    One that was claimed or decided is shown as it was claimed, beside what it is computed as now.
    """
    said = {
        each.computed.id: each
        for each in credits_at(credit_entries(store, as_of, contract=contract.id, month=label), as_of)
    }
    fresh = {each.id: each for each in with_differences(store, contract, label, computed, as_of)}
    rows = []
    for credit_id in sorted({*fresh, *(key for key, each in said.items() if each.answer is not None)}):
        entry, known = fresh.get(credit_id), said.get(credit_id)
        rows.append(_row(entry, known, as_of))
    return sorted(rows, key=lambda each: (str(each["objective"]), str(each["part"]), each["id"]))


def _row(entry: CreditEntry | None, known: Credit | None, as_of: datetime) -> dict[str, Any]:
    from billing.credits import state_at  # noqa: PLC0415

    shown = known.entry if known is not None and (known.answer is not None or entry is None) else entry
    assert shown is not None  # noqa: S101 - a credit is computed, or somebody has claimed it
    state = known.state if known is not None and known.answer is not None else state_at(shown, as_of)
    revision = None if known is None else _revision(entry, known)
    return {
        "id": shown.id,
        "objective": shown.objective,
        "part": shown.facts["part"] or None,
        "basis": shown.facts["basis"],
        "tier": shown.facts["tier"],
        "left_out": shown.facts["left_out"],
        "currency": shown.currency,
        "amount": write_exact(shown.amount),
        "amount_with_tax": shown.facts.get(AMOUNT_WITH_TAX),
        "amount_now": "0" if entry is None else write_exact(entry.amount),
        "further_to": shown.facts.get(FURTHER_TO),
        "claimed_as": shown.facts.get(CLAIMED_AS),
        "shares": {tenant: write_exact(share) for tenant, share in shown.shares.items()},
        "form": shown.form,
        "state": str(state),
        "revision": revision,
        "claim": {
            "required": shown.needs_claim,
            "opens_at": utc_text(shown.opens_at),
            "closes_at": None if shown.closes_at is None else utc_text(shown.closes_at),
            "last_day": shown.facts["last_day"],
            "decide_by": None if shown.decide_by is None else utc_text(shown.decide_by),
            "overdue": known is not None and known.overdue(as_of),
        },
    }


def _revision(entry: CreditEntry | None, known: Credit) -> int | None:
    """Return the revision that is shown; None where what is computed now was not written down yet."""
    if known.answer is not None or entry is None:
        return known.entry.revision
    same = (entry.amount, entry.shares) == (known.computed.amount, known.computed.shares)
    return known.computed.revision if same else None


def _outcomes(
    store: Requests,
    facts: Facts,
    judged: Mapping[str, Judged],
    costs: Mapping[int, CostJudged],
    clause: Credits,
) -> list[Outcome]:
    causes = causes_of(store, facts, judged) if clause.same_cause == "highest_only" else {}
    found = []
    for key, each in judged.items():
        objective = each.promise.objective
        part = each.promise.part
        is_ratio = isinstance(objective, AvailabilityObjective)
        found.append(
            Outcome(
                objective=objective.name,
                verdict=each.judgement.verdict,
                ratio=_ratio(each) if is_ratio else None,
                target=objective.availability.target
                if isinstance(objective, AvailabilityObjective)
                else None,
                part="" if part is None else " ".join(each for each in (part.model, part.region) if each),
                model=None if part is None else part.model,
                cause=causes.get(key, ""),
            )
        )
    objectives = facts.subject.contract.objectives
    return found + [
        Outcome(objective=objectives[number].name, verdict=each.judgement.verdict)
        for number, each in costs.items()
    ]


def _ratio(judged: Judged) -> Fraction | None:
    """Return an availability exactly, as its tiers compare it."""
    if isinstance(judged.count, TimeCount):
        return judged.count.available
    assert isinstance(judged.count, Count)  # noqa: S101 - an availability counts requests or time
    return Fraction(judged.counted - judged.over, judged.counted) if judged.counted else None


def _fees(charged: Charged) -> Fees:
    by_rate: dict[Fraction, list[Draft]] = {}
    for draft in charged.drafts:
        by_rate.setdefault(charged.tax_rate(draft), []).append(draft)
    fees = [
        Fee(tenant=tenant, model=model, inference_mode=mode, amount=row.amount, tax_rate=rate)
        for rate, drafts in sorted(by_rate.items())
        for row in table(drafts, ("tenant", "model", "inference_mode"))
        for tenant, model, mode in (row.keys,)
    ]
    return Fees(currency=charged.money.code, fees=tuple(fees), earlier=charged.deducted)


def _failures(store: Requests, facts: Facts, charged: Charged, clause: Credits) -> list[Failed]:
    """Return single failures with what such a call costs: on average what the tenant's answered ones of the same model cost."""
    if clause.per_failure is None:
        return []
    rows = store.rows(
        select(
            (sql("tenant"), sql("toString(model)"), sql("judged_outcome"), sql("count()")),
            facts.source,
            sql(
                "WHERE judged_outcome IN {failed_outcomes:Array(String)} GROUP BY tenant, model, judged_outcome"
                " ORDER BY tenant, model, judged_outcome",
                failed_outcomes=[str(each) for each in clause.per_failure.outcomes],
            ),
        )
    )
    prices: dict[tuple[str, str], Fraction] = {}
    for row in table(charged.drafts, ("tenant", "model", "treatment")):
        tenant, model, treatment = row.keys
        if treatment == Treatment.COMPLETED and row.requests:
            prices[tenant, model] = row.amount / row.requests
    return [
        Failed(
            tenant=tenant,
            outcome=outcome,
            requests=int(count),
            cost=int(count)
            * prices.get(
                (tenant, model),
                max((each for (whose, _), each in prices.items() if whose == tenant), default=_ZERO),
            ),
        )
        for tenant, model, outcome, count in rows
    ]


def _entry(
    contract: Contract, facts: Facts, due: Due, charged: Charged, *, capped: bool, raised: bool
) -> CreditEntry:
    clause = contract.credits
    assert clause is not None  # noqa: S101 - the caller looked
    after = contract.whole_month(facts.month.label).end.astimezone(contract.zone).date()
    window = claim_window(clause.claim, after, contract.zone, contract.calendar.holiday_calendar)
    needs_claim = clause.claim is None or clause.claim.required
    return CreditEntry(
        id=credit_id(contract, facts, due),
        sequence=0,
        contract=contract.id,
        month=facts.month.label,
        objective=due.objective,
        revision=0,
        state=CreditState.COMPUTED,
        currency=charged.money.code,
        amount=due.amount,
        opens_at=window.opens_at,
        closes_at=window.closes_at,
        needs_claim=needs_claim,
        form=clause.form or DEDUCTED,
        shares=due.shares,
        facts={
            "part": due.part,
            "tier": due.tier,
            "basis": {
                "fees_of": list(due.basis.fees_of),
                "net_of": list(due.basis.net_of),
                "model": due.basis.model,
                "amount": write_exact(due.basis.amount),
            },
            AMOUNT_WITH_TAX: write_exact(due.amount_with_tax),
            TAXED: [
                {
                    "tenant": each.tenant,
                    TAX_RATE: write_percent(each.tax_rate),
                    "net": write_exact(each.net),
                    TAX: write_exact(each.tax),
                }
                for each in due.paid
            ],
            "rate": None if due.rate is None else write_percent(due.rate),
            "left_out": list(due.left_out),
            "capped": capped,
            "raised": raised,
            "last_day": None if window.last_day is None else window.last_day.isoformat(),
            "decide_within_us": None if clause.claim is None else clause.claim.decide_within_us,
            "version_sha256": contract.version_sha256,
        },
    )


def credit_id(contract: Contract, facts: Facts, due: Due) -> str:
    """Return the id of a credit: the same whenever the same promise of the same month is computed."""
    since = "" if facts.subject.in_force is None else utc_text(facts.subject.in_force.start)
    named = f"{contract.id}\0{facts.month.label}\0{due.objective}\0{due.part}\0{since}"
    return f"cr-{hashlib.sha256(named.encode()).hexdigest()[:_ID_DIGITS]}"
