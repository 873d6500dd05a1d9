"""Own error budgets: what may go wrong, what has, how fast, and when it would be used up.

A budget is counted in requests, windows or time (microseconds), from the same counts as the verdict: it is overspent
exactly where the promise is broken. Nothing is clamped: overspent means a negative remainder. Shares and rates
are exact fractions; only a forecast, which decides nothing, uses floats.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fairclock.model import Interval

Kind = Literal["requests", "windows", "time"]

_NORMAL_95 = 1.959963984540054
"""Between minus this and this lie 95 % of a normal variable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Of `counted` requests, windows or microseconds the share `share` may be bad, and `spent` are.

    A share of requests or windows is cut down to whole ones, as the verdict's is; time is not.
    """

    kind: Kind
    share: Fraction
    counted: int
    spent: Fraction | int

    def __post_init__(self) -> None:
        """Refuse a share that leaves no budget or no promise, and counts below zero."""
        if not 0 < self.share < 1:
            raise ValueError(f"the share that may be bad lies between 0 and 1 ({self.share})")
        if self.counted < 0 or self.spent < 0:
            raise ValueError(f"a count cannot be negative ({self.counted}, {self.spent})")

    @property
    def allowed(self) -> Fraction | int:
        """Return how much may be bad."""
        exact = self.share * self.counted
        return exact if self.kind == "time" else math.floor(exact)

    @property
    def remaining(self) -> Fraction | int:
        """Return what is left; below zero where more was spent than is allowed."""
        return self.allowed - self.spent

    @property
    def remaining_ratio(self) -> Fraction | None:
        """Return the part that is left; None where nothing is allowed, so that there is nothing to be a part of."""
        return Fraction(self.remaining) / self.allowed if self.allowed else None

    @property
    def is_exhausted(self) -> bool:
        """Say whether more was spent than is allowed; to have spent all of it is not to have broken the promise."""
        return self.spent > self.allowed

    def __add__(self, other: Budget) -> Budget:
        """Return the budget of two disjoint parts of one period together."""
        if (self.kind, self.share) != (other.kind, other.share):
            raise ValueError("budgets of two promises do not add up")
        return Budget(
            kind=self.kind,
            share=self.share,
            counted=self.counted + other.counted,
            spent=self.spent + other.spent,
        )


def burn_rate(spent: Fraction | int, counted: int, share: Fraction) -> Fraction | None:
    """Return how many times as fast as allowed the budget is being spent; None where nothing was counted."""
    return Fraction(spent) / (share * counted) if counted else None


def exhausted_us(losses: Iterable[tuple[int, int, Fraction | int]], allowed: Fraction | int) -> int | None:
    """Return the instant at which more than `allowed` is lost; None if that much is not lost.

    losses: (start, end, lost) in microseconds, in time order, `lost` at most as long as the interval. A part of
    an interval is taken to be lost from its start on, so the instant is never late.
    """
    spent = Fraction(0)
    for start, _, lost in losses:
        if spent + lost > allowed:
            return start + math.floor(allowed - spent)
        spent += lost
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """What was counted and spent in a recent stretch of `length_us`, from which a forecast is drawn."""

    counted: int
    spent: int
    length_us: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """When the budget would be used up if the pace held: at `at`, with 95 % between `earliest` and `latest`.

    None: not before the period ends. `earliest` and `latest` treat bad events as independent; they come in
    bursts, so the truth is less certain than that.
    """

    at: datetime | None
    earliest: datetime | None
    latest: datetime | None


def forecast(budget: Budget, pace: Pace, *, now: datetime, period: Interval) -> Forecast:
    """Say when a budget of requests would be used up in `period`, had what is to come the pace of `pace`.

    It is used up against what the whole period will then allow: traffic to come brings allowance with it.
    """
    left_us = _us(period.end - now)
    whole = budget.counted + Fraction(pace.counted * max(left_us, 0), max(pace.length_us, 1))
    room = float(budget.share * whole - budget.spent)
    low, high = event_interval(pace.spent)

    def reached(events: float) -> datetime | None:
        if room < 0:
            return now
        if events <= 0 or pace.length_us <= 0:
            return None
        after_us = room / (events / pace.length_us)
        return None if after_us >= left_us else now + timedelta(microseconds=math.floor(after_us))

    return Forecast(at=reached(pace.spent), earliest=reached(high), latest=reached(low))


def event_interval(count: int) -> tuple[float, float]:
    """Return between which expected numbers 95 % of the confidence lie, had `count` independent events been seen.

    Wilson and Hilferty's approximation of the exact (Garwood) interval; off by less than 2 % from 5 events on.
    """

    def bound(k: int, sign: int) -> float:
        return float(k * (1 - 1 / (9 * k) + sign * _NORMAL_95 / (3 * math.sqrt(k))) ** 3)

    return (max(bound(count, -1), 0.0) if count else 0.0), bound(count + 1, 1)


def sum_of(budgets: Sequence[Budget]) -> Budget:
    """Return the budget of all parts together; ValueError for none, since a budget is of some promise."""
    if not budgets:
        raise ValueError("no parts make no budget")
    whole = budgets[0]
    for each in budgets[1:]:
        whole += each
    return whole


def _us(delta: timedelta) -> int:
    return delta // timedelta(microseconds=1)
