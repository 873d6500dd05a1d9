"""Own what the page of reports shows: months and their revisions, reports that were issued."""

# pydantic reads what annotations name when the program runs
# ruff: noqa: TC003

from __future__ import annotations

from datetime import datetime

from fairclock.console.readings.models.base import Count, Measured, Page, Sha256, Shown


class IssuedReport(Shown):
    """A report that was issued: its number, and the hash that was signed."""

    number: str
    revision: Count
    as_of: datetime
    issued_at: datetime
    sha256: Sha256
    is_signed: bool


class ReportMonth(Shown):
    """One month of one contract; ``/api/v1/reports/CONTRACT/MONTH.FORMAT`` gives the report (json, html, pdf)."""

    contract: str
    title: dict[str, str]
    month: str
    starts_at: datetime
    ends_at: datetime
    is_over: bool
    revision: int | None
    evaluated_as_of: datetime | None
    met: Count | None
    violated: Count | None
    undecided: Count | None
    issued: tuple[IssuedReport, ...]


class ReportPage(Page):
    """Every month of every contract the caller may see, the newest first."""

    months: tuple[ReportMonth, ...]
    formats: tuple[str, ...]
    measured: Measured
