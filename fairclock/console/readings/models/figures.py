"""Own the figures that several pages show: clocks, phases, outcomes, coverage, promises, budgets, alerts, gauges."""

# pydantic reads what annotations name when the program runs
# ruff: noqa: TC003

from __future__ import annotations

from datetime import datetime
from typing import Literal

from fairclock.console.readings.models.base import Count, Measured, Money, Part, Ratio, Sha256, Shown

Verdict = Literal["met", "violated", "insufficient_data", "not_measured"]
"""The report's words; prose says "at risk" for `violated` until a report is issued."""


class ClockFigures(Shown):
    """One clock's percentiles over `ok` requests: exact, for display; they decide nothing."""

    clock: str
    n: Count
    p50_seconds: float | None
    p95_seconds: float | None
    p99_seconds: float | None
    p99_interval_seconds: tuple[float | None, float | None] | None
    max_seconds: float | None


class PhaseFigures(Shown):
    """One phase's mean, and its share of the whole way, over fully measured `ok` requests."""

    phase: Literal["network", "frontend", "queue", "prefill", "decode"]
    mean_seconds: float | None
    share_ratio: float | None


class LatencyPoint(Shown):
    """A stretch of the range: the P99 of its `ok` requests with and without queueing; None where there was none."""

    starts_at: datetime
    ends_at: datetime
    n: Count
    p99_with_queue_seconds: float | None
    p99_without_queue_seconds: float | None


class OutcomeCount(Shown):
    """How many of the admitted requests ended so."""

    outcome: str
    count: Count
    share_ratio: Ratio | None


class TrafficFigures(Shown):
    """Every request in scope, by its one outcome."""

    admitted: Count
    outcomes: tuple[OutcomeCount, ...]
    unconfirmed: Count
    quarantined: Count
    ambiguous: Count
    retried: Count
    is_simulated: bool
    measured: Measured


class CoverageFigures(Shown):
    """How much of the elapsed time was read through, and of the `ok` requests joined; None of nothing."""

    gateway_ratio: Ratio | None
    engine_ratio: Ratio | None
    joined_ratio: Ratio | None
    measured: Measured


class PromiseFigures(Shown):
    """One promise: what was promised, what was delivered, how many counted, the verdict.

    threshold, value: in `threshold_unit` ("seconds", "ratio", "number"). `unit` is what was counted: requests,
    windows, time in microseconds. `n`, `over`, `allowed`: None where nothing could be counted.
    """

    contract: str
    version_sha256: Sha256
    objective: str
    kind: str
    clause: str
    clock: str | None
    percentile: float | None
    threshold: float | None
    threshold_unit: Literal["seconds", "ratio", "number"]
    during: str | None
    part: Part | None
    unit: str | None
    n: Count | None
    over: float | None
    allowed: float | None
    unknown: Count | None
    value: float | None
    value_interval: tuple[float | None, float | None] | None
    verdict: Verdict
    verdict_without_exclusions: Verdict
    reason: str | None
    is_issued: bool
    measured: Measured


class Burn(Shown):
    """How many times as fast as allowed a budget was spent in the last `window_seconds`; None where nothing counted."""

    window_seconds: Count
    n: Count
    spent: Count
    rate: float | None


class BudgetFigures(Shown):
    """One error budget; time is in seconds. `remaining_ratio` is below zero where it is overspent."""

    contract: str
    objective: str
    part: Part | None
    kind: Literal["requests", "windows", "time"]
    allowed: float
    spent: float
    remaining: float
    remaining_ratio: float | None
    is_exhausted: bool
    exhausted_at: datetime | None
    burns: tuple[Burn, ...] = ()
    measured: Measured


class BurnDownPoint(Shown):
    """How much of a budget of requests had been spent by the end of a stretch of the range."""

    at: datetime
    n: Count
    spent: Count


class BurnDown(Shown):
    """The way of one promise's budget through the range, from slices."""

    contract: str
    objective: str
    points: tuple[BurnDownPoint, ...]
    measured: Measured


class AlertFigures(Shown):
    """An alert that has not resolved; `summary` by language."""

    id: str
    state: str
    severity: str
    contract: str | None
    objective: str | None
    since: datetime
    summary: dict[str, str]
    measured: Measured


class GaugePoint(Shown):
    """A stretch: the last value scraped in it, and the greatest."""

    starts_at: datetime
    last: float
    greatest: float


class GaugeSeries(Shown):
    """One gauge of one engine. `waiting` and `running` count requests, `kv_cache` is a ratio 0..1."""

    gauge: Literal["waiting", "running", "kv_cache"]
    unit: Literal["requests", "ratio"]
    target: str
    engine: str
    model: str
    points: tuple[GaugePoint, ...]
    measured: Measured


class CreditFigures(Shown):
    """A service credit, as it stands; the amounts are in `currency`."""

    id: str
    objective: str | None
    basis: str
    tier: str | None
    currency: str
    amount: Money
    state: str
    claim_opens_at: datetime | None
    claim_closes_at: datetime | None
