"""Own which endpoints there are: one table, from which both the routes and the OpenAPI document are made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairclock.console.api import parameters as given
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
from fairclock.console.readings.models.problem import Self, Session
from fairclock.console.readings.models.reports import ReportPage
from fairclock.console.readings.models.requests import RequestList, RequestPage
from fairclock.console.readings.models.sources import SourcePage
from fairclock.console.readings.models.tenant import TenantPage
from fairclock.console.readings.protocol import Searched
from fairclock.console.readings.ranges import wanted_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from pydantic import BaseModel
    from starlette.requests import Request

    from fairclock.console.access.callers import Caller
    from fairclock.console.api.parameters import Parameter
    from fairclock.console.server import Console

    Answer = Callable[["Asked"], Awaitable[BaseModel]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request to an endpoint, its parameters checked: `query` and `path` as text, `body` as its model."""

    console: Console
    request: Request
    caller: Caller
    path: Mapping[str, str]
    query: Mapping[str, str]
    body: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One endpoint: what it takes, what it answers with, and how."""

    name: str
    path: str
    summary: str
    answers: type[BaseModel]
    answer: Answer
    method: str = "GET"
    parameters: tuple[Parameter, ...] = ()
    body: type[BaseModel] | None = None
    status: int = 200


async def _overview(asked: Asked) -> BaseModel:
    return await asked.console.readings.overview(asked.caller)


async def _tenant(asked: Asked) -> BaseModel:
    return await asked.console.readings.tenant(
        asked.caller, asked.path["tenant"], wanted_of(asked.query), contract=asked.query.get("contract")
    )


async def _requests(asked: Asked) -> BaseModel:
    query = asked.query
    searched = Searched(
        tenant=query.get("tenant"),
        name=query.get("name", ""),
        outcome=query.get("outcome"),
        order=query.get("order", "end_to_end"),
        most=int(query.get("most", "50")),
    )
    return await asked.console.readings.requests(
        asked.caller, wanted_of(query, otherwise=RangeName.HOUR), searched
    )


async def _request(asked: Asked) -> BaseModel:
    return await asked.console.readings.request(asked.caller, asked.path["key"])


async def _incidents(asked: Asked) -> BaseModel:
    return await asked.console.readings.incidents(
        asked.caller,
        wanted_of(asked.query, otherwise=RangeName.WEEK),
        contract=asked.query.get("contract"),
    )


async def _cost(asked: Asked) -> BaseModel:
    return await asked.console.readings.cost(asked.caller, wanted_of(asked.query, otherwise=RangeName.MONTH))


async def _probes(asked: Asked) -> BaseModel:
    return await asked.console.readings.probes(asked.caller, wanted_of(asked.query))


async def _sources(asked: Asked) -> BaseModel:
    return await asked.console.readings.sources(asked.caller, wanted_of(asked.query))


async def _reports(asked: Asked) -> BaseModel:
    return await asked.console.readings.reports(asked.caller)


async def _exclusions(asked: Asked) -> BaseModel:
    return await asked.console.readings.exclusions(asked.caller)


async def _propose(asked: Asked) -> BaseModel:
    client = asked.request.client
    return await asked.console.readings.propose(
        asked.caller, asked.body, address="" if client is None else client.host
    )


async def _changes(asked: Asked) -> BaseModel:
    return await asked.console.readings.changes(asked.caller, most=int(asked.query.get("most", "100")))


async def _self(asked: Asked) -> BaseModel:
    caller = asked.caller
    return Self(
        name=caller.name,
        scope=str(caller.scope),
        tenant=caller.tenant,
        sees_machines=caller.sees_all,
        may_propose=caller.may_propose,
        may_audit=caller.may_audit,
    )


async def _session(asked: Asked) -> BaseModel:
    return Session(form_token=asked.console.gate.form_token(asked.request))


ENDPOINTS = (
    Endpoint(
        name="overview", path="/overview", answers=Overview, answer=_overview,
        summary="Every contract in its latest month, with its state and burn, and the alerts that fire.",
    ),
    Endpoint(
        name="tenant", path="/tenants/{tenant}", answers=TenantPage, answer=_tenant,
        parameters=(given.TENANT_PATH, *given.RANGE, given.CONTRACT),
        summary="One contract's figures for a tenant in a range: the report's own for a month.",
    ),
    Endpoint(
        name="requests", path="/requests", answers=RequestList, answer=_requests,
        parameters=(*given.RANGE, given.TENANT, given.NAME, given.OUTCOME, given.ORDER, given.MOST_REQUESTS),
        summary="Requests in a range: the slowest, or those with an id.",
    ),
    Endpoint(
        name="request", path="/requests/{key}", answers=RequestPage, answer=_request,
        parameters=(given.KEY,), summary="One request's way: marks, phases, clocks, attempts, flags.",
    ),
    Endpoint(
        name="incidents", path="/incidents", answers=IncidentPage, answer=_incidents,
        parameters=(*given.RANGE, given.CONTRACT), summary="Incidents in a range, with their evidence.",
    ),
    Endpoint(
        name="cost", path="/cost", answers=CostPage, answer=_cost, parameters=given.RANGE,
        summary="What contracts are charged for a month, and what machines cost.",
    ),
    Endpoint(
        name="probes", path="/probes", answers=ProbePage, answer=_probes, parameters=given.RANGE,
        summary="What probes saw, beside what gateways measured.",
    ),
    Endpoint(
        name="sources", path="/sources", answers=SourcePage, answer=_sources, parameters=given.RANGE,
        summary="Coverage, its gaps, and every source.",
    ),
    Endpoint(
        name="reports", path="/reports", answers=ReportPage, answer=_reports,
        summary="The months that have a report, and what was issued.",
    ),
    Endpoint(
        name="exclusions", path="/exclusions", answers=ExclusionPage, answer=_exclusions,
        summary="Exclusions, and the clauses' rules for new ones.",
    ),
    Endpoint(
        name="propose", path="/exclusions", method="POST", body=ExclusionProposal, answers=ExclusionProposed,
        answer=_propose, status=201,
        summary="Propose an exclusion; it leaves nothing out until the customer's side accepts it.",
    ),
    Endpoint(
        name="changes", path="/changes", answers=ChangePage, answer=_changes,
        parameters=(given.MOST_CHANGES,), summary="The latest entries of the audit log.",
    ),
    Endpoint(name="self", path="/self", answers=Self, answer=_self, summary="Who is asking."),
    Endpoint(
        name="session", path="/session", answers=Session, answer=_session,
        summary="What a browser sends as X-Form-Token with whatever changes something.",
    ),
)  # fmt: skip
