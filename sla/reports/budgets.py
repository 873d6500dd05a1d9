"""Own how error budgets are printed: what was allowed, spent and left, and when it was used up."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from fairclock.documents.text import printable
from sla.reports.exclusions import duration
from sla.reports.reading import moment, number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairclock.documents.languages import Language
    from sla.reports.reading import Report


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetRow:
    """One budget; every field is text."""

    objective: str
    part: str
    unit: str
    allowed: str
    spent: str
    remaining: str
    remaining_ratio: str
    is_exhausted: bool
    exhausted_at: str


def budget_rows(report: Report, language: Language) -> list[BudgetRow]:
    """Return the budgets in the report's order."""
    zone = ZoneInfo(str(report["period"]["time_zone"]))
    return [_row(each, language, zone) for each in report.get("error_budgets") or []]


def _row(each: Mapping[str, Any], language: Language, zone: ZoneInfo) -> BudgetRow:
    kind = str(each.get("kind"))
    nothing = language.text("nothing")
    ratio = number(each.get("remaining_ratio"))
    when = each.get("exhausted_at")
    exhausted = bool(each.get("is_exhausted"))

    def amount(key: str) -> str:
        value = number(each.get(key))
        return nothing if value is None else _amount(value, kind, language)

    key = f"budgets.unit.{kind}"
    return BudgetRow(
        objective=printable(str(each.get("objective"))),
        part=language.text("list_comma").join(
            printable(str(value)) for value in (each.get("part") or {}).values()
        ),
        unit=language.text(key) if language.has(key) else printable(kind),
        allowed=amount("allowed"),
        spent=amount("spent"),
        remaining=amount("remaining"),
        remaining_ratio=nothing
        if ratio is None
        else language.percent(ratio, thresholds=[Fraction(0)], least=1),
        is_exhausted=exhausted,
        exhausted_at=language.instant(moment(when, zone)) if when else _unsaid(language, exhausted=exhausted),
    )


def _unsaid(language: Language, *, exhausted: bool) -> str:
    return language.text("budgets.exhausted" if exhausted else "budgets.not_exhausted")


def _amount(value: Fraction, kind: str, language: Language) -> str:
    if kind == "time":
        return f"-{duration(-value)}" if value < 0 else duration(value)
    return language.integer(int(value))
