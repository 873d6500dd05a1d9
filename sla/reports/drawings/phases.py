"""Own the bar of the five phases: how the mean time from first to last byte is divided."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairclock.documents.charts import svg, text
from sla.reports.drawings.colours import PHASE_COLOURS
from sla.reports.figures import PHASES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markupsafe import Markup

    from fairclock.documents.languages import Language
    from sla.reports.figures import PhaseRow

_BAR_WIDTH, _BAR_HEIGHT = 660, 30
_SHARE_SHOWN_FROM = 0.07


def phases_bar(rows: Sequence[PhaseRow], language: Language, *, font_family: str) -> Markup:
    """Return the phases' shares of the mean as one bar; a share below zero has no width."""
    parts: list[str] = []
    left = 0.0
    shares = {row.phase: max(0.0, float(row.share or 0)) for row in rows}
    whole = sum(shares.values()) or 1.0
    texts = {row.phase: row.percent.text for row in rows}
    for phase in PHASES:
        width = _BAR_WIDTH * shares[phase] / whole
        parts.append(
            f'<rect x="{left:.1f}" y="0" width="{max(width - 1, 0):.1f}" height="{_BAR_HEIGHT}" '
            f'fill="{PHASE_COLOURS[phase]}"/>'
        )
        if shares[phase] / whole >= _SHARE_SHOWN_FROM:
            parts.append(
                text(left + width / 2, 19, texts[phase], colour="#ffffff", anchor="middle", bold=True)
            )
        left += width
    title = language.text("queueing.breakdown_title")
    return svg(title=title, width=_BAR_WIDTH, height=_BAR_HEIGHT, parts=parts, font_family=font_family)
