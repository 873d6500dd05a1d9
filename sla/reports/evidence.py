"""Own the last pages: definitions, what the figures rest on, what was not evaluated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from fairclock.documents.text import printable
from sla.reports.canonical import report_sha256
from sla.reports.changes import knows_revisions
from sla.reports.exclusions import knows_exclusions
from sla.reports.front import Fact, tenants
from sla.reports.incidents import knows_incidents
from sla.reports.reading import count, is_evaluated, moment, texts

if TYPE_CHECKING:
    from fairclock.documents.languages import Language
    from sla.reports.reading import Report

DEFINITIONS = (
    "clock_start",
    "queueing",
    "judged",
    "availability",
    "met",
    "rounding",
    "excluded",
    "unmeasured",
    "insufficient",
    "days",
)
_SHOWN_OF_A_HASH, _WORTH_A_LIST = 12, 2
_BROUGHT_LATER = (
    "error_budgets",
    "exclusions",
    "degradations",
    "incidents",
    "changes",
    "cost",
    "credits",
    "amounts",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """A word of the contract and what it means."""

    term: str
    text: str


def definitions(language: Language) -> list[Definition]:
    """Return the words of the contract and of the method, in the order of reading."""
    return [
        Definition(term=language.text(f"definition.{key}.term"), text=language.text(f"definition.{key}.text"))
        for key in DEFINITIONS
    ]


def missing(report: Report, language: Language) -> list[str]:
    """Return what the report has a place for but this version does not evaluate, then the contract's paths."""
    looked_for = {"exclusions", "degradations"} if knows_exclusions(report) else set()
    if is_evaluated(report, "amounts"):
        looked_for.add("credits")
    if knows_incidents(report):
        looked_for.add("incidents")
    if knows_revisions(report):
        looked_for.add("changes")
    return [
        language.text(f"missing.{key}")
        for key in _BROUGHT_LATER
        if key not in looked_for and not is_evaluated(report, key)
    ]


def not_evaluated_paths(report: Report) -> list[str]:
    """Return the contract's clauses that were accepted but not evaluated."""
    return texts(report.get("not_evaluated"))


def evidence_facts(report: Report, language: Language, *, templates_sha256: str | None = None) -> list[Fact]:
    """Return what the figures were computed from, and what they are printed with."""
    evidence = report["evidence"]
    nothing = language.text("not_evaluated")
    rows = count(evidence.get("rows"))
    facts = [
        Fact(label=language.text("evidence.report_hash"), lines=[report_sha256(report)], code=True),
        Fact(
            label=language.text("evidence.contract_version"),
            lines=[printable(str(report["contract"]["version_sha256"]))],
            code=True,
        ),
        Fact(
            label=language.text("evidence.rows"), lines=[nothing if rows is None else language.integer(rows)]
        ),
        Fact(
            label=language.text("evidence.rows_hash"),
            lines=[printable(str(evidence.get("rows_sha256") or nothing))],
            code=bool(evidence.get("rows_sha256")),
        ),
        Fact(label=language.text("evidence.seals"), lines=[_seals(evidence.get("seals"), language)]),
        Fact(label=language.text("evidence.revision"), lines=[_revision(report, language)]),
        *_versions(report, language),
        Fact(label=language.text("evidence.as_of"), lines=[printable(str(report["as_of"]))], code=True),
        Fact(
            label=language.text("evidence.software"),
            lines=[f"Fairclock {printable(str(evidence.get('software_version')))}"],
        ),
        Fact(label=language.text("evidence.fonts"), lines=_fonts(evidence.get("fonts"), language)),
        Fact(label=language.text("evidence.schema"), lines=[printable(str(report["schema"]))], code=True),
    ]
    if templates_sha256 is not None:
        label = language.text("evidence.templates")
        facts.append(Fact(label=label, lines=[templates_sha256], code=True))
    names = tenants(report)
    if names:
        facts.append(
            Fact(label=language.text("evidence.tenants"), lines=[language.text("list_comma").join(names)])
        )
    return facts


def _revision(report: Report, language: Language) -> str:
    revision = count(report.get("revision"))
    return language.text("facts.revision_none") if revision is None else language.integer(revision)


def _versions(report: Report, language: Language) -> list[Fact]:
    """Return which version judged which part of the month; nothing where it was one for all of it."""
    versions = report["contract"].get("versions")
    if not isinstance(versions, list) or len(versions) < _WORTH_A_LIST:
        return []
    zone = ZoneInfo(str(report["period"]["time_zone"]))
    lines = [
        language.text(
            "evidence.version_line",
            version=printable(str(each["version_sha256"]))[:_SHOWN_OF_A_HASH],
            start=language.minute(moment(each["from"], zone)),
            end=language.minute(moment(each["to"], zone)),
        )
        for each in versions
    ]
    return [Fact(label=language.text("evidence.versions"), lines=lines)]


def _seals(seals: object, language: Language) -> str:
    if seals in (None, [], {}):
        return language.text("not_evaluated")
    number = len(seals) if isinstance(seals, (list, dict)) else count(seals)
    return language.text("evidence.seals_count", n=number)


def _fonts(fonts: object, language: Language) -> list[str]:
    if not isinstance(fonts, list) or not fonts:
        return [language.text("not_evaluated")]
    lines = [
        language.text(
            "evidence.font_line",
            family=printable(str(font.get("family"))),
            version=printable(str(font.get("version"))),
        )
        for font in fonts
        if isinstance(font, dict)
    ]
    return list(dict.fromkeys(lines)) or texts(fonts)
