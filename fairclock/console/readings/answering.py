"""Own the answering of questions: each in a thread of the console's own, a few at a time, each with a time limit.

So a page never holds up what collects, writes and evaluates in the same process for longer than an engine shares
itself out, and whoever asks too much waits alone.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

from fairclock.console.readings.cost import cost_page
from fairclock.console.readings.exclusions import change_page, exclusion_page, proposed
from fairclock.console.readings.incidents import incident_page
from fairclock.console.readings.kept_reports import KeptReports
from fairclock.console.readings.overview import overview
from fairclock.console.readings.probes import probe_page
from fairclock.console.readings.reports import document, report_page
from fairclock.console.readings.requests import request_list, request_page
from fairclock.console.readings.sources import source_page
from fairclock.console.readings.tenant import tenant_page
from fairclock.console.readings.view import Memory, View
from fairclock.errors import NotAllowed, TooBusy
from fairclock.store.audit import AuditEntry, keep_audit

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from billing.cost_book.settings import CostBookSettings
    from billing.prices.book import PriceBook
    from fairclock.console.access.callers import Caller
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
    from fairclock.console.readings.protocol import Document, Format, Language, Searched, Wanted
    from fairclock.console.readings.view import Versions
    from fairclock.store import Store

T = TypeVar("T")
AT_ONCE = 4
"""How many questions are answered at a time."""
MOST_OF_A_CALLER = 2
"""How many of them may be one caller's; its others wait for these."""
_LOOK_SECONDS = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What readings are made of; each is asked anew for every question, `store` raises `StoreError` while it is away."""

    store: Callable[[], Store]
    contracts: Callable[[], Sequence[Versions]]
    prices: Callable[[], PriceBook | None]
    cost_book: CostBookSettings
    now: Callable[[], datetime]
    software_version: str


class AnsweredReadings:
    """Answers what `fairclock.console.readings.protocol.Readings` asks; close it when the console closes."""

    def __init__(self, given: Given, *, limit_seconds: float = 15.0, document_seconds: float = 60.0) -> None:
        self._given = given
        self._limit_seconds = limit_seconds
        self._document_seconds = document_seconds
        self._threads = ThreadPoolExecutor(max_workers=AT_ONCE, thread_name_prefix="console")
        self._guard = Lock()
        self._in_progress: Counter[str] = Counter()
        self._memory = Memory(reports=KeptReports(software_version=given.software_version))

    def close(self) -> None:
        """Answer nothing more; what has begun ends by itself."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._memory.cost_books.close()

    async def overview(self, caller: Caller) -> Overview:
        """Return every contract the caller may see, worst first."""
        return await self._ask(caller, overview)

    async def tenant(
        self, caller: Caller, tenant: str, wanted: Wanted, *, contract: str | None = None
    ) -> TenantPage:
        """Return a tenant's page."""
        return await self._ask(caller, lambda view: tenant_page(view, tenant, wanted, contract=contract))

    async def requests(self, caller: Caller, wanted: Wanted, searched: Searched) -> RequestList:
        """Return the requests that were asked for."""
        return await self._ask(caller, lambda view: request_list(view, wanted, searched))

    async def request(self, caller: Caller, key: str) -> RequestPage:
        """Return one request."""
        return await self._ask(caller, lambda view: request_page(view, key))

    async def incidents(self, caller: Caller, wanted: Wanted, *, contract: str | None = None) -> IncidentPage:
        """Return the incidents that touch the range."""
        return await self._ask(caller, lambda view: incident_page(view, wanted, contract=contract))

    async def cost(self, caller: Caller, wanted: Wanted) -> CostPage:
        """Return charges and costs."""
        return await self._ask(caller, lambda view: cost_page(view, wanted))

    async def probes(self, caller: Caller, wanted: Wanted) -> ProbePage:
        """Return what probes saw."""
        return await self._ask(caller, lambda view: probe_page(view, wanted))

    async def sources(self, caller: Caller, wanted: Wanted) -> SourcePage:
        """Return sources and coverage."""
        return await self._ask(caller, lambda view: source_page(view, wanted))

    async def reports(self, caller: Caller) -> ReportPage:
        """Return the months that have a report."""
        return await self._ask(caller, report_page)

    async def document(
        self, caller: Caller, contract: str, month: str, *, form: Format, language: Language
    ) -> Document:
        """Return one month's report as a file."""
        return await self._ask(
            caller,
            lambda view: document(view, contract, month, form=form, language=language),
            seconds=self._document_seconds,
        )

    async def exclusions(self, caller: Caller) -> ExclusionPage:
        """Return exclusions and the rules for new ones."""
        return await self._ask(caller, exclusion_page)

    async def propose(
        self, caller: Caller, proposal: ExclusionProposal, *, address: str
    ) -> ExclusionProposed:
        """Propose an exclusion, and note who did, or tried to without being allowed."""

        def work(view: View) -> ExclusionProposed:
            entry = AuditEntry(
                who=caller.name, scope=str(caller.scope), address=address, action="propose exclusion",
                subject=proposal.contract, outcome="proposed", detail=proposal.model_dump_json(),
            )  # fmt: skip
            try:
                found = proposed(view, proposal)
            except NotAllowed:
                keep_audit(view.store, replace(entry, subject=proposal.contract, outcome="not allowed"))
                raise
            keep_audit(view.store, replace(entry, subject=found.exclusion.id, outcome="proposed"))
            return found

        return await self._ask(caller, work)

    async def changes(self, caller: Caller, *, most: int = 100) -> ChangePage:
        """Return the latest entries of the audit log."""
        return await self._ask(caller, lambda view: change_page(view, most=most))

    async def _ask(self, caller: Caller, work: Callable[[View], T], *, seconds: float | None = None) -> T:
        limit = self._limit_seconds if seconds is None else seconds
        until = time.monotonic() + limit
        late = TooBusy(
            "console", f"there was no answer within {limit:g} s", remedy="ask for a shorter range, or later"
        )
        name = _counted_as(caller)
        while not self._takes(name):
            if time.monotonic() >= until:
                raise late
            await asyncio.sleep(_LOOK_SECONDS)
        future = self._threads.submit(self._answer, caller, work)
        # a question that is given up goes on until the engine has answered, and counts until then
        future.add_done_callback(lambda _: self._left(name))
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), until - time.monotonic())
        except TimeoutError as error:
            raise late from error

    def _answer(self, caller: Caller, work: Callable[[View], T]) -> T:
        given = self._given
        store = given.store()
        return work(
            View(
                store=store,
                caller=caller,
                as_of=store.watermark(),
                now=given.now(),
                contracts=given.contracts(),
                prices=given.prices(),
                cost_book=given.cost_book,
                memory=self._memory,
            )
        )

    def _takes(self, name: str) -> bool:
        """Return whether another question of this caller may be put to a thread, and count it if so."""
        with self._guard:
            if self._in_progress[name] >= MOST_OF_A_CALLER:
                return False
            self._in_progress[name] += 1
            return True

    def _left(self, name: str) -> None:
        with self._guard:
            self._in_progress[name] -= 1
            if not self._in_progress[name]:
                del self._in_progress[name]


def _counted_as(caller: Caller) -> str:
    """Return under what a caller's questions are counted: all tokens of a tenant are one caller."""
    return f"{caller.scope} {caller.name if caller.tenant is None else caller.tenant}"
