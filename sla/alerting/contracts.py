"""Own what is watched of a contract as a whole: waiting, latency in its periods, gaps, probes without an answer."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from fnmatch import fnmatchcase
from fractions import Fraction
from typing import TYPE_CHECKING

from fairclock.model import Interval
from fairclock.model.probes import FAILED
from fairclock.store.probes import probes_as_of
from sla.alerting import wording
from sla.alerting.latencies import over_threshold
from sla.alerting.measuring import nothing
from sla.alerting.naming import AlertKey
from sla.alerting.watches import Watch
from sla.alerts import failed_probes, queue_share, unexplained_gap
from sla.alerts.limits import above_limit
from sla.contracts.objectives import LatencyObjective
from sla.evaluation.dataset import rows_of
from sla.evaluation.fragments import select, sql
from sla.evaluation.subject import subject_of
from sla.probing import REACH, concerning, failing_now
from sla.prometheus_rules import share_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    from fairclock.model.probes import Probe
    from fairclock.store.slices import SliceKey
    from sla.alerting.configuration import AlertsSection
    from sla.alerting.measuring import Moment
    from sla.alerts import Condition
    from sla.slices import InForce
    from sla.slices.reading import Slice

_MICROSECOND = timedelta(microseconds=1)
_RECENT_PROBES = timedelta(minutes=10)


def contract_lengths(section: AlertsSection) -> set[int]:
    """Return the lengths, in microseconds, of the windows that the rules look at."""
    parts = [each for each in (section.queue_share, section.latency) if each.enabled]
    return {_us(each.window) for each in parts}


def waiting_watch(
    version: InForce, moment: Moment, sums: Mapping[tuple[SliceKey, int], Slice], section: AlertsSection
) -> Iterator[Watch]:
    """Yield the watch on the share of waiting."""
    rule, contract = section.queue_share, version.contract
    if not rule.enabled:
        return
    length_us = _us(rule.window)
    found = sums.get((version.key, length_us)) or nothing(moment.minutes(length_us))
    yield Watch(
        key=AlertKey(contract=contract.id, rule="queue-share"),
        severity=rule.severity,
        condition=queue_share(
            moment.window(version, None, length_us, found),
            moment.measured(version, None, coverage_floor=section.coverage_floor),
            limit=rule.above,
            min_requests=rule.min_requests,
        ),
        words=wording.shares(
            f"requests of {contract.id} spend too much of their time queueing", f"{contract.id} 的请求排队占比过高"
        ),
        hold=timedelta(seconds=rule.hold),
        tenants=contract.customer.tenants,
    )  # fmt: skip


def latency_watches(
    version: InForce, moment: Moment, sums: Mapping[tuple[SliceKey, int], Slice], section: AlertsSection
) -> Iterator[Watch]:
    """Yield the watches on latency in periods: the contract's own promises, and thresholds beside them."""
    contract, rule = version.contract, section.latency
    length_us = _us(rule.window)
    for place, objective in enumerate(contract.objectives if rule.enabled else ()):
        share = share_of(objective)
        if not isinstance(objective, LatencyObjective) or objective.during is None or share is None:
            continue
        found = sums.get((version.key, length_us)) or nothing(moment.minutes(length_us))
        window = moment.window(version, place, length_us, found)
        measured = moment.measured(version, objective, coverage_floor=section.coverage_floor)
        counted = window.tally.counted(unknown_is_bad=measured.unknown_is_bad)
        over = window.tally.spent(unknown_is_bad=measured.unknown_is_bad)
        latency = objective.latency
        yield Watch(
            key=AlertKey(contract=contract.id, rule="latency-in-period", objective=objective.name),
            severity=rule.severity,
            condition=above_limit(
                Fraction(over, counted) if counted else None,
                # requests at other times of the day are no business of this objective
                replace(window, requests=counted),
                measured, rule="latency-in-period", limit=share, min_requests=rule.min_requests,
                objective=objective.name, clock=latency.clock,
            ),
            words=wording.shares(
                f"too many requests of {contract.id} take longer than {wording.seconds(latency.at_most_us)}"
                f" ({objective.name}, {latency.clock})",
                f"{contract.id} 超过 {wording.seconds(latency.at_most_us)} 的请求过多（{objective.name}，{latency.clock}）",
            ),
            tenants=contract.customer.tenants,
        )  # fmt: skip
    for threshold in rule.thresholds:
        if any(fnmatchcase(contract.id, pattern) for pattern in threshold.contracts):
            yield from over_threshold(threshold, version, moment, section)


