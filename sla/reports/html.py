"""Own the report's face: the dictionary and a language in, one self-contained HTML page out."""

from __future__ import annotations

from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from fairclock.documents.fonts import CHINESE, LATIN, MONOSPACED
from fairclock.documents.languages import Language, load_language
from fairclock.documents.templates import environment, rendered
from sla.reports import drawings
from sla.reports.answers import answers_rows
from sla.reports.appearance import AS_SHIPPED
from sla.reports.budgets import budget_rows
from sla.reports.burn_down import beside_days, burn_downs, spent_tables
from sla.reports.canonical import report_sha256
from sla.reports.changes import changes
from sla.reports.charges import charges_sentence, cost_rows, credit_rows
from sla.reports.coverage import coverage
from sla.reports.curve import curve_rows
from sla.reports.evidence import definitions, evidence_facts, missing, not_evaluated_paths
from sla.reports.exclusions import (
    degradation_rows,
    exclusion_rows,
    exclusions_sentence,
    knows_exclusions,
)
from sla.reports.figures import (
    besides_rows,
    clock_rows,
    day_rows,
    outcome_rows,
    phase_rows,
    side_by_side,
)
from sla.reports.front import front
from sla.reports.incident_summary import incident_summary
from sla.reports.incidents import incident_notes, incident_rows, knows_incidents
from sla.reports.issue import issue_lines
from sla.reports.measurement import measurement_page
from sla.reports.objectives import objective_rows, remarks, verdict_sentence
from sla.reports.provenance import provenance
from sla.reports.reading import count, moment
from sla.reports.terms import term_facts

if TYPE_CHECKING:
    from pathlib import Path

    from jinja2 import Environment

    from sla.reports.appearance import Appearance
    from sla.reports.reading import Report

_FONT_STACKS = {
    # The reader's own fonts stand in where Noto is not installed; the PDF knows no others. No space behind a comma:
    # the PDF library takes it for a part of the name where a drawing is set.
    "en": f"'{LATIN}','Noto Sans Math','{CHINESE}','Helvetica Neue',Arial,sans-serif",
    "zh": f"'{CHINESE}','{LATIN}','Noto Sans Math','PingFang SC','Microsoft YaHei',sans-serif",
}
_CODE_STACK = f"'{MONOSPACED}', 'DejaVu Sans Mono', Menlo, Consolas, monospace"
_DIGIT_EM = {"en": 0.572, "zh": 0.555}
"""How wide a digit of the language's first face is; columns line up by it."""


@lru_cache(maxsize=8)
def language_of(code: str) -> Language:
    """Return a language with the report's words."""
    return load_language(code, resources.files("sla.reports") / "words")


def report_html(report: Report, code: str, appearance: Appearance = AS_SHIPPED) -> str:
    """Return the report as HTML in the language `code`; the PDF is made of the same text."""
    language = language_of(code)
    fonts = _FONT_STACKS[code]
    days, phases = day_rows(report, language), phase_rows(report, language)
    objectives = objective_rows(report, language)
    curve, burning = curve_rows(report, language), burn_downs(report, language)
    by_day, spent = beside_days(spent_tables(burning, language), [each.label for each in days])
    threshold = drawings.daily_threshold(report, language)
    start = str((report["contract"].get("clock") or {}).get("start") or "")
    values: dict[str, Any] = {
        "t": language.text,
        "language": language,
        "fonts": fonts,
        "code_fonts": _CODE_STACK,
        "digit_em": _DIGIT_EM[code],
        "front": front(report, language),
        "created": moment(report["as_of"], ZoneInfo("UTC")).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "simulated": bool(report.get("simulated")),
        "sentence": verdict_sentence(report, language),
        "clock_sentence": _clock_sentence(start, language),
        "objectives": objectives,
        "remarks": remarks(objectives, language),
        "budgets": budget_rows(report, language),
        "paths": not_evaluated_paths(report),
        "clocks": clock_rows(report, language),
        "side_by_side": side_by_side(report, language),
        "answered": language.integer(count(report["traffic"]["outcomes"].get("ok")) or 0),
        "admitted": count(report["traffic"]["admitted"]) or 0,
        "outcomes": outcome_rows(report, language),
        "besides": besides_rows(report, language),
        "coverage": coverage(report, language),
        "knows_exclusions": knows_exclusions(report),
        "exclusions_sentence": exclusions_sentence(report, language),
        "exclusions": exclusion_rows(report, language),
        "degradations": degradation_rows(report, language),
        "charges_sentence": charges_sentence(report, language),
        "currency": str((report.get("cost") or {}).get("currency") or ""),
        "costs": cost_rows(report, language),
        "credits": credit_rows(report, language),
        "changes": changes(report, language),
        "knows_incidents": knows_incidents(report),
        "incidents": incident_rows(report, language),
        "incident_summary": incident_summary(report, language),
        "incident_notes": incident_notes(report, language),
        "curve": curve,
        "curve_chart": drawings.curve_chart(curve, threshold, language, font_family=fonts) if curve else None,
        "burn_downs": drawings.burn_down_charts(burning, language, font_family=fonts),
        "burning": burning,
        "by_day": by_day,
        "spent_tables": spent,
        "untouched_budgets": language.text("list_comma").join(
            each.objective for each in burning if each.is_untouched
        ),
        "provenance": provenance(report, language),
        "measurement": measurement_page(report, language),
        "answers": answers_rows(report, language),
        "days": days,
        "daily_threshold": threshold,
        "daily_conditions": "".join(
            language.text("phrase_comma") + each for each in (threshold.applies if threshold else [])
        ),
        "daily_chart": drawings.daily_chart(days, threshold, language, font_family=fonts) if days else None,
        "phases": phases,
        "phase_colours": drawings.PHASE_COLOURS,
        "phases_bar": drawings.phases_bar(phases, language, font_family=fonts) if phases else None,
        "way": drawings.request_way(report, language, font_family=fonts),
        "terms": term_facts(report, language),
        "definitions": definitions(language),
        "evidence": evidence_facts(report, language, templates_sha256=appearance.templates_sha256),
        "missing": missing(report, language),
        "hash": report_sha256(report),
        "issue_lines": issue_lines(report, language),
        "version": str(report["evidence"].get("software_version")),
        "rows": language.integer(count(report["evidence"].get("rows")) or 0),
        "month": str(report["period"]["month"]),
        "logo": appearance.logo,
    }
    folder = appearance.templates
    return rendered(
        _environment(folder, appearance.templates_sha256), "report.html.j2", values, folder=folder
    )


def _clock_sentence(start: str, language: Language) -> str:
    key = f"clock_sentence.{start}"
    return language.text(key) if language.has(key) else language.text("clock_sentence.other", start=start)


@lru_cache(maxsize=2)
def _environment(folder: Path | None, sha256: str | None) -> Environment:
    del sha256  # other contents of the same folder are other templates
    return environment("sla.reports", folder=folder)
