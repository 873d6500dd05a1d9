"""Own the rules on budgets of time: intervals put together from slices, judged as the verdict judges them.

An interval that nobody read through is left out here, so that a gap freezes an alert instead of firing it; one in
which probes failed is bad. Windows are whole intervals, those of the month that runs; they change once a minute.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Literal

from fairclock.model import Interval, clip, from_us, to_us, total_us
from fairclock.store.probes import probes_as_of
from fairclock.store.slices import MINUTE_US
from sla.alerting import wording
from sla.alerting.measuring import LAG, period_of
from sla.alerting.naming import AlertKey
from sla.alerting.watches import BURN_RUNBOOK, Watch
from sla.alerts import Holds, Window, burning
from sla.contracts.objectives import AvailabilityObjective, Downtime, MeanIntervalError
from sla.evaluation.promises import looked_at
from sla.grids import Grid, Span, intersection
from sla.interval_formulas import Rules, Seen, State, down_intervals, mean_interval_error, states_of
from sla.probing import REACH, concerning, failed_times
from sla.slices import slices_as_of
from sla.tallies import Tally

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from sla.alerting.budgets import BurnRules
    from sla.alerting.configuration import AlertsSection, SeverityName
    from sla.alerting.measuring import Moment
    from sla.alerts import BurnRule, Condition
    from sla.slices import InForce

Unread = Literal["bad", "void"]
_JUST_BEGUN = "the month has just begun, and too few of its intervals have ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lost:
    """One interval: of `whole` microseconds that count, `lost` were; what was seen in it."""

    start_us: int
    whole_us: int
    lost_us: Fraction
    seen: Seen


@dataclass(slots=True)
class TimedBudgets:
    """What is watched of the objectives that are judged by time; looked at once a minute."""

    _section: AlertsSection
    _rules: BurnRules
    _looked_at: dict[AlertKey, int] = field(default_factory=dict)

    def watches(self, version: InForce, moment: Moment) -> Iterator[Watch]:
        """Yield the watches of one contract; without a condition where the minute was looked at already."""
        contract, period = version.contract, period_of(version, moment.now)
        if period is None:
            return
        minute = to_us(moment.now) // MINUTE_US
        for place, objective in enumerate(contract.objectives):
            formula = objective.availability if isinstance(objective, AvailabilityObjective) else None
            if not isinstance(objective, AvailabilityObjective) or not isinstance(
                formula, Downtime | MeanIntervalError
            ):
                continue
            share = 1 - formula.target
            rules = self._rules.of(contract.id, objective.name, share, period) if 0 < share < 1 else []
            if not rules or formula.interval_us % MINUTE_US:
                continue  # slices are of minutes
            budget = _Budget(version, moment, place, objective, formula, period)
            lost: list[Lost] | None = None
            for rule in rules:
                key = AlertKey(contract=contract.id, rule=rule.name, objective=objective.name)
                condition = None
                if self._looked_at.get(key) != minute:
                    if lost is None:
                        lost = budget.lost(max(each.long_us for each in rules), unread="void")
                    condition = budget.condition(rule, lost, share, self._section)
                    self._looked_at[key] = minute
                yield Watch(
                    key=key,
                    severity=_severity(rule, self._section),
                    condition=condition,
                    words=wording.burning(
                        objective.name, contract.id, rule.long_us, unit=("intervals", "个区间")
                    ),
                    tenants=contract.customer.tenants,
                    runbook=BURN_RUNBOOK,
                    budget_left=partial(budget.left, share),
                )


@dataclass(frozen=True, slots=True)
class _Budget:
    version: InForce
    moment: Moment
    place: int
    objective: AvailabilityObjective
    formula: Downtime | MeanIntervalError
    period: Interval

    def condition(
        self, rule: BurnRule, lost: Sequence[Lost], share: Fraction, section: AlertsSection
    ) -> Condition:
        """Say whether the budget of time burns too fast, on enough requests or where probes failed."""
        long, short = (self._window(lost, length_us) for length_us in (rule.long_us, rule.short_us))
        inside = [each for each in lost if each.start_us >= to_us(long.interval.start)]
        is_enough = sum(each.seen.counted for each in inside) >= rule.min_requests
        is_enough = is_enough and sum(each.seen.bad for each in inside) >= rule.min_bad
        is_silent = any(each.seen.probes_failed and each.lost_us for each in inside)
        # what the windows count here is time: its least amount is nothing to wait for
        least = 1 if is_enough or is_silent else long.interval.length_us + 1
        found = burning(
            replace(rule, min_requests=1, min_bad=least),
            (long, short),
            self.moment.measured(self.version, self.objective, coverage_floor=section.coverage_floor),
            share=share,
            objective=self.objective.name,
        )
        counted = [each for each in inside if each.whole_us]
        finding = replace(found.finding, bad=sum(each.lost_us > 0 for each in counted), counted=len(counted))
        if found.holds is Holds.NO and self._has_just_begun(lost):
            return replace(found, finding=finding, holds=Holds.UNKNOWN, why_unknown=_JUST_BEGUN)
        return replace(found, finding=finding)

    def _has_just_begun(self, lost: Sequence[Lost]) -> bool:
        """Return whether the month has too few intervals to be down in: an outage that began before may go on."""
        needed = self.formula.consecutive if isinstance(self.formula, Downtime) else 1
        is_cut = not lost or lost[0].start_us == to_us(self.period.start)
        return is_cut and len(lost) < needed

    def left(self, share: Fraction) -> Fraction | None:
        """Return what is left of the month's budget of time, by the contract's own words about unread time."""
        unread = self.version.contract.unmeasured.time
        lost = self.lost(None, unread="bad" if unread is None else unread)
        whole = sum(each.whole_us for each in lost)
        return 1 - sum((each.lost_us for each in lost), Fraction(0)) / (share * whole) if whole else None

    def lost(self, length_us: int | None, *, unread: Unread) -> list[Lost]:
        """Return the intervals that have ended, over the last `length_us` of the month or all of it."""
        step_us, end = self.formula.interval_us, self.moment.until(engine=False)
        start_us = max(to_us(self.period.start), to_us(self.moment.began_at(self.version)))
        if length_us is not None:
            start_us = max(start_us, to_us(end) - length_us - step_us * self._reach())
        first = (start_us - to_us(self.period.start)) // step_us * step_us + to_us(self.period.start)
        whole = Grid(start_us=first, end_us=max(first, to_us(self.period.end)), step_us=step_us)
        grid = whole.ended_by(to_us(end))
        return self._judged(grid, self._seen(grid), unread) if grid.count else []

    def _reach(self) -> int:
        """Return how many intervals before a window may decide what those in it are."""
        return 2 * self.formula.consecutive if isinstance(self.formula, Downtime) else 1

    def _seen(self, grid: Grid) -> list[Seen]:
        window = Interval(start=from_us(grid.start_us), end=from_us(grid.end_us))
        store, contract, as_of = self.moment.store, self.version.contract, self.moment.as_of
        instants = looked_at(contract, self.objective, window, self.version.excluded)
        looked = [(grid.start_us, grid.end_us)] if instants is None else _spans(instants)
        covered = [*self.moment.covered(window), *self.moment.quiet_time(window)]
        probes = probes_as_of(store, Interval(start=window.start - REACH, end=window.end), as_of)
        failed = failed_times(concerning(contract, probes), window)
        times = grid.shares(looked)
        read = grid.shares(intersection(looked, _spans(clip(covered, window))))
        probed = grid.shares(intersection(looked, _spans(failed)))
        tallies = [Tally()] * grid.count
        for each in slices_as_of(store, self.version.key, window, as_of):
            if self.place < len(each.tallies):
                cell = (to_us(each.window.start) - grid.start_us) // grid.step_us
                tallies[cell] += each.tallies[self.place]
        return [
            Seen(
                looked_at_us=time_us,
                counted=tally.good + tally.bad,
                bad=tally.bad,
                is_read=read_us == time_us,
                probes_failed=failed_us > 0,
            )
            for time_us, read_us, failed_us, tally in zip(times, read, probed, tallies, strict=True)
        ]

    def _judged(self, grid: Grid, cells: Sequence[Seen], unread: Unread) -> list[Lost]:
        formula = self.formula
        if isinstance(formula, Downtime):
            states = states_of(
                cells,
                Rules(
                    bad_above=formula.bad_above,
                    consecutive=formula.consecutive,
                    min_requests=formula.min_requests or 0,
                    below_min=formula.below_min,
                    empty=formula.empty,
                    unread=unread,
                ),
            )
            down = set(down_intervals(states, formula.consecutive))
            shares = [
                (cell.looked_at_us * (state is not State.VOID), Fraction(cell.looked_at_us * (place in down)))
                for place, (cell, state) in enumerate(zip(cells, states, strict=True))
            ]
        else:
            counts = [mean_interval_error([cell], empty=formula.empty, unread=unread) for cell in cells]
            # each interval weighs the same, whatever its length
            shares = [(count.whole * grid.step_us, count.lost * grid.step_us) for count in counts]
        return [
            Lost(start_us=grid.start_us + place * grid.step_us, whole_us=whole, lost_us=lost, seen=cell)
            for place, (cell, (whole, lost)) in enumerate(zip(cells, shares, strict=True))
        ]

    def _window(self, lost: Sequence[Lost], length_us: int) -> Window:
        """Return the last intervals that begin within `length_us`, one at least, as a window of microseconds."""
        end = self.moment.until(engine=False)
        last_us = lost[-1].start_us if lost else to_us(end)
        start_us = min(last_us, to_us(self._newest_end(lost, end)) - length_us)
        inside = [each for each in lost if each.start_us >= start_us]
        interval = Interval(start=from_us(inside[0].start_us) if inside else end, end=end)
        whole = sum(each.whole_us for each in inside)
        bad = int(sum((each.lost_us for each in inside), Fraction(0)))
        covered = [*self.moment.covered(interval), *self.moment.quiet_time(interval)]
        return Window(
            interval=interval,
            tally=Tally(good=max(whole - bad, 0), bad=bad),
            covered_us=total_us(clip(covered, interval)),
            requests=sum(each.seen.counted for each in inside),
        )

    def _newest_end(self, lost: Sequence[Lost], end: datetime) -> datetime:
        """Return where the last interval ends: a window counts back from there, so that whole ones fill it."""
        ended = from_us(lost[-1].start_us) + timedelta(microseconds=self.formula.interval_us) if lost else end
        return min(ended, end + LAG)


def _severity(rule: BurnRule, section: AlertsSection) -> SeverityName:
    own = {each.name: each.severity for each in section.burn.rules}
    return own.get(rule.name, rule.severity)


def _spans(intervals: Sequence[Interval]) -> list[Span]:
    return [(to_us(each.start), to_us(each.end)) for each in intervals]
