"""Own the rules on the pace of each objective's budget, for the month that runs, and what is left of it."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from sla.alerting import wording
from sla.alerting.measuring import month_sums, nothing, period_of
from sla.alerting.naming import AlertKey
from sla.alerting.watches import BURN_RUNBOOK, Watch
from sla.alerts import BurnRule, RefusedRule, burning, default_rules, fast_burn
from sla.alerts.burning import burn_rule
from sla.budgets import Budget
from sla.evaluation.promises import clock_of
from sla.prometheus_rules import share_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from fractions import Fraction

    from fairclock.model import Interval
    from fairclock.store.slices import SliceKey
    from sla.alerting.configuration import AlertsSection, SeverityName
    from sla.alerting.measuring import Moment
    from sla.alerts import Window
    from sla.contracts.objectives import AvailabilityObjective, LatencyObjective
    from sla.slices import InForce
    from sla.slices.reading import Slice

_LOG = logging.getLogger(__name__)
_MICROSECOND = timedelta(microseconds=1)


@dataclass(slots=True)
class BurnRules:
    """The rules that can fire for a share that may be bad and a period; a refused one is said once."""

    _section: AlertsSection
    _made: dict[tuple[Fraction, Interval], tuple[list[BurnRule], list[RefusedRule]]] = field(
        default_factory=dict
    )
    _said: set[tuple[str, str, str]] = field(default_factory=set)

    def of(self, contract: str, objective: str, share: Fraction, period: Interval) -> list[BurnRule]:
        """Return the rules; warn of those that could never fire."""
        if not self._section.burn.enabled:
            return []
        key = (share, period)
        if key not in self._made:
            self._made[key] = self._make(share, period)
        rules, refused = self._made[key]
        for rule in refused:
            self._refuse(contract, objective, rule)
        return rules

    def has_pace(self, contract: str, objective: str, share: Fraction) -> bool:
        """Return whether the pace of such a budget is watched; warn where no requests could exceed the threshold."""
        pace = self._section.pace
        if not pace.enabled or pace.above * share < 1:
            return pace.enabled
        reason = f"with every request bad the pace is {float(1 / share):.0%}, and {float(pace.above):.0%} is never exceeded"
        self._refuse(contract, objective, RefusedRule(name="budget-pace", reason=reason))
        return False

    def _refuse(self, contract: str, objective: str, rule: RefusedRule) -> None:
        said = (contract, objective, rule.name)
        if said not in self._said:
            self._said.add(said)
            _LOG.warning("%s of %s is not watched by %s: %s", objective, contract, rule.name, rule.reason)

    def _make(self, share: Fraction, period: Interval) -> tuple[list[BurnRule], list[RefusedRule]]:
        burn = self._section.burn
        if not burn.rules:
            return default_rules(share, period, min_requests=burn.min_requests, min_bad=burn.min_bad)
        made = [
            burn_rule(
                name=each.name,
                severity="critical" if each.severity == "critical" else "warning",
                window=timedelta(seconds=each.window),
                part=each.part,
                share=share,
                period=period,
                min_requests=burn.min_requests,
                min_bad=burn.min_bad,
            )
            for each in burn.rules
        ]
        return (
            [each for each in made if isinstance(each, BurnRule)],
            [each for each in made if isinstance(each, RefusedRule)],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Budgeted:
    """An objective (at `place` in the file) with a budget of requests, and the rules that watch it."""

    place: int
    objective: LatencyObjective | AvailabilityObjective
    share: Fraction
    rules: tuple[BurnRule, ...]
    has_pace: bool


def budgeted(version: InForce, moment: Moment, rules: BurnRules) -> list[Budgeted]:
    """Return the objectives of a version that have a budget of requests in the month that runs."""
    period = period_of(version, moment.now)
    if period is None:
        return []
    contract = version.contract
    found = []
    for place, objective in enumerate(contract.objectives):
        share = share_of(objective)
        if share is not None:
            made = rules.of(contract.id, objective.name, share, period)
            has_pace = rules.has_pace(contract.id, objective.name, share)
            found.append(
                Budgeted(place=place, objective=objective, share=share, rules=tuple(made), has_pace=has_pace)  # type: ignore[arg-type]  # only these have a share
            )
    return found


def budget_lengths(found: list[Budgeted], section: AlertsSection) -> set[int]:
    """Return the lengths, in microseconds, of the windows that the rules look at."""
    lengths = {us for each in found for rule in each.rules for us in (rule.long_us, rule.short_us)}
    if any(each.has_pace for each in found):
        lengths.add(_us(section.pace.window))
    return lengths


def budget_watches(
    version: InForce,
    found: list[Budgeted],
    moment: Moment,
    sums: Mapping[tuple[SliceKey, int], Slice],
    section: AlertsSection,
) -> Iterator[Watch]:
    """Yield what is watched of the budgets of one contract."""
    contract = version.contract
    month: list[Slice | None] = []

    def left(each: Budgeted) -> Fraction | None:
        if not month:
            month.append(month_sums(moment, version))
        return _left(month[0], each, unknown_is_bad=contract.unmeasured.unknown_clock == "bad")

    for each in found:
        objective = each.objective
        clock = clock_of(objective)
        measured = moment.measured(version, objective, coverage_floor=section.coverage_floor)

        def window(length_us: int, place: int = each.place) -> Window:
            found = sums.get((version.key, length_us)) or nothing(moment.minutes(length_us))
            return moment.window(version, place, length_us, found)

        for rule in each.rules:
            yield Watch(
                key=AlertKey(contract=contract.id, rule=rule.name, objective=objective.name),
                severity=_severity(rule, section),
                condition=burning(
                    rule, (window(rule.long_us), window(rule.short_us)), measured, share=each.share,
                    objective=objective.name, clock=clock,
                ),
                words=wording.burning(objective.name, contract.id, rule.long_us),
                tenants=contract.customer.tenants,
                runbook=BURN_RUNBOOK,
                budget_left=partial(left, each),
            )  # fmt: skip
        if each.has_pace:
            yield Watch(
                key=AlertKey(contract=contract.id, rule="budget-pace", objective=objective.name),
                severity=section.pace.severity,
                condition=fast_burn(
                    window(_us(section.pace.window)), measured, share=each.share, objective=objective.name, clock=clock,
                    limit=section.pace.above, min_requests=section.pace.min_requests,
                ),
                words=wording.shares(
                    f"{objective.name} of {contract.id} uses up its error budget faster than it comes, in % of the allowed pace",
                    f"{contract.id} 的 {objective.name} 消耗错误预算过快（相对允许速度）",
                ),
                tenants=contract.customer.tenants,
                budget_left=partial(left, each),
            )  # fmt: skip


def _severity(rule: BurnRule, section: AlertsSection) -> SeverityName:
    own = {each.name: each.severity for each in section.burn.rules}
    return own.get(rule.name, rule.severity)


def _left(month: Slice | None, each: Budgeted, *, unknown_is_bad: bool) -> Fraction | None:
    if month is None or each.place >= len(month.tallies):
        return None
    tally = month.tallies[each.place]
    budget = Budget(
        kind="requests",
        share=each.share,
        counted=tally.counted(unknown_is_bad=unknown_is_bad),
        spent=tally.spent(unknown_is_bad=unknown_is_bad),
    )
    return budget.remaining_ratio


def _us(seconds: float) -> int:
    return timedelta(seconds=seconds) // _MICROSECOND
