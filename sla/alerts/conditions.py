"""Own what a condition says: that it holds, that it does not, or that the data does not tell; and all there is to it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from fairclock.model import Clock, Interval
    from sla.alerts.windows import Measured, Window


class Holds(StrEnum):
    """Whether a condition holds."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Everything that is said beside an alert. What is not known is None, never zero.

    value and threshold are of the rule's own kind: a burn rate, a share, seconds, a count.
    """

    rule: str
    objective: str | None = None
    clock: Clock | None = None
    window: Interval | None = None
    bad: int | None = None
    counted: int | None = None
    value: Fraction | None = None
    threshold: Fraction | None = None
    budget_left_ratio: Fraction | None = None
    data_age_seconds: Fraction | None = None
    coverage: Fraction | None = None
    queue_share: Fraction | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """What a rule says now; `why_unknown` where the data does not tell."""

    holds: Holds
    finding: Finding
    why_unknown: str = ""


def found_in(
    window: Window,
    measured: Measured,
    *,
    rule: str,
    value: Fraction | None,
    threshold: Fraction,
    objective: str | None = None,
    clock: Clock | None = None,
    budget_left_ratio: Fraction | None = None,
) -> Finding:
    """Return what is said of a value that was found in `window`."""
    return Finding(
        rule=rule,
        objective=objective,
        clock=clock,
        window=window.interval,
        bad=window.tally.spent(unknown_is_bad=measured.unknown_is_bad),
        counted=window.tally.counted(unknown_is_bad=measured.unknown_is_bad),
        value=value,
        threshold=threshold,
        budget_left_ratio=budget_left_ratio,
        data_age_seconds=age_seconds(measured.newest_at, measured.now),
        coverage=window.coverage,
        queue_share=window.queue_share,
    )


def age_seconds(newest_at: datetime | None, now: datetime) -> Fraction | None:
    """Return how old the newest data is; None if there is none."""
    return None if newest_at is None else max(to_seconds(newest_at, now), Fraction(0))


def to_seconds(start: datetime, end: datetime) -> Fraction:
    """Return the time between two instants in seconds, exactly."""
    delta = end - start
    return Fraction(delta // timedelta(microseconds=1), 1_000_000)


def why_unmeasured(window: Window, measured: Measured) -> str:
    """Return why `window` cannot say that all is well; empty where it can."""
    if measured.began_at > window.interval.start:
        return "the window reaches back to before there was anything to measure"
    coverage = window.coverage
    if coverage is None or coverage < measured.coverage_floor:
        share = 0 if coverage is None else int(coverage * 100)
        return f"only {share} % of the window was read through"
    return ""
