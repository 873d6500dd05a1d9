"""Own the first page's facts: whose contract, which version, which period, as of when."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from fairclock.documents.text import printable
from sla.reports.reading import count, moment, number, texts, words_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairclock.documents.languages import Language
    from sla.reports.reading import Report

_MOST_TENANTS_SHOWN = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A label and what stands beside it, one text a line; `code` asks for the monospaced face."""

    label: str
    lines: list[str]
    code: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Front:
    """What identifies the report, on its first page and in the head of every other."""

    contract_id: str
    title: str
    month: str
    provider: str
    customer: str
    zone: str
    as_of: str
    as_of_exact: str
    status: str
    is_draft: bool
    parties: list[Fact]
    times: list[Fact]


def front(report: Report, language: Language) -> Front:
    """Return the report's identity in a language."""
    contract, period = report["contract"], report["period"]
    zone = ZoneInfo(str(period["time_zone"]))
    as_of = language.instant(moment(report["as_of"], zone))
    start = moment(period["from"], zone)
    return Front(
        contract_id=printable(str(contract["id"])),
        title=words_in(contract["title"], language.code),
        month=language.month(start.date()),
        provider=_name(contract.get("provider"), language),
        customer=_name(contract.get("customer"), language),
        zone=zone.key,
        as_of=as_of,
        as_of_exact=str(report["as_of"]),
        status=_status(report, language),
        is_draft=report["status"] != "final",
        parties=_party_facts(report, language),
        times=_time_facts(report, language, zone),
    )


def tenants(report: Report) -> list[str]:
    """Return the names of the tenants that the contract covers."""
    customer = report["contract"].get("customer")
    return texts(customer.get("tenants")) if isinstance(customer, dict) else []


def _party_facts(report: Report, language: Language) -> list[Fact]:
    contract, text = report["contract"], language.text
    customer = [_name(contract.get("customer"), language)]
    names = tenants(report)
    if names:
        customer.append(text("facts.tenants", names=_listed(names, language)))
    return [
        Fact(label=text("facts.contract"), lines=[printable(str(contract["id"]))]),
        Fact(label=text("facts.version"), lines=[printable(str(contract["version_sha256"]))], code=True),
        Fact(label=text("facts.provider"), lines=[_name(contract.get("provider"), language)]),
        Fact(label=text("facts.customer"), lines=customer),
        Fact(label=text("facts.scope"), lines=_scope(report, language)),
    ]


def _time_facts(report: Report, language: Language, zone: ZoneInfo) -> list[Fact]:
    period, text = report["period"], language.text
    hours = number(period["hours"])
    revision = count(report.get("revision"))
    return [
        Fact(
            label=text("facts.period"),
            lines=[
                text("facts.period_from", start=language.minute(moment(period["from"], zone))),
                text("facts.period_to", end=language.minute(moment(period["to"], zone))),
                text(
                    "facts.hours",
                    hours=text("nothing") if hours is None else language.beside(hours, [hours], least=0),
                ),
            ],
        ),
        Fact(label=text("facts.zone"), lines=[zone.key]),
        Fact(label=text("facts.as_of"), lines=[language.instant(moment(report["as_of"], zone))]),
        Fact(
            label=text("facts.revision"),
            lines=[text("facts.revision_none") if revision is None else language.integer(revision)],
        ),
        Fact(label=text("facts.status"), lines=[_status(report, language)]),
    ]


def _status(report: Report, language: Language) -> str:
    return language.text("status.final" if report["status"] == "final" else "status.draft")


def _scope(report: Report, language: Language) -> list[str]:
    scope = report["contract"].get("scope") or {}
    parts = [
        language.text(f"facts.{key}", names=_listed(texts(scope.get(key)), language))
        for key in ("models", "routes", "regions")
        if texts(scope.get(key))
    ]
    return parts or [language.text("facts.scope_all")]


def _listed(names: Sequence[str], language: Language) -> str:
    comma = language.text("list_comma")
    if len(names) <= _MOST_TENANTS_SHOWN:
        return comma.join(names)
    more = language.text("and_more", count=len(names) - _MOST_TENANTS_SHOWN)
    return f"{comma.join(names[:_MOST_TENANTS_SHOWN])} {more}"


def _name(party: object, language: Language) -> str:
    found = party.get("name") if isinstance(party, dict) else party
    return words_in(found, language.code) or language.text("nothing")
