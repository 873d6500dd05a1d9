"""Own the percentile curve: with and without queueing, the tail drawn out, both axes logarithmic."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fairclock.documents.charts import Across, Series, line_chart
from sla.reports.drawings.colours import WITH_QUEUE, WITHOUT_QUEUE

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from markupsafe import Markup

    from fairclock.documents.languages import Language
    from sla.reports.curve import CurveRow
    from sla.reports.drawings.days import DailyThreshold

_MARKED = ("50", "90", "99", "99.9", "99.99")


def curve_chart(
    rows: Sequence[CurveRow], threshold: DailyThreshold | None, language: Language, *, font_family: str
) -> Markup:
    """Return the time that each share of the requests stayed within; equal steps across leave a tenth above."""
    last = _decades(float(rows[-1].exact))
    return line_chart(
        title=language.text("queueing.curve_title"),
        axis=(language.text("queueing.daily_axis"), language.text("queueing.daily_axis_log")),
        across=Across(
            places=[_decades(float(row.exact)) / last for row in rows],
            marks=[
                (_decades(float(mark)) / last, f"P{mark}")
                for mark in _MARKED
                if _decades(float(mark)) <= last + 1e-9
            ],
            ruled=True,
        ),
        series=[
            Series(
                name=language.text("queueing.with_queue"),
                colour=WITH_QUEUE,
                is_broken=False,
                values=_values([row.exact_with_queue for row in rows]),
            ),
            Series(
                name=language.text("queueing.without_queue"),
                colour=WITHOUT_QUEUE,
                is_broken=True,
                values=_values([row.exact_without_queue for row in rows]),
            ),
        ],
        threshold=None
        if threshold is None
        else (threshold.value, language.text("queueing.threshold", value=threshold.shown)),
        font_family=font_family,
        is_logarithmic=True,
    )


def _values(values: Sequence[Fraction | None]) -> list[Fraction | None]:
    """Leave out what a logarithmic axis cannot show: nothing was answered in no time at all."""
    return [value if value is not None and value > 0 else None for value in values]


def _decades(percentile: float) -> float:
    """Return how often the part above `percentile` is a tenth of the part before: 1 at P90, 2 at P99."""
    return -math.log10(1 - percentile / 100)
