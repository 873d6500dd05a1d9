"""Own how a month's verdicts become credits: tiers, one credit for one cause, single failures, minimum, cap.

The order is fixed: each objective's tiers are reached; of what has one cause the highest stays, where the contract says so; single
failures and lesser quality are added; the sum is raised to the minimum, then cut to the cap. Everything is exact, with tax or before
it as the clause's basis is; amounts are rounded once, at the end, so that they sum to the rounded total.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from fairclock.clauses.quantities import write_percent
from sla.credits.fees import Basis, basis, divided, includes_tax
from sla.credits.paying import paid
from sla.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from billing.money import Money
    from sla.contracts.remedies import Credits, CreditTier, Quality
    from sla.credits.fees import Fees, Taxed
    from sla.credits.paying import Paid

PER_FAILURE = "per_failure"
QUALITY = "quality"
_ZERO = Fraction(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What one promise came to: its verdict, and its exact ratio where it is an availability.

    target: of an availability. part: what of the traffic it is about, in words; model: which one, None for all. cause: promises with one
    cause share it; "" shares none.
    """

    objective: str
    verdict: Verdict
    ratio: Fraction | None = None
    target: Fraction | None = None
    part: str = ""
    model: str | None = None
    cause: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """Single requests of one outcome: how many, and what such calls cost before tax."""

    tenant: str
    outcome: str
    requests: int
    cost: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """One credit: `exact` before rounding, in the terms of its basis, `parts` of it by tenant and rate; `paid` as it is paid; `tier` in words.

    left_out: the objectives whose credits the same cause would have brought, and that are not paid beside it.
    """

    objective: str
    part: str
    tier: str
    rate: Fraction | None
    basis: Basis
    exact: Fraction
    parts: Mapping[Taxed, Fraction]
    paid: tuple[Paid, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def amount(self) -> Fraction:
        """Return what is paid, before tax."""
        return sum((each.net for each in self.paid), start=_ZERO)

    @property
    def amount_with_tax(self) -> Fraction:
        """Return what is paid."""
        return sum((each.net + each.tax for each in self.paid), start=_ZERO)

    @property
    def shares(self) -> dict[str, Fraction]:
        """Return what is paid to each tenant, before tax."""
        found: dict[str, Fraction] = {}
        for each in self.paid:
            found[each.tenant] = found.get(each.tenant, _ZERO) + each.net
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Computation:
    """A month's credits; `capped`, `raised` say whether the cap or the minimum changed their sum."""

    dues: tuple[Due, ...]
    capped: bool
    raised: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reached:
    due: Due
    cause: str


def compute(
    clause: Credits,
    outcomes: Sequence[Outcome],
    fees: Fees,
    *,
    money: Money,
    models: tuple[str, ...] = (),
    failures: Sequence[Failed] = (),
    quality: Quality | None = None,
) -> Computation:
    """Return what a month gives back. `models` are the contract's; none that comes to nothing."""
    of = partial(basis, fees, clause.base, models=models, money=money)
    reached = [each for outcome in outcomes for each in _of_objective(clause, outcome, of)]
    dues = _one_a_cause(reached) if clause.same_cause == "highest_only" else [each.due for each in reached]
    dues += _of_quality(quality, of)
    dues += _of_failures(clause, failures, fees)
    dues = [each for each in dues if each.exact > 0]
    whole = of(model=None)
    dues, raised = _raised(dues, clause.minimum, whole)
    dues, capped = _capped(dues, clause.cap, whole)
    how = paid([each.parts for each in dues], have_tax=whole.has_tax, money=money)
    dues = [replace(each, paid=parts) for each, parts in zip(dues, how, strict=True) if parts]
    return Computation(dues=tuple(dues), capped=capped, raised=raised)


def reached_tiers(tiers: Iterable[CreditTier], outcome: Outcome) -> list[CreditTier]:
    """Return the tiers that an outcome reaches, the deepest last.

    A ratio is compared as it is, unrounded. An availability that is violated for another reason than its ratio (too little was
    measured) counts as just below its target.
    """
    found = []
    for tier in tiers:
        if tier.objective != outcome.objective:
            continue
        violated = outcome.verdict is Verdict.VIOLATED
        if tier.below is None:
            is_reached = violated
        else:
            by_ratio = outcome.ratio is not None and outcome.ratio < tier.below
            by_verdict = violated and outcome.target is not None and tier.below >= outcome.target
            is_reached = by_verdict or (by_ratio and outcome.verdict in {Verdict.VIOLATED, Verdict.MET})
        if is_reached:
            found.append(tier)
    return sorted(found, key=lambda each: each.credit)


def _of_objective(clause: Credits, outcome: Outcome, of: Callable[..., Basis]) -> list[_Reached]:
    tiers = reached_tiers(clause.tiers, outcome)
    if not tiers:
        return []
    paid = tiers if clause.tier == "sum" else tiers[-1:]
    rate = sum((each.credit for each in paid), start=_ZERO)
    base = of(model=outcome.model)
    due = Due(
        objective=outcome.objective,
        part=outcome.part,
        tier=" + ".join(_tier_text(each) for each in paid),
        rate=rate,
        basis=base,
        exact=base.amount * rate,
        parts=_parts(base, rate),
    )
    return [_Reached(due=due, cause=outcome.cause)]


def _one_a_cause(reached: Sequence[_Reached]) -> list[Due]:
    """Return the highest credit of each cause; what has no known cause, or is about another part, stands alone."""
    groups: dict[object, list[Due]] = {}
    for number, each in enumerate(reached):
        groups.setdefault((each.cause, each.due.part) if each.cause else number, []).append(each.due)
    kept = []
    for dues in groups.values():
        highest = max(dues, key=lambda each: each.exact)
        others = tuple(each.objective for each in dues if each is not highest)
        kept.append(replace(highest, left_out=others))
    return kept


def _of_quality(quality: Quality | None, of: Callable[..., Basis]) -> list[Due]:
    """Return what answers at a lesser level give back: a share of the fees of those answers."""
    found = []
    for level in () if quality is None else quality.levels:
        if level.credit is None:
            continue
        base = of(model=None, modes=frozenset(level.modes))
        found.append(
            Due(
                objective=f"{QUALITY}:{level.name}",
                part="",
                tier=f"{level.name} {write_percent(level.credit)}",
                rate=level.credit,
                basis=base,
                exact=base.amount * level.credit,
                parts=_parts(base, level.credit),
            )
        )
    return found


def _of_failures(clause: Credits, failures: Sequence[Failed], fees: Fees) -> list[Due]:
    """Return the compensation for single requests: so many times what such calls cost, with tax where other credits are."""
    if clause.per_failure is None:
        return []
    wanted = {str(each) for each in clause.per_failure.outcomes}
    times = Fraction(clause.per_failure.times_charge)
    hit = [each for each in failures if each.outcome in wanted]
    by_tenant: dict[str, Fraction] = {}
    for each in hit:
        by_tenant[each.tenant] = by_tenant.get(each.tenant, _ZERO) + each.cost
    has_tax = includes_tax(clause.base)
    parts = {
        key: net * (1 + key[1] if has_tax else 1)
        for tenant, cost in sorted(by_tenant.items())
        for key, net in divided(cost, tenant, fees).items()
    }
    base = Basis(
        parts=parts,
        has_tax=has_tax,
        fees_of=("call",),
        net_of=() if has_tax else ("tax",),
        model=None,
    )
    requests = sum(each.requests for each in hit)
    return [
        Due(
            objective=PER_FAILURE,
            part="",
            tier=f"{requests} x {clause.per_failure.times_charge}",
            rate=times,
            basis=base,
            exact=base.amount * times,
            parts=_parts(base, times),
        )
    ]


def _parts(base: Basis, rate: Fraction) -> dict[Taxed, Fraction]:
    """Return what is whose, by rate of tax; a tenant whose basis is below nothing takes nothing from the others."""
    positive = {tenant for tenant, amount in base.by_tenant.items() if amount > 0}
    taken = {key: amount for key, amount in base.parts.items() if key[0] in positive}
    whole = sum(taken.values(), start=_ZERO)
    return {key: base.amount * rate * amount / whole for key, amount in taken.items()} if whole else {}


def _scaled(dues: Iterable[Due], factor: Fraction) -> list[Due]:
    return [
        replace(
            each,
            exact=each.exact * factor,
            parts={key: share * factor for key, share in each.parts.items()},
        )
        for each in dues
    ]


def _raised(dues: list[Due], minimum: object, whole: Basis) -> tuple[list[Due], bool]:
    """Raise a sum to the contract's minimum, never above the fees themselves."""
    total = sum((each.exact for each in dues), start=_ZERO)
    least = min(Fraction(str(minimum)), whole.amount) if minimum is not None else _ZERO
    if not total or total >= least:
        return dues, False
    return _scaled(dues, least / total), True


def _capped(dues: list[Due], cap: Fraction | None, whole: Basis) -> tuple[list[Due], bool]:
    total = sum((each.exact for each in dues), start=_ZERO)
    if cap is None or total <= cap * whole.amount:
        return dues, False
    return _scaled(dues, cap * whole.amount / total), True


def _tier_text(tier: CreditTier) -> str:
    condition = "violated" if tier.below is None else f"below {write_percent(tier.below)}"
    return f"{condition}: {write_percent(tier.credit)}"
