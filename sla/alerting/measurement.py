"""Own what is watched of the measurement itself: sources that miss probes, differ about them, whose clocks are apart."""

from __future__ import annotations

from datetime import timedelta
from fractions import Fraction
from typing import TYPE_CHECKING

from fairclock.model import Interval
from fairclock.store.probe_sightings import last_seen
from sla.alerting import wording
from sla.alerting.naming import EVERYBODY, AlertKey
from sla.alerting.watches import Watch
from sla.alerts import Condition, Finding, Holds
from sla.measurement.problems import (
    Limits,
    checked_clocks,
    checked_differences,
    checked_sources,
    clock_name,
)
from sla.measurement.reading import measured_as_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sla.alerting.configuration import AlertsSection, MeasurementSection
    from sla.alerting.measuring import Moment
    from sla.alerting.wording import Words
    from sla.measurement.problems import Checked

MISSES, DIFFERS, CLOCKS = "measurement-misses", "measurement-differs", "measurement-clocks"


def limits_of(section: MeasurementSection) -> Limits:
    """Return from where on something is a problem, as it is configured."""
    return Limits(unseen=section.min_probes, apart_us=round(section.clocks_apart * 1_000_000))


def measurement_watches(moment: Moment, section: AlertsSection) -> Iterator[Watch]:
    """Yield the watches on every source, comparison and pair of clocks that the reconciled probes of late speak of.

    Where no more probes are reconciled, nothing is known, and nothing is called well; sources are forgotten as others are.
    """
    rule = section.measurement
    if not rule.enabled:
        return
    ago = timedelta(seconds=section.sources.forget_after)
    sources = last_seen(moment.store, Interval(start=moment.now - ago, end=moment.now), moment.as_of)
    if not sources:
        return
    newest = max(sources.values())
    length = timedelta(seconds=rule.window)
    window = Interval(start=newest - length, end=moment.now)
    limits = limits_of(rule)
    measurement = measured_as_of(moment.store, window, moment.as_of)
    stale = "" if moment.now - newest <= length else "no probe was reconciled since"

    def watch(rule_name: str, checked: Checked, counted: int, words: Callable[[Finding], Words]) -> Watch:
        return Watch(
            key=AlertKey(contract=EVERYBODY, rule=rule_name, subject=checked.subject),
            severity=rule.severity,
            condition=_condition(rule_name, checked, window, stale, enough=counted >= rule.min_probes),
            words=words,
        )

    for count, checked in checked_sources(measurement, limits, known=sources):
        name = checked.subject
        yield watch(
            MISSES, checked, count.expected,
            wording.counts(f"{name} does not see probes that others saw", f"{name} 未看到其他来源已看到的探测请求"),
        )  # fmt: skip
    for difference, checked in checked_differences(measurement):
        of = difference.comparison
        yield watch(
            DIFFERS, checked, difference.count,
            wording.shares(
                f"{of.clock} of probes by {of.source} is not what {of.against} says, share of probes",
                f"探测请求的 {of.clock}：{of.source} 与 {of.against} 不符的比例",
            ),
        )  # fmt: skip
    for clocks, checked in checked_clocks(measurement, limits):
        pair = (
            clock_name(clocks.source, clocks.instance),
            clock_name(clocks.against, clocks.against_instance),
        )
        yield watch(
            CLOCKS, checked, clocks.count,
            wording.durations(
                f"the clocks of {pair[0]} and {pair[1]} are apart by at least", f"{pair[0]} 与 {pair[1]} 的时钟至少相差"
            ),
        )  # fmt: skip


def _condition(rule: str, checked: Checked, window: Interval, stale: str, *, enough: bool) -> Condition:
    finding = Finding(
        rule=rule,
        window=window,
        bad=checked.bad,
        counted=checked.counted,
        value=checked.value,
        threshold=Fraction(checked.limit),
    )
    if stale:
        return Condition(holds=Holds.UNKNOWN, finding=finding, why_unknown=stale)
    if not enough:
        return Condition(holds=Holds.UNKNOWN, finding=finding, why_unknown="too few probes were sent")
    return Condition(holds=Holds.YES if checked.is_wrong else Holds.NO, finding=finding)
