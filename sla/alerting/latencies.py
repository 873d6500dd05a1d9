"""Own thresholds on latency that no contract need promise: counted from rows, by the contract's own rules."""

from __future__ import annotations

from datetime import timedelta
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from fairclock.model import Interval, clip, total_us
from sla.alerting import wording
from sla.alerting.naming import AlertKey
from sla.alerting.watches import Watch
from sla.alerts import Window
from sla.alerts.limits import above_limit
from sla.calendars import complement
from sla.contracts.where import During
from sla.evaluation.dataset import rows_of
from sla.evaluation.fragments import NEVER, all_of, count_if, sql
from sla.evaluation.instants import inside
from sla.evaluation.judging import judged_by
from sla.evaluation.rows import single_row
from sla.evaluation.subject import subject_of
from sla.tallies import Tally

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sla.alerting.configuration import AlertsSection, LatencyThreshold
    from sla.alerting.measuring import Moment
    from sla.slices import InForce

_NOT = "not "
_MICROSECOND = timedelta(microseconds=1)


def over_threshold(
    threshold: LatencyThreshold, version: InForce, moment: Moment, section: AlertsSection
) -> Iterator[Watch]:
    """Yield the watch on one threshold; none where the contract knows no such period."""
    contract, rule = version.contract, section.latency
    name = (threshold.during or "").removeprefix(_NOT)
    if threshold.during is not None and name not in contract.calendar.periods:
        return
    during = (
        None if threshold.during is None else During(name=name, negated=threshold.during.startswith(_NOT))
    )
    end = moment.until(engine=False)
    window = Interval(
        start=min(max(end - timedelta(seconds=rule.window), moment.began_at(version)), end), end=moment.now
    )
    instants = contract.intervals(during, window)
    above_us = timedelta(seconds=threshold.above) // _MICROSECOND
    judged = judged_by(threshold.clock, threshold="alert_above", threshold_us=above_us)
    if version.excluded.instants:
        instants = complement((*complement(instants, window), *version.excluded.instants), window)
    looked_at = inside(instants, name="alert_during")
    if version.excluded.requests != NEVER:
        left_out = version.excluded.requests
        looked_at = all_of([looked_at, sql(f"NOT ({left_out.sql})", **left_out.parameters)])
    conditions: dict[str, Any] = {
        "valued": judged.valued, "over": judged.valued_over, "unanswered": judged.unanswered, "unknown": judged.unknown,
    }  # fmt: skip
    counts = single_row(
        moment.store,
        {name: count_if(all_of([looked_at, each])) for name, each in conditions.items() if each is not None},
        rows_of(moment.store, subject_of(contract), window, moment.as_of),
    )
    found = {name: int(counts.get(name, 0)) for name in conditions}
    tally = Tally(
        good=found["valued"] - found["over"],
        bad=found["over"] + found["unanswered"],
        unknown=found["unknown"],
    )
    measured = moment.measured(version, None, coverage_floor=section.coverage_floor)
    counted = tally.counted(unknown_is_bad=measured.unknown_is_bad)
    interval = Interval(start=window.start, end=max(end, window.start))
    covered = [*moment.covered(interval), *moment.quiet_time(interval)]
    yield Watch(
        key=AlertKey(contract=contract.id, rule=threshold.name),
        severity=threshold.severity,
        condition=above_limit(
            Fraction(tally.spent(unknown_is_bad=measured.unknown_is_bad), counted) if counted else None,
            Window(interval=interval, tally=tally, covered_us=total_us(clip(covered, interval)), requests=counted),
            measured,
            rule=threshold.name,
            limit=1 - Fraction(threshold.percentile, 100),
            min_requests=rule.min_requests,
            clock=threshold.clock,
        ),
        words=wording.shares(
            f"too many requests of {contract.id} take longer than {wording.seconds(above_us)}"
            f" (P{threshold.percentile} of {threshold.clock})",
            f"{contract.id} 超过 {wording.seconds(above_us)} 的请求过多（{threshold.clock} 的 P{threshold.percentile}）",
        ),
        tenants=contract.customer.tenants,
        runbook="latency-in-period",
    )  # fmt: skip
