"""Own the table of the percentile curve: the figures behind its chart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sla.reports.figures import aligned, seconds_or_nothing, thresholds_of
from sla.reports.reading import number

if TYPE_CHECKING:
    from fractions import Fraction

    from fairclock.documents.languages import Language
    from sla.reports.figures import Cell
    from sla.reports.reading import Report


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveRow:
    """One percentile on both clocks, as text for the table and exactly for the chart."""

    label: str
    with_queue: Cell
    without_queue: Cell
    exact: Fraction
    exact_with_queue: Fraction | None
    exact_without_queue: Fraction | None


def curve_rows(report: Report, language: Language) -> list[CurveRow]:
    """Return the points of the curve, from the usual request to the tail; none where nothing was answered."""
    points = [
        (percentile, number(each.get("with_queue")), number(each.get("without_queue")))
        for each in report.get("percentile_curve") or []
        if (percentile := number(each["percentile"])) is not None
    ]
    limits = thresholds_of(report, "end_to_end")
    columns = [
        aligned([seconds_or_nothing(point[side], language, thresholds=limits) for point in points])
        for side in (1, 2)
    ]
    return [
        CurveRow(
            label=f"P{language.beside(exact, [exact], least=0)}",
            with_queue=columns[0][place],
            without_queue=columns[1][place],
            exact=exact,
            exact_with_queue=with_queue,
            exact_without_queue=without_queue,
        )
        for place, (exact, with_queue, without_queue) in enumerate(points)
    ]
