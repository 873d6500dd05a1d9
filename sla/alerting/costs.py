"""Own what is watched of costs: ceilings per call by length class, and budgets with their forecast.

Billing says how the month stands as far as it was rated; here that becomes what somebody is told.
"""

from __future__ import annotations

from datetime import timedelta
from fractions import Fraction
from typing import TYPE_CHECKING

from fairclock.model import Interval
from sla.alerting import wording
from sla.alerting.naming import EVERYBODY, AlertKey
from sla.alerting.watches import Watch
from sla.alerts import Condition, Finding, Holds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from billing.bookkeeping.limits import KnownLimits, Limits
    from sla.alerting.configuration import AlertsSection
    from sla.alerting.measuring import Moment

CEILING, BUDGET, FORECAST = "cost-ceiling", "cost-budget", "cost-forecast"
_CALL_PLACES = 6
_MICROSECOND = timedelta(microseconds=1)


def cost_watches(moment: Moment, section: AlertsSection, known: KnownLimits) -> Iterator[Watch]:
    """Yield the watch on each ceiling and each budget of the price book, for the month that runs now in its zone."""
    rule, book = section.cost, known.book
    if not rule.enabled or not (book.ceilings or book.budgets):
        return
    limits = known.at(moment.store, moment.now, moment.as_of)
    stale = _stale(moment, limits, timedelta(seconds=rule.stale_after))
    by_class = {each.length_class: each for each in limits.ceilings}
    for ceiling in book.ceilings:
        name = ceiling.length_class
        found = by_class.get(name)
        is_enough = found is not None and found.requests >= rule.min_requests
        finding = _finding(
            CEILING, moment, limits, value=None if found is None else found.per_call,
            limit=Fraction(ceiling.per_call), counted=0 if found is None else found.requests,
        )  # fmt: skip
        yield Watch(
            key=AlertKey(contract=EVERYBODY, rule=CEILING, subject=name),
            severity=rule.severity,
            condition=_condition(
                finding,
                stale or ("" if found is not None else "no answered call of it was rated this month"),
                is_broken=found is not None and is_enough and found.is_broken,
            ),
            words=wording.amounts(
                f"a call with a prompt of class {name} costs on average",
                f"提示长度为 {name} 的调用平均费用",
                book.currency.code,
                places=_CALL_PLACES,
            ),
        )
    for budget in limits.budgets:
        names = ", ".join(budget.tenants)
        for rule_name, value, is_broken, words in (
            (BUDGET, budget.spent, budget.is_broken,
             (f"{names} spent of the budget of {limits.label}", f"{names} 在 {limits.label} 的支出超出预算")),
            (FORECAST, budget.forecast, budget.is_headed_over,
             (f"at this pace {names} will have spent in {limits.label}", f"按当前速度，{names} 在 {limits.label} 的预计支出")),
        ):  # fmt: skip
            finding = _finding(rule_name, moment, limits, value=value, limit=budget.budget)
            yield Watch(
                key=AlertKey(contract=EVERYBODY, rule=rule_name, subject=names),
                severity=rule.severity,
                condition=_condition(finding, stale, is_broken=is_broken),
                words=wording.amounts(*words, book.currency.code, places=book.currency.digits),
                tenants=budget.tenants,
            )


def _condition(finding: Finding, why_unknown: str, *, is_broken: bool) -> Condition:
    """Return that it holds where it does, however old that is: a month's costs do not become less by themselves."""
    if is_broken:
        return Condition(holds=Holds.YES, finding=finding)
    return Condition(
        holds=Holds.UNKNOWN if why_unknown else Holds.NO, finding=finding, why_unknown=why_unknown
    )


def _finding(
    rule: str,
    moment: Moment,
    limits: Limits,
    *,
    value: Fraction | None,
    limit: Fraction,
    counted: int | None = None,
) -> Finding:
    return Finding(
        rule=rule,
        window=Interval(start=limits.month.start, end=limits.rated_to),
        counted=counted,
        value=value,
        threshold=limit,
        data_age_seconds=Fraction(max((moment.now - limits.rated_to) // _MICROSECOND, 0), 10**6),
    )


def _stale(moment: Moment, limits: Limits, patience: timedelta) -> str:
    """Return why what was rated does not say that all is well; empty where it does."""
    if limits.rated_to <= limits.month.start:
        return "nothing of this month was rated yet"
    if moment.now - limits.rated_to > patience:
        return f"the ledger was rated up to {limits.rated_to:%Y-%m-%d %H:%M} UTC only"
    return ""
