"""Own alerts on the pace of a budget: two windows, a long one that matters and a short one that says it goes on.

A rule says which part of the period's budget is gone if the long window's pace held for that window. Its
threshold, a burn rate, follows from the window and the period: 2 % in an hour is 14.4 in a month of 30 days and
14.88 in one of 31. A rule that no error ratio can reach is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from sla.alerts.conditions import Condition, Holds, found_in, why_unmeasured
from sla.budgets import burn_rate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairclock.model import Clock, Interval
    from sla.alerts.conditions import Finding
    from sla.alerts.windows import Measured, Window

Severity = Literal["critical", "warning"]

_SHORT_PART = 12
_LEAST_PACE = 2
_DEFAULTS: tuple[tuple[str, Severity, timedelta, Fraction], ...] = (
    ("burn-1h", "critical", timedelta(hours=1), Fraction(2, 100)),
    ("burn-6h", "critical", timedelta(hours=6), Fraction(5, 100)),
    ("burn-3d", "warning", timedelta(days=3), Fraction(12, 100)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BurnRule:
    """Fire where both windows burn at `threshold` or faster, on enough requests and enough bad ones.

    min_requests and min_bad are asked of the long window: one error at night wakes nobody.
    """

    name: str
    severity: Severity
    long_us: int
    short_us: int
    threshold: Fraction
    min_requests: int
    min_bad: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedRule:
    """A rule that could never fire, or always would, and why."""

    name: str
    reason: str


def burn_rule(
    *,
    name: str,
    severity: Severity,
    window: timedelta,
    part: Fraction,
    share: Fraction,
    period: Interval,
    min_requests: int,
    min_bad: int,
) -> BurnRule | RefusedRule:
    """Return the rule that fires where `part` of a period's budget goes within `window`; `share` may be bad."""
    long_us = window // timedelta(microseconds=1)
    threshold = part * Fraction(period.length_us, max(long_us, 1))
    reason = ""
    if long_us < _SHORT_PART or long_us > period.length_us:
        reason = f"a window of {window} does not fit into the period"
    elif threshold * share > 1:
        ratio = float(threshold * share)
        reason = (
            f"a burn rate of {float(threshold):.4g} is {ratio:.0%} of requests bad, more than there can be;"
            " choose a longer window or a smaller part of the budget"
        )
    elif threshold <= 1:
        reason = f"a burn rate of {float(threshold):.4g} is no faster than the contract allows; choose a larger part"
    if reason:
        return RefusedRule(name=name, reason=reason)
    return BurnRule(
        name=name,
        severity=severity,
        long_us=long_us,
        short_us=long_us // _SHORT_PART,
        threshold=threshold,
        min_requests=min_requests,
        min_bad=min_bad,
    )


def default_rules(
    share: Fraction, period: Interval, *, min_requests: int = 20, min_bad: int = 5
) -> tuple[list[BurnRule], list[RefusedRule]]:
    """Return the rules for a budget of `share` over `period`: 2 % in 1 h, 5 % in 6 h, 12 % in 3 d, where they can fire.

    A refused rule is tried again with half the part, as long as it stays faster than twice the allowed pace.
    """
    rules: list[BurnRule] = []
    refused: list[RefusedRule] = []
    for name, severity, window, part in _DEFAULTS:
        made: BurnRule | RefusedRule
        tried = part
        while True:
            made = burn_rule(
                name=name, severity=severity, window=window, part=tried, share=share, period=period,
                min_requests=min_requests, min_bad=min_bad,
            )  # fmt: skip
            faster = tried / 2 * Fraction(period.length_us, window // timedelta(microseconds=1))
            if isinstance(made, BurnRule) or faster <= _LEAST_PACE:
                break
            tried /= 2
        if isinstance(made, BurnRule):
            rules.append(made)
        else:
            refused.append(made)
    return rules, refused


def burning(
    rule: BurnRule,
    windows: tuple[Window, Window],
    measured: Measured,
    *,
    share: Fraction,
    objective: str,
    clock: Clock | None = None,
    budget_left_ratio: Fraction | None = None,
) -> Condition:
    """Say whether the long and the short of `windows` burn too fast; both end at the same instant.

    What was seen suffices to say yes, however little was measured. To say no, both windows have to have been
    read through: missing data ends no alert and hides none.
    """
    rates = [_rate(window, measured, share) for window in windows]
    long = windows[0]
    counted = long.tally.counted(unknown_is_bad=measured.unknown_is_bad)
    spent = long.tally.spent(unknown_is_bad=measured.unknown_is_bad)
    finding = found_in(
        long, measured, rule=rule.name, value=rates[0], threshold=rule.threshold, objective=objective,
        clock=clock, budget_left_ratio=budget_left_ratio,
    )  # fmt: skip
    fast = all(rate is not None and rate >= rule.threshold for rate in rates)
    enough = counted >= rule.min_requests and spent >= rule.min_bad
    begun = measured.began_at <= long.interval.start
    if fast and enough and begun:
        return Condition(holds=Holds.YES, finding=finding)
    if not begun:
        return Condition(holds=Holds.NO, finding=finding)
    return _unless_unmeasured(finding, windows, measured)


def _unless_unmeasured(finding: Finding, windows: Sequence[Window], measured: Measured) -> Condition:
    reason = next((why for window in windows if (why := why_unmeasured(window, measured))), "")
    holds = Holds.UNKNOWN if reason else Holds.NO
    return Condition(holds=holds, finding=finding, why_unknown=reason)


def _rate(window: Window, measured: Measured, share: Fraction) -> Fraction | None:
    return burn_rate(
        window.tally.spent(unknown_is_bad=measured.unknown_is_bad),
        window.tally.counted(unknown_is_bad=measured.unknown_is_bad),
        share,
    )
