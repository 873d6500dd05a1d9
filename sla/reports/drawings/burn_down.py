"""Own the burn-down of budgets: a small chart a promise, all on one scale, so that they can be compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairclock.documents.charts import svg, text
from sla.reports.drawings.colours import INK, RULE, WITH_QUEUE, WITHOUT_QUEUE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markupsafe import Markup

    from fairclock.documents.languages import Language
    from sla.reports.burn_down import BurnDown

_WIDTH, _HEIGHT = 208, 92
_LEFT, _RIGHT, _TOP, _BOTTOM = 30, 40, 8, 16
_LOWEST = -1.0
"""What is overspent by more than a whole budget is drawn at the edge; its figure stands beside it."""


def burn_down_charts(rows: Sequence[BurnDown], language: Language, *, font_family: str) -> list[Markup]:
    """Return a chart for each budget: the share left at the end of each day, red once more is spent than allowed."""
    lowest = min((float(ratio) for row in rows for ratio in row.ratios if ratio is not None), default=0.0)
    bottom = 0.0 if lowest >= 0 else _LOWEST
    return [_chart(row, bottom, language, font_family) for row in rows]


def _chart(row: BurnDown, bottom: float, language: Language, font_family: str) -> Markup:
    right = _WIDTH - _RIGHT
    step = (right - _LEFT) / max(len(row.ratios), 1)

    def height(ratio: float) -> float:
        return _TOP + (1 - max(min(ratio, 1.0), bottom)) / (1 - bottom) * (_HEIGHT - _BOTTOM - _TOP)

    parts = []
    for tick in (1.0, 0.0) if bottom == 0 else (1.0, 0.0, bottom):
        y = height(tick)
        colour, width = (INK, 0.9) if tick == 0 else (RULE, 0.7)
        parts += [
            f'<line x1="{_LEFT}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}" stroke="{colour}" stroke-width="{width}"/>',
            text(_LEFT - 4, y + 2.8, f"{100 * tick:.0f}%".replace("-", "−"), anchor="end", size=8),
        ]
    points = [(float(_LEFT), 1.0 if row.opening is None else float(row.opening))]
    points += [
        (_LEFT + (place + 1) * step, float(ratio))
        for place, ratio in enumerate(row.ratios)
        if ratio is not None
    ]
    parts += _line([(x, ratio, height(ratio)) for x, ratio in points], height(0.0))
    last_x, last = points[-1]
    colour = WITH_QUEUE if last < 0 else WITHOUT_QUEUE
    parts += [
        f'<circle cx="{last_x:.1f}" cy="{height(last):.1f}" r="2" fill="{colour}"/>',
        text(last_x + 5, height(last) + 3, row.left, colour=colour, bold=True, size=8.5),
        text(_LEFT, _HEIGHT - 4, row.first_day, size=8),
        text(right, _HEIGHT - 4, row.last_day, anchor="end", size=8),
    ]
    title = language.text("budgets.chart_title", objective=row.objective, left=row.left)
    return svg(title=title, width=_WIDTH, height=_HEIGHT, parts=parts, font_family=font_family)


def _line(points: Sequence[tuple[float, float, float]], zero: float) -> list[str]:
    """Return the line in two colours, cut where it crosses zero; it never rises."""
    above = [(x, y) for x, ratio, y in points if ratio >= 0]
    below = [(x, y) for x, ratio, y in points if ratio < 0]
    if above and below:
        (x1, y1), (x2, y2) = above[-1], below[0]
        crossing = (x1 + (x2 - x1) * (zero - y1) / (y2 - y1) if y2 != y1 else x1, zero)
        above, below = [*above, crossing], [crossing, *below]
    return [
        f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in run)}" fill="none" stroke="{colour}" '
        f'stroke-width="{width}" stroke-linejoin="round"/>'
        for run, colour, width in ((above, WITHOUT_QUEUE, 1.5), (below, WITH_QUEUE, 2))
        if run
    ]
