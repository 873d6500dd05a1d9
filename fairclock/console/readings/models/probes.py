"""Own what the page of probes shows: what a prober saw from outside, beside what gateways and engines measured."""

# pydantic reads what annotations name when the program runs
# ruff: noqa: TC003

from __future__ import annotations

from datetime import datetime
from typing import Literal

from fairclock.console.readings.models.base import Count, Measured, Page, Ratio, Shown


class ProbeComparison(Shown):
    """One duration, as the prober and as the measurement have it, over the probes that have both."""

    clock: Literal["end_to_end", "time_to_first_token"]
    n: Count
    probe_p50_seconds: float | None
    probe_p99_seconds: float | None
    measured_p50_seconds: float | None
    measured_p99_seconds: float | None
    difference_p50_seconds: float | None
    difference_p99_seconds: float | None


class ProbeTarget(Shown):
    """One target of one probe, in the range."""

    probe: str
    target: str
    model: str
    sent: Count
    answered: Count
    failed: Count
    unsent: Count
    answered_ratio: Ratio | None
    p50_seconds: float | None
    p99_seconds: float | None
    """from the instant that was meant; what failed is above all that was answered, so None may be for ever"""
    lateness_p99_seconds: float | None
    """from the instant that was meant to the one it was sent at"""
    last_at: datetime | None
    last_outcome: str | None
    comparisons: tuple[ProbeComparison, ...]


class ProbePage(Page):
    """Every probe in the range."""

    targets: tuple[ProbeTarget, ...]
    measured: Measured
