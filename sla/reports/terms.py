"""Own the clauses that frame the verdicts: printed as applied, the contract's silence included."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fairclock.documents.text import printable
from sla.reports.front import Fact
from sla.reports.reading import count, day, texts

if TYPE_CHECKING:
    from fairclock.documents.languages import Language
    from sla.reports.reading import Report


def term_facts(report: Report, language: Language) -> list[Fact]:
    """Return the clauses that the report's dictionary carries (``contract.period`` and so on), in words."""
    contract: Mapping[str, Any] = report["contract"]
    lines = {
        "term": _term(contract, language),
        "month": _month(contract, language),
        "per": _per(contract, language),
        "retries": _retries(contract, language),
        "quota": _quota(contract, language),
        "insufficient": _insufficient(contract, language),
    }
    return [Fact(label=language.text(f"terms.{key}"), lines=found) for key, found in lines.items() if found]


def _term(contract: Mapping[str, Any], language: Language) -> list[str]:
    term = contract.get("term")
    if not isinstance(term, Mapping):
        return []
    return [
        language.text(
            "terms.term_text",
            start=language.day(day(term["from"])),
            end=language.day(day(term["to"])),
            zone=printable(str(term["time_zone"])),
        )
    ]


def _month(contract: Mapping[str, Any], language: Language) -> list[str]:
    period = contract.get("period")
    if not isinstance(period, Mapping):
        return []
    return [
        language.text(f"terms.month_{period['month']}"),
        language.text(f"terms.partial_{period['partial']}"),
    ]


def _per(contract: Mapping[str, Any], language: Language) -> list[str]:
    if "evaluate_per" not in contract:
        return []
    parts = contract["evaluate_per"]
    if parts in (None, [], "none"):
        return [language.text("terms.per_none")]
    return [language.text("list_comma").join(texts(parts))]


def _retries(contract: Mapping[str, Any], language: Language) -> list[str]:
    if "retries" not in contract:
        return []
    return [
        language.text(
            "terms.retries_all" if contract["retries"] in (None, "all") else "terms.retries_backoff"
        )
    ]


def _quota(contract: Mapping[str, Any], language: Language) -> list[str]:
    if "quota" not in contract:
        return []
    quota = contract["quota"]
    if not quota:
        return [language.text("terms.quota_none")]
    lines = [
        language.text(f"terms.quota_{what}", n=language.integer(limit))
        for what in ("requests", "tokens")
        if (limit := count(quota.get(f"{what}_per_minute"))) is not None
    ]
    return [*lines, language.text(f"terms.quota_{quota['rejected_below']}")]


def _insufficient(contract: Mapping[str, Any], language: Language) -> list[str]:
    clause = contract.get("insufficient")
    if not isinstance(clause, Mapping):
        return []
    return [
        language.text(f"terms.insufficient_{printable(str(clause['verdict']))}", n=count(clause["below"]))
    ]
