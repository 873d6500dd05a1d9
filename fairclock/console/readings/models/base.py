"""Own what every model is made of: its base, where a figure comes from, the range it is for, what is not shown."""

# pydantic reads what annotations name when the program runs
# ruff: noqa: TC003

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class Shown(BaseModel):
    """A value that is shown; nothing in it changes."""

    model_config = ConfigDict(frozen=True, extra="forbid")


Count = Annotated[int, Field(ge=0)]
Ratio = Annotated[float, Field(ge=0, le=1)]
Money = Annotated[str, Field(pattern=r"^-?[0-9]+(\.[0-9]+)?$")]
"""A decimal number as text, as the ledger has it; never a float."""
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Anchor(StrEnum):
    """Where it is written how a figure is measured: ``/method#ANCHOR``, and a section of ``docs/console.md``."""

    CLOCKS = "clocks"
    PHASES = "phases"
    OUTCOMES = "outcomes"
    PROMISES = "promises"
    BUDGETS = "budgets"
    COVERAGE = "coverage"
    GAUGES = "gauges"
    ALERTS = "alerts"
    INCIDENTS = "incidents"
    REQUESTS = "requests"
    COST_BOOK = "cost-book"
    CHARGES = "charges"
    CREDITS = "credits"
    PROBES = "probes"
    SOURCES = "sources"
    EXCLUSIONS = "exclusions"
    DEGRADATIONS = "degradations"
    REPORTS = "reports"
    CHANGES = "changes"


class Basis(StrEnum):
    """What a figure was read from."""

    ROWS = "rows"
    """the requests themselves, as the report reads them"""
    SLICES = "slices"
    """the counts of each minute: the same words as the rows', kept"""
    REVISION = "revision"
    """the latest evaluation that was kept of the month"""
    LEDGER = "ledger"
    ENGINES = "engines"
    """what engines said of themselves"""
    PROBES = "probes"
    NOTES = "notes"
    """what was noted: alerts, incidents, exclusions, coverage"""
    ISSUED = "issued"
    """a report that was issued"""


class Measured(Shown):
    """How a figure came about, and as it was known when; `revision` where it is that of a kept evaluation."""

    anchor: Anchor
    basis: Basis
    as_of: datetime
    revision: int | None = None


class RangeName(StrEnum):
    """How a range was asked for."""

    HOUR = "1h"
    DAY = "24h"
    WEEK = "7d"
    MONTH = "month"
    CUSTOM = "custom"


class Range(Shown):
    """The time a page is about: ``[starts_at, ends_at)``, of which ``[starts_at, elapsed_to)`` had passed."""

    name: RangeName
    starts_at: datetime
    ends_at: datetime
    elapsed_to: datetime
    month: str | None = Field(
        default=None, description="2026-10, where the range is that month of the contract"
    )
    time_zone: str = "UTC"


class Lack(StrEnum):
    """Why something is not shown. It is said, so that nobody takes it for zero."""

    NO_CONTRACTS = "no_contracts"
    NO_PRICES = "no_prices"
    NOTHING_RATED = "nothing_rated"
    NOT_COUNTED_YET = "not_counted_yet"
    NOT_EVALUATED_YET = "not_evaluated_yet"
    ONLY_WHOLE_MONTHS = "only_whole_months"
    NOT_FOR_TENANTS = "not_for_tenants"
    NOT_JOINED = "not_joined"
    CUT_SHORT = "cut_short"
    """there is more than is listed"""


class Page(Shown):
    """What every page begins with."""

    range: Range
    as_of: datetime = Field(description="what was stored later is not in it")
    lacking: tuple[Lack, ...] = ()


class Part(Shown):
    """The part of the traffic that a promise is judged for, where the contract says so."""

    model: str | None = None
    region: str | None = None
