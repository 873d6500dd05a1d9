"""Own the contract as a value: one version of one file, as it was understood."""

# Clauses read their annotations when the program runs.
# ruff: noqa: TC001

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, PrivateAttr

from fairclock.clauses.clause import Clause
from fairclock.clauses.fields import Count, Identifier, Text
from fairclock.model import Interval
from sla.calendars import complement, intervals_of, period_of_month
from sla.contracts.calendar import CalendarClause
from sla.contracts.evaluated import paths_not_evaluated
from sla.contracts.frame import (
    ClockClause,
    Customer,
    EvaluatePer,
    Insufficient,
    LanguageClause,
    OutcomeRule,
    PeriodClause,
    Provider,
    Quota,
    Retries,
    RetriesClause,
    Scope,
    Signatures,
    TermClause,
    TitleClause,
    Unmeasured,
)
from sla.contracts.objectives import Objective
from sla.contracts.remedies import Credits, Exclusions, Quality

if TYPE_CHECKING:
    from datetime import date, tzinfo

    from sla.contracts.where import During


class Contract(Clause):
    """One version of one contract."""

    api_version: Literal["fairclock/v1"] = Field(alias="apiVersion")
    kind: Literal["Contract"]
    id: Identifier
    title: TitleClause
    language: LanguageClause | None = None
    provider: Provider
    customer: Customer
    term: TermClause
    period: PeriodClause = PeriodClause()
    scope: Scope = Scope()
    evaluate_per: EvaluatePer = ()
    clock: ClockClause
    quota: Quota | None = None
    retries: RetriesClause = Retries()
    outcomes: tuple[OutcomeRule, ...] = ()
    calendar: CalendarClause = CalendarClause.model_validate({})
    objectives: Annotated[tuple[Objective, ...], Field(min_length=1)]
    exclusions: Exclusions = Exclusions()
    insufficient: Insufficient
    unmeasured: Unmeasured
    quality: Quality | None = None
    credits: Credits | None = None
    prices: Text | None = None
    expected_requests_per_month: Count | None = None
    signatures: Signatures | None = None

    _version_sha256: str = PrivateAttr(default="")
    _source_path: str = PrivateAttr(default="")

    @property
    def version_sha256(self) -> str:
        """Return the SHA-256 of the file's bytes: what was signed, byte for byte."""
        return self._version_sha256

    @property
    def source_path(self) -> str:
        """Return the path that the contract was read from."""
        return self._source_path

    @property
    def zone(self) -> tzinfo:
        """Return the zone of the term, in which everything local is meant."""
        return self.term.zone

    def month(self, month: str) -> Interval:
        """Return the instants of ``2026-10`` in the contract's zone, cut to its term.

        Where months are anniversaries of the term's first day, it is the one that begins in October.
        """
        return period_of_month(month, self.zone, self.term.days, anniversary=self._anniversary)

    def whole_month(self, month: str) -> Interval:
        """Return the instants of a month as if the contract had always been in force."""
        return period_of_month(month, self.zone, anniversary=self._anniversary)

    @property
    def _anniversary(self) -> date | None:
        return self.term.first_day if self.period.month == "anniversary" else None

    def intervals(self, during: During | None, window: Interval) -> list[Interval]:
        """Return when an objective with this `during` holds in `window`: disjoint, sorted, in UTC."""
        if during is None:
            return complement((), window)
        spans = self.calendar.spans(during.name)
        named = intervals_of(spans, window, self.zone, self.calendar.holiday_calendar)
        return complement(named, window) if during.negated else named

    def not_evaluated(self) -> list[str]:
        """Return the paths that this version accepts but does not evaluate, in the file's order."""
        return paths_not_evaluated(self)