def gap_watch(
    version: InForce, moment: Moment, section: AlertsSection, *, watched_since: datetime
) -> Iterator[Watch]:
    """Yield the watch on time that nobody read through.

    Explained is what is excluded, what was before the first data ever (`watched_since` where there is none),
    what is before or after the term, and quiet time.
    """
    rule, contract = section.gap, version.contract
    interval = version.interval
    if not rule.enabled or interval is None:
        return
    window = Interval(start=moment.now - timedelta(seconds=rule.window), end=moment.now)
    first = moment.newest.gateway_from or watched_since
    explained = [*version.excluded.instants, *_before(window, max(first, interval.start))]
    if moment.quiet and moment.newest.gateway_to is not None:
        explained += [Interval(start=min(moment.newest.gateway_to, window.end), end=window.end)]
    yield Watch(
        key=AlertKey(contract=contract.id, rule="measurement-gap"),
        severity=rule.severity,
        condition=unexplained_gap(
            window,
            covered=moment.covered(window),
            explained=explained,
            longest_us=_us(rule.longest),
            now=moment.now,
        ),
        words=wording.durations(
            f"nobody read through the requests of {contract.id}, and nothing explains it",
            f"{contract.id} 存在无法解释的测量缺口",
        ),
        tenants=contract.customer.tenants,
    )


def probe_watch(
    version: InForce, moment: Moment, section: AlertsSection, probes: Sequence[Probe]
) -> Iterator[Watch]:
    """Yield the watch on probes that fail where no request was logged."""
    rule, contract = section.probes, version.contract
    if not rule.enabled:
        return
    yield Watch(
        key=AlertKey(contract=contract.id, rule="probes-failed"),
        severity=rule.severity,
        condition=_probed(version, moment, probes, min_failed=rule.min_failed),
        words=wording.counts(
            f"probes of the service of {contract.id} fail, and no request was logged",
            f"{contract.id} 的服务探测失败，且无请求记录",
        ),
        tenants=contract.customer.tenants,
    )


def recent_probes(moment: Moment) -> list[Probe]:
    """Return the probes that may speak of the present."""
    return probes_as_of(moment.store, Interval(start=moment.now - REACH, end=moment.now), moment.as_of)


def _probed(version: InForce, moment: Moment, probes: Sequence[Probe], *, min_failed: int) -> Condition:
    mine = concerning(version.contract, probes)
    streak = failing_now(mine)
    if streak is None:
        window = Interval(start=moment.now - _RECENT_PROBES, end=moment.now)
        recent = [each for each in mine if each.intended_at >= window.start]
        failed = sum(each.outcome in FAILED for each in recent)
        # an answer has ended every streak
        return failed_probes(window, sent=len(recent), failed=failed, requests=1, min_failed=min_failed)
    window = Interval(start=streak.since, end=moment.now)
    return failed_probes(
        window,
        sent=streak.sent,
        failed=streak.sent,
        requests=_logged(version, moment, window) if streak.sent >= min_failed else 0,
        min_failed=min_failed,
    )


def _logged(version: InForce, moment: Moment, window: Interval) -> int:
    """Return how many requests of the contract were logged in `window`."""
    rows = rows_of(moment.store, subject_of(version.contract), window, moment.as_of)
    return int(moment.store.rows(select([sql("count()")], rows))[0][0])


def _before(window: Interval, instant: datetime) -> list[Interval]:
    return [Interval(start=window.start, end=instant)] if instant > window.start else []


def _us(seconds: float) -> int:
    return timedelta(seconds=seconds) // _MICROSECOND
