"""Own what a tenant's page shows."""

# pydantic reads what annotations name when the program runs
# ruff: noqa: TC001

from __future__ import annotations

from fairclock.console.readings.models.base import Measured, Page, Shown
from fairclock.console.readings.models.figures import (
    AlertFigures,
    BudgetFigures,
    BurnDown,
    ClockFigures,
    CoverageFigures,
    GaugeSeries,
    LatencyPoint,
    PhaseFigures,
    PromiseFigures,
    TrafficFigures,
)


class TenantContract(Shown):
    """A contract that judges this tenant."""

    contract: str
    title: dict[str, str]
    time_zone: str
    months: tuple[str, ...]


class TenantPage(Page):
    """One contract's customer in the range: latency by clock, with and without queueing, and what follows from it.

    The figures are those of `contract` (its scope, its tenants together); `contracts` are the others to choose from.
    promises, budgets: as the report judges the range; outside a whole month they are for display and no verdict.
    gauges: of the engines that served the tenant; empty for callers who may not see machines.
    """

    tenant: str
    contract: str | None
    contracts: tuple[TenantContract, ...]
    clocks: tuple[ClockFigures, ...]
    clocks_measured: Measured
    phases: tuple[PhaseFigures, ...]
    latency: tuple[LatencyPoint, ...]
    traffic: TrafficFigures | None
    coverage: CoverageFigures | None
    promises: tuple[PromiseFigures, ...]
    budgets: tuple[BudgetFigures, ...]
    burn_downs: tuple[BurnDown, ...]
    gauges: tuple[GaugeSeries, ...]
    alerts: tuple[AlertFigures, ...]
