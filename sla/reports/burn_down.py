"""Own how budgets were used up day by day: the share left for the charts, the counts for the table."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from babel.dates import format_date

from fairclock.documents.text import shortened
from sla.reports.reading import count, day, moment, texts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairclock.documents.languages import Language
    from sla.reports.reading import Report

_LONGEST_NAME = 30
_MOST_COLUMNS = 7
_MOST_BESIDE = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class BurnDown:
    """One budget through the month; `opening` and `ratios` (at each day's end) are shares left, None where unknown."""

    objective: str
    left: str
    opening: Fraction | None
    ratios: list[Fraction | None]
    spent: list[int | None]
    days: list[str]
    first_day: str
    last_day: str

    @property
    def is_untouched(self) -> bool:
        """Return whether nothing was spent on any day; of a day that is not known nobody can tell."""
        return all(spent == 0 for spent in self.spent)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpentTable:
    """What some budgets spent on each day: their names, and a label and a text for each of them a day."""

    names: list[str]
    rows: list[tuple[str, list[str]]]


def burn_downs(report: Report, language: Language) -> list[BurnDown]:
    """Return the budgets that are counted by day and allow anything, in the report's order."""
    return [
        _burn_down(report, each, language)
        for each in report.get("error_budgets") or []
        if each.get("daily") and count(each.get("allowed"))
    ]


def spent_tables(rows: Sequence[BurnDown], language: Language) -> list[SpentTable]:
    """Return what was spent on each day of the budgets of which anything was, in tables as wide as the page."""
    nothing = language.text("nothing")
    tables = []
    same_days: dict[tuple[str, ...], list[BurnDown]] = {}
    for row in rows:
        if row.is_untouched:
            continue
        same_days.setdefault(tuple(row.days), []).append(row)
    for days, group in same_days.items():
        for start in range(0, len(group), _MOST_COLUMNS):
            part = group[start : start + _MOST_COLUMNS]
            tables.append(
                SpentTable(
                    names=[each.objective for each in part],
                    rows=[
                        (
                            label,
                            [
                                nothing if spent is None else language.integer(spent)
                                for spent in (each.spent[place] for each in part)
                            ],
                        )
                        for place, label in enumerate(days)
                    ],
                )
            )
    return tables


def beside_days(tables: list[SpentTable], days: Sequence[str]) -> tuple[SpentTable | None, list[SpentTable]]:
    """Return the one that stands beside the figures of the same `days` (None: there is none, or it is too wide), and the others."""
    first = next(iter(tables), None)
    if first is None or len(first.names) > _MOST_BESIDE or [label for label, _ in first.rows] != list(days):
        return None, tables
    return first, tables[1:]


def _burn_down(report: Report, each: Mapping[str, Any], language: Language) -> BurnDown:
    zone = ZoneInfo(str(report["period"]["time_zone"]))
    known_until = moment(report["as_of"], zone).date()
    allowed = count(each["allowed"]) or 0
    carried = count(each.get("carried")) or 0
    spent = [count(entry["spent"]) if day(entry["date"]) <= known_until else None for entry in each["daily"]]
    totals = list(accumulate((of_day or 0 for of_day in spent), initial=carried))[1:]
    pattern = language.text("queueing.day_pattern")
    days = [
        str(format_date(day(entry["date"]), format=pattern, locale=language.locale))
        for entry in each["daily"]
    ]
    names = [str(each.get("objective")), *(str(part) for part in (each.get("part") or {}).values())]
    last = Fraction(allowed - totals[-1], allowed)
    return BurnDown(
        objective=shortened(language.text("list_comma").join(texts(names)), _LONGEST_NAME),
        left=language.percent(last, thresholds=[Fraction(0)], least=1),
        opening=Fraction(allowed - carried, allowed),
        ratios=[
            None if of_day is None else Fraction(allowed - total, allowed)
            for of_day, total in zip(spent, totals, strict=True)
        ],
        spent=spent,
        days=days,
        first_day=days[0],
        last_day=days[-1],
    )
