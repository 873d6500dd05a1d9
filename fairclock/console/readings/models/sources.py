"""Own what the page of sources shows: who sends, what was read through, what could not be read."""

# pydantic reads what annotations name when the program runs
# ruff: noqa: TC003

from __future__ import annotations

from datetime import datetime

from fairclock.console.readings.models.base import Count, Measured, Page, Ratio, Shown


class DeadLetters(Shown):
    """How many lines could not be read, for one reason; they are kept 14 days."""

    reason: str
    count: Count


class SourceRow(Shown):
    """One source in the range."""

    kind: str
    source: str
    newest_at: datetime | None
    covered_to: datetime | None
    covered_ratio: Ratio | None
    dead_letters: tuple[DeadLetters, ...]


class Gap(Shown):
    """A stretch of the elapsed range that no source of its side read through."""

    side: str
    starts_at: datetime
    ends_at: datetime


class SourcePage(Page):
    """Coverage of each side, its gaps, and every source."""

    gateway_ratio: Ratio | None
    engine_ratio: Ratio | None
    gaps: tuple[Gap, ...]
    sources: tuple[SourceRow, ...]
    measured: Measured
