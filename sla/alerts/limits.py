"""Own plain thresholds: a share of waiting, a pace of the budget, a latency, a level that is too high."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from sla.alerts.conditions import Condition, Holds, found_in, why_unmeasured
from sla.budgets import burn_rate

if TYPE_CHECKING:
    from fairclock.model import Clock
    from sla.alerts.windows import Measured, Window


def above_limit(
    value: Fraction | None,
    window: Window,
    measured: Measured,
    *,
    rule: str,
    limit: Fraction,
    min_requests: int = 1,
    objective: str | None = None,
    clock: Clock | None = None,
    budget_left_ratio: Fraction | None = None,
) -> Condition:
    """Say whether `value`, found in `window`, lies above `limit`; equality does not.

    value: a percentile in seconds, a KV cache's fill, …; None where nothing gave one.
    """
    finding = found_in(
        window, measured, rule=rule, value=value, threshold=limit, objective=objective, clock=clock,
        budget_left_ratio=budget_left_ratio,
    )  # fmt: skip
    if value is not None and value > limit and window.requests >= min_requests:
        return Condition(holds=Holds.YES, finding=finding)
    reason = why_unmeasured(window, measured)
    if value is None and window.requests and not reason:
        reason = "no value was measured in the window"
    return Condition(holds=Holds.UNKNOWN if reason else Holds.NO, finding=finding, why_unknown=reason)


def queue_share(
    window: Window, measured: Measured, *, limit: Fraction = Fraction(1, 2), min_requests: int = 20
) -> Condition:
    """Say whether waiting is more than `limit` of the whole time of the requests in `window`."""
    return above_limit(
        window.queue_share, window, measured, rule="queue-share", limit=limit, min_requests=min_requests
    )


def fast_burn(
    window: Window,
    measured: Measured,
    *,
    share: Fraction,
    objective: str,
    clock: Clock | None = None,
    limit: Fraction = Fraction(2),
    min_requests: int = 20,
    budget_left_ratio: Fraction | None = None,
) -> Condition:
    """Say whether the budget is spent at more than `limit` times (200 %) the pace that the contract allows."""
    tally = window.tally
    unknown_is_bad = measured.unknown_is_bad
    counted = tally.counted(unknown_is_bad=unknown_is_bad)
    rate = burn_rate(tally.spent(unknown_is_bad=unknown_is_bad), counted, share)
    return above_limit(
        rate if counted >= min_requests else min(rate, limit) if rate is not None else None,
        window,
        measured,
        rule="budget-pace",
        limit=limit,
        objective=objective,
        clock=clock,
        budget_left_ratio=budget_left_ratio,
    )
