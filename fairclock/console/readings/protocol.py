"""Own what pages and the API ask: `Readings`, answered by `fairclock.console.readings.answering.AnsweredReadings`.

Every method runs its queries in a thread, with a time limit, and shows only what `caller` may see. Raises
`UsageError` for what cannot be asked, `NotShown` where there is nothing of that name for this caller (another
tenant's is as if it were not there), `NotAllowed` where the caller may not ask at all, `NotEvaluable` where there is
no answer, `TooBusy` where it takes too long, `StoreError` while the store is away.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from datetime import datetime

    from fairclock.console.access.callers import Caller
    from fairclock.console.readings.models.base import RangeName
    from fairclock.console.readings.models.cost import CostPage
    from fairclock.console.readings.models.exclusions import (
        ChangePage,
        ExclusionPage,
        ExclusionProposal,
        ExclusionProposed,
    )
    from fairclock.console.readings.models.incidents import IncidentPage
    from fairclock.console.readings.models.overview import Overview
    from fairclock.console.readings.models.probes import ProbePage
    from fairclock.console.readings.models.reports import ReportPage
    from fairclock.console.readings.models.requests import RequestList, RequestPage
    from fairclock.console.readings.models.sources import SourcePage
    from fairclock.console.readings.models.tenant import TenantPage

Format = Literal["json", "html", "pdf", "csv"]
Language = Literal["en", "zh"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The range that was asked for; see `fairclock.console.readings.ranges.wanted_of`, which reads it from a query.

    starts_at, ends_at: set for a custom range. month: ``2026-10``; None with `RangeName.MONTH` is the latest one.
    """

    name: RangeName
    starts_at: datetime | None = None
    ends_at: datetime | None = None
    month: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Searched:
    """Which requests: `name` a request id or trace id ("" for the greatest in `order`), at most `most`."""

    tenant: str | None = None
    name: str = ""
    outcome: str | None = None
    order: str = "end_to_end"
    most: int = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A report as a file; HTML is to be answered with `fairclock.console.access.headers.DOCUMENT_POLICY`."""

    name: str
    media_type: str
    content: bytes


class Readings(Protocol):
    """What can be asked."""

    async def overview(self, caller: Caller) -> Overview:
        """Return every contract the caller may see, worst first."""

    async def tenant(
        self, caller: Caller, tenant: str, wanted: Wanted, *, contract: str | None = None
    ) -> TenantPage:
        """Return a tenant's page, by `contract` or the first that judges the tenant."""

    async def requests(self, caller: Caller, wanted: Wanted, searched: Searched) -> RequestList:
        """Return the requests that were asked for."""

    async def request(self, caller: Caller, key: str) -> RequestPage:
        """Return one request; `key` is `RequestRow.key`."""

    async def incidents(self, caller: Caller, wanted: Wanted, *, contract: str | None = None) -> IncidentPage:
        """Return the incidents that touch the range."""

    async def cost(self, caller: Caller, wanted: Wanted) -> CostPage:
        """Return charges and costs of the month in which the range ends."""

    async def probes(self, caller: Caller, wanted: Wanted) -> ProbePage:
        """Return what probes saw."""

    async def sources(self, caller: Caller, wanted: Wanted) -> SourcePage:
        """Return sources and coverage."""

    async def reports(self, caller: Caller) -> ReportPage:
        """Return the months that have a report."""

    async def document(
        self, caller: Caller, contract: str, month: str, *, form: Format, language: Language
    ) -> Document:
        """Return one month's report as it is known now."""

    async def exclusions(self, caller: Caller) -> ExclusionPage:
        """Return exclusions, and the rules by which new ones are proposed."""

    async def propose(
        self, caller: Caller, proposal: ExclusionProposal, *, address: str
    ) -> ExclusionProposed:
        """Propose an exclusion, as ``fairclock exclusions add`` does, and note it in the audit log."""

    async def changes(self, caller: Caller, *, most: int = 100) -> ChangePage:
        """Return the latest entries of the audit log."""
