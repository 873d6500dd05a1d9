"""Own what the overview shows: every contract the caller may see, with its state and burn."""

# pydantic reads what annotations name when the program runs
# ruff: noqa: TC001, TC003

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from fairclock.console.readings.models.base import Count, Measured, Page, Part, Shown
from fairclock.console.readings.models.figures import AlertFigures, Burn, CoverageFigures, Verdict


class State(StrEnum):
    """How a contract stands, worst first."""

    VIOLATED = "violated"
    """a report that says so was issued for the month"""
    AT_RISK = "at_risk"
    """some promise is broken as of now, or burns faster than it may"""
    UNKNOWN = "unknown"
    """some promise cannot be judged, none is broken"""
    MET = "met"
    NOT_BEGUN = "not_begun"


class StandingFigures(Shown):
    """How one promise stands in the month: counts of slices, as the verdict counts, to the minute.

    `verdict` is the latest kept evaluation's; None while there is none. `n` and `over` are the slices', None for
    what slices do not count (cost, means, windows). Where the two differ, slices are the newer.
    """

    objective: str
    kind: str
    part: Part | None
    verdict: Verdict | None
    n: Count | None
    over: Count | None
    allowed: Count | None
    unknown: Count | None
    excluded: Count | None
    remaining_ratio: float | None
    burns: tuple[Burn, ...]


class ContractCard(Shown):
    """One contract in its latest month.

    `standings` are of the version in force, `earlier` of those that were in force before it in that month: what they promised
    for their part is owed, too.
    """

    contract: str
    title: dict[str, str]
    customer: str
    tenants: tuple[str, ...]
    time_zone: str
    month: str | None
    month_starts_at: datetime | None
    month_ends_at: datetime | None
    state: State
    standings: tuple[StandingFigures, ...]
    earlier: tuple[StandingFigures, ...] = ()
    worst_burn: float | None
    requests: Count | None
    queue_share_ratio: float | None
    coverage: CoverageFigures | None
    firing_alerts: Count
    ongoing_incidents: Count
    counted_to: datetime | None
    evaluated_as_of: datetime | None
    measured: Measured


class Overview(Page):
    """The overview: contracts worst first, and the alerts that fire."""

    contracts: tuple[ContractCard, ...]
    alerts: tuple[AlertFigures, ...]
