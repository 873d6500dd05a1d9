"""Own the bytes of report.json: one order, one form, so that its hash means something."""

from __future__ import annotations

import hashlib
import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from fairclock.errors import DocumentError
from sla.reports.issue import IssuedReport

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sla.reports.reading import Report

_FIRST = (
    "schema",
    "simulated",
    "contract",
    "period",
    "as_of",
    "revision",
    "previous_revision",
    "status",
    "issue",
    "traffic",
    "coverage",
    "unmeasured",
    "latency",
    "percentile_curve",
    "breakdown",
    "daily",
    "objectives",
    "error_budgets",
    "exclusions",
    "degradations",
    "incidents",
    "incident_rule",
    "changes",
    "cost",
    "credits",
    "amounts",
    "measurement",
    "not_evaluated",
    "evidence",
)
"""The order of reading; other keys follow by name. Below the top the evaluation's own order is kept."""


def report_json(report: Report) -> bytes:
    """Return report.json: UTF-8, two spaces of indent, no NaN, a newline at the end; of an issued one its bytes."""
    if isinstance(report, IssuedReport):
        return report.issue.content
    try:
        text = json.dumps(_ordered(report), ensure_ascii=False, indent=2, allow_nan=False, default=_number)
        return (text + "\n").encode("utf-8")
    except (TypeError, ValueError) as error:
        raise DocumentError(
            "report.json",
            "the report holds a value that JSON cannot carry",
            found=str(error),
            remedy="this is a fault in the evaluation: please report it with the contract and month",
        ) from error


def report_sha256(report: Report) -> str:
    """Return the hash of report.json, which every view prints."""
    return hashlib.sha256(report_json(report)).hexdigest()


def _ordered(report: Mapping[str, Any]) -> dict[str, Any]:
    first = [key for key in _FIRST if key in report]
    return {key: report[key] for key in [*first, *sorted(set(report) - set(first))]}


def _number(value: object) -> float | int:
    """Return a Decimal as the JSON number of the same value."""
    if isinstance(value, Decimal) and value.is_finite():
        return int(value) if value == value.to_integral_value() else float(value)
    raise TypeError(f"{type(value).__name__} {value!r}")
