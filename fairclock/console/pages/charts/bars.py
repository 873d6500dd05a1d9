"""Own bars: shares of one whole, a budget's rest, a clock's percentiles on one line, a request's way with its marks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairclock.console.pages.charts.figure import box, drawing, label, upright

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markupsafe import Markup

_NAMED_FROM = 0.09
_PALE = frozenset({"fill-unknown", "fill-track"})
_BAR = 30
_MARKS_APART = 0.034
_MARK_ROW = 15
_MOST_MARK_ROWS = 5
_LEAST_SPAN = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A part of a bar: its fill, its share of the whole, what is written on it, what is told when pointed at."""

    style: str
    ratio: float
    name: str
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkAt:
    """A mark on a bar: its number, and its place as a share of the whole."""

    number: int
    ratio: float


def shares_bar(*, title: str, shares: Sequence[Share], height: int = _BAR) -> Markup:
    """Return one bar of parts beside each other; wide ones carry their share."""
    return drawing(title=title, height=height, parts=_parts(shares, 0, height))


def way_bar(*, title: str, shares: Sequence[Share], marks: Sequence[MarkAt]) -> Markup:
    """Return a request's way: its phases, and above them the numbers of its marks, those close together in rows."""
    rows: list[float] = []
    placed: list[tuple[MarkAt, int]] = []
    for mark in marks:
        row = next((index for index, last in enumerate(rows) if mark.ratio - last >= _MARKS_APART), len(rows))
        row = min(row, _MOST_MARK_ROWS - 1)
        rows[row : row + 1] = [mark.ratio]
        placed.append((mark, row))
    top = max(len(rows), 1) * _MARK_ROW + 4
    parts = _parts(shares, top, _BAR)
    for mark, row in placed:
        height = top - 4 - row * _MARK_ROW
        anchor = "start" if mark.ratio < 0.01 else "end" if mark.ratio > 0.99 else "middle"  # noqa: PLR2004 (the edges)
        parts += [
            upright(mark.ratio, height, top + _BAR + 5, style="axis"),
            label(mark.ratio, height - 1, str(mark.number), anchor=anchor, style="value"),
        ]
    return drawing(title=title, height=top + _BAR + 6, parts=parts)


def rest_bar(*, title: str, ratio: float) -> Markup:
    """Return what is left of a budget; an overspent one is all in the colour of trouble."""
    left = min(max(ratio, 0.0), 1.0)
    style = "fill-bad" if ratio < 0 else "fill-plain"
    return drawing(
        title=title,
        height=10,
        parts=[
            box(0, 1, 0, 10, style="fill-track"),
            box(0, 1.0 if ratio < 0 else left, 0, 10, style=style),
        ],
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """A clock's percentiles, in seconds."""

    p50: float
    p95: float
    p99: float
    most: float


class SpreadScale:
    """A logarithmic line that all clocks of one table share."""

    def __init__(self, spreads: Sequence[Spread]) -> None:
        lows = [each.p50 for each in spreads if each.p50 > 0]
        highs = [each.most for each in spreads if each.most > 0]
        self._low = math.log10(max(min(lows, default=0.001), _LEAST_SPAN))
        self._high = max(math.log10(max(highs, default=1.0)), self._low + 1)

    def place(self, seconds: float) -> float:
        """Return where a value lies, as a share of the width with room at both ends."""
        share = (math.log10(max(seconds, _LEAST_SPAN)) - self._low) / (self._high - self._low)
        return 0.02 + 0.96 * min(max(share, 0.0), 1.0)


def spread_bar(*, title: str, spread: Spread, scale: SpreadScale, style: str) -> Markup:
    """Return P50 to P95 thick, to P99 thin, to the slowest thinner still; P99 is marked."""
    p50, p95, p99, most = (scale.place(each) for each in (spread.p50, spread.p95, spread.p99, spread.most))
    return drawing(
        title=title,
        height=16,
        parts=[
            box(p50, most - p50, 7.5, 1, style=style),
            box(p50, p99 - p50, 6, 4, style=style),
            box(p50, p95 - p50, 4, 8, style=style),
            upright(p99, 1, 15, style=f"stroke-mark {style}"),
        ],
    )


def _parts(shares: Sequence[Share], top: float, height: float) -> list[str]:
    parts, start = [], 0.0
    for each in shares:
        parts.append(box(start, each.ratio, top, height, style=each.style, hint=each.hint))
        if each.ratio >= _NAMED_FROM and each.name:
            style = "value" if each.style in _PALE else "on-bar"
            parts.append(
                label(start + each.ratio / 2, top + height / 2 + 4, each.name, anchor="middle", style=style)
            )
        start += each.ratio
    return parts
