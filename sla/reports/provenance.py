"""Own the table that says of every part of the report under which key it is and what it was computed from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fairclock.documents.languages import Language
    from sla.reports.reading import Report

_ROWS = (
    ("objectives", "objectives", "requests"),
    ("latency", "latency, percentile_curve", "requests"),
    ("daily", "daily, breakdown", "requests"),
    ("error_budgets", "error_budgets", "requests"),
    ("traffic", "traffic", "requests"),
    ("coverage", "coverage", "covered"),
    ("exclusions", "exclusions, degradations", "said"),
    ("incidents", "incidents", "incidents"),
    ("amounts", "cost, credits, amounts", "ledger"),
    ("changes", "changes", "revisions"),
)
_OF_PROBES = ("measurement", "measurement", "probes")
"""Of reports since this is looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvenanceRow:
    """A part of the report, its keys in report.json, what it was computed from."""

    part: str
    keys: str
    computed_from: str


def provenance(report: Report, language: Language) -> list[ProvenanceRow]:
    """Return the rows in the report's order."""
    return [
        ProvenanceRow(
            part=language.text(f"provenance.{name}"),
            keys=keys,
            computed_from=language.text(f"provenance.from_{source}"),
        )
        for name, keys, source in (*_ROWS, *([_OF_PROBES] if "measurement" in report else []))
    ]
