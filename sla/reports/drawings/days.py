"""Own the chart of P99 by day: with and without queueing, and the promise that it is held against."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairclock.documents.charts import Series, evenly, line_chart
from fairclock.documents.text import printable
from sla.reports.drawings.colours import WITH_QUEUE, WITHOUT_QUEUE
from sla.reports.objectives import conditions
from sla.reports.reading import number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from fractions import Fraction
    from typing import Any

    from markupsafe import Markup

    from fairclock.documents.languages import Language
    from sla.reports.figures import DayRow
    from sla.reports.reading import Report


@dataclass(frozen=True, slots=True, kw_only=True)
class DailyThreshold:
    """The promise that the daily chart is held against."""

    objective: str
    value: Fraction
    shown: str
    applies: list[str]


def daily_threshold(report: Report, language: Language) -> DailyThreshold | None:
    """Return the strictest P99 promise on the end-to-end clock among those that cover most requests.

    The chart is about every request of a day, so a promise about a part of the day comes before one about a
    part of the requests, and one about all of them first.
    """
    candidates = [
        each
        for each in report["objectives"]
        if each.get("clock") == "end_to_end"
        and number(each.get("percentile")) == 99  # noqa: PLR2004 (P99)
        and each.get("window") is None
    ]
    if not candidates:
        return None
    chosen: Mapping[str, Any] = min(
        candidates,
        key=lambda each: (bool(each.get("where")), bool(each.get("during")), number(each["threshold"])),
    )
    value = number(chosen["threshold"])
    if value is None:
        return None
    return DailyThreshold(
        objective=printable(str(chosen["name"])),
        value=value,
        shown=language.beside(value, [value], least=0),
        applies=conditions(chosen, language),
    )


def daily_chart(
    rows: Sequence[DayRow], threshold: DailyThreshold | None, language: Language, *, font_family: str
) -> Markup:
    """Return P99 by day as two lines, with the threshold across."""
    return line_chart(
        title=language.text("queueing.daily_title"),
        axis=(language.text("queueing.daily_axis"), language.text("queueing.daily_axis_log")),
        across=evenly([row.label for row in rows]),
        series=[
            Series(
                name=language.text("queueing.with_queue"),
                colour=WITH_QUEUE,
                is_broken=False,
                values=[row.exact_with_queue for row in rows],
            ),
            Series(
                name=language.text("queueing.without_queue"),
                colour=WITHOUT_QUEUE,
                is_broken=True,
                values=[row.exact_without_queue for row in rows],
            ),
        ],
        threshold=None
        if threshold is None
        else (threshold.value, language.text("queueing.threshold", value=threshold.shown)),
        font_family=font_family,
    )
