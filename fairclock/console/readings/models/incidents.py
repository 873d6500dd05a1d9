"""Own what the page of incidents shows."""

# pydantic reads what annotations name when the program runs
# ruff: noqa: TC003

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from fairclock.console.readings.models.base import Count, Measured, Page, Shown


class IncidentFigures(Shown):
    """An incident as it was last said to be; `evidence` is a list of findings, as in ``report.json``."""

    id: str
    contract: str
    objective: str
    state: Literal["ongoing", "ended"]
    starts_at: datetime
    ends_at: datetime
    requests: Count
    bad: Count
    bad_minutes: Count
    tenants: tuple[str, ...]
    clock: str | None
    worst_seconds: float | None
    unanswered: Count
    worst_minute_bad: Count
    worst_minute_requests: Count
    evidence: tuple[dict[str, Any], ...]
    measured: Measured


class IncidentPage(Page):
    """The incidents of which some minute lies in the range, the newest first, and the alerts that fire."""

    incidents: tuple[IncidentFigures, ...]
