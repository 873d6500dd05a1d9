"""Own the clauses that frame the promises: parties, term, period, scope, clock, quota, retries, outcomes."""

# Clauses read their annotations when the program runs.
# ruff: noqa: TC001

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PlainSerializer, WithJsonSchema

from fairclock.clauses.clause import Clause
from fairclock.clauses.fields import Count, Day, Percent, PositiveCount, Text, ZoneName
from sla.calendars import Term, zone_of
from sla.contracts.fields import Duration, OutcomeName, SignatureKey

if TYPE_CHECKING:
    from datetime import tzinfo

Language = Literal["en", "zh"]


class Title(Clause):
    """The contract's title, in the languages it was written in."""

    en: Text | None = None
    zh: Text | None = None

    def in_language(self, language: str) -> str:
        """Return the title in `language`, else in the other one."""
        wanted, other = (self.zh, self.en) if language == "zh" else (self.en, self.zh)
        return wanted or other or ""


def _title(value: Any) -> Any:
    return {"en": value, "zh": value} if isinstance(value, str) else value


class LanguageClause(Clause):
    """Which language decides where the two differ."""

    authoritative: Language


class Provider(Clause):
    """Who serves."""

    name: Text


class Customer(Clause):
    """Who is served, and under which tenant names the gateway knows them."""

    name: Text
    tenants: Annotated[tuple[Text, ...], Field(min_length=1)]


class TermClause(Clause):
    """The days on which the contract is in force, in its own time zone; `to` is included."""

    first_day: Day = Field(alias="from")
    last_day: Day = Field(alias="to")
    time_zone: ZoneName

    @property
    def zone(self) -> tzinfo:
        """Return the zone in which days, months and periods are local."""
        return zone_of(self.time_zone)

    @property
    def days(self) -> Term:
        """Return the first and last day."""
        return Term(first_day=self.first_day, last_day=self.last_day)


class PeriodClause(Clause):
    """Which months are judged, and what becomes of a month that the term cuts."""

    month: Literal["calendar", "anniversary"] = "calendar"
    partial: Literal["prorated", "whole", "void"] = "prorated"


class Scope(Clause):
    """Which requests of the customer are meant; an empty list means all of them."""

    models: tuple[Text, ...] = ()
    routes: tuple[Text, ...] = ()
    regions: tuple[Text, ...] = ()


class ClockClause(Clause):
    """Where the clock starts: the request's first byte, or the connection's handshake before it."""

    start: Literal["received", "connected"]


class Quota(Clause):
    """How much the customer may send; rejections below it are the provider's."""

    requests_per_minute: PositiveCount | None = None
    tokens_per_minute: PositiveCount | None = None
    rejected_below: Literal["bad", "not_counted"]


class Backoff(Clause):
    """How long a client has to wait between tries: the first pause and the longest."""

    first_us: Duration = Field(alias="from")
    longest_us: Duration = Field(alias="to")


class Retries(Clause):
    """Which tries are requests: all of them, or only those that waited."""

    with_backoff: Backoff | None = None


def _retries(value: Any) -> Any:
    return {} if value == "all" else value


def _write_retries(value: Retries) -> Any:
    return "all" if value.with_backoff is None else value.model_dump(by_alias=True, exclude_none=True)


def _write_list_or_none(value: tuple[str, ...]) -> Any:
    return list(value) or "none"


class OutcomeRule(Clause):
    """What a logged answer counts as, other than by its status alone."""

    status: Count | None = None
    error_code: Text | None = None
    outcome: OutcomeName = Field(alias="is")


class Insufficient(Clause):
    """From how many requests on there is a verdict, and what there is below."""

    below: Count
    verdict: Literal["met", "violated", "void", "carry_over"]


class Unmeasured(Clause):
    """What counts where nothing was measured.

    `time` and `unknown_clock` are asked only where an objective needs them; unanswered and not needed, they
    hold the answer that is worse for the provider and change nothing.
    """

    time: Literal["bad", "void"] = "bad"
    coverage_floor: Percent
    below_floor: Literal["violated", "void"]
    unknown_clock: Literal["bad", "void"] = "bad"


class Signatures(Clause):
    """The keys with which the parties sign reports."""

    provider_key: SignatureKey | None = None
    customer_key: SignatureKey | None = None


EvaluatePer = Annotated[
    tuple[Literal["model", "region"], ...],
    BeforeValidator(lambda value: () if value == "none" else value),
    PlainSerializer(_write_list_or_none),
    WithJsonSchema(
        {
            "anyOf": [
                {"const": "none"},
                {"type": "array", "items": {"enum": ["model", "region"]}, "uniqueItems": True},
            ]
        }
    ),
]
RetriesClause = Annotated[
    Retries,
    BeforeValidator(_retries, json_schema_input_type=Literal["all"] | Retries),
    PlainSerializer(_write_retries),
]
TitleClause = Annotated[Title, BeforeValidator(_title, json_schema_input_type=str | Title)]
