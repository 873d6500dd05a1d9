"""Own lines over time: gaps stay gaps, a limit lies across, the newest values are at the right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairclock.console.pages.charts.figure import STRETCH, across, box, drawing, label, upright
from fairclock.console.pages.charts.scales import instants

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from markupsafe import Markup

    from fairclock.console.pages.charts.scales import Axis

HEIGHT, TOP, BOTTOM = 232, 16, 206
_ABOVE = 4
_EDGE = 0.97


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line: its style, and a value a stretch (None is a gap). `is_area` fills what is below."""

    style: str
    values: Sequence[float | None]
    is_area: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """A value drawn across, and what it is."""

    value: float
    name: str


def time_lines(
    *,
    title: str,
    starts: Sequence[datetime],
    end: datetime,
    lines: Sequence[Line],
    axis: Axis,
    write: Callable[[float], str],
    limit: Limit | None = None,
    has_gaps: bool = True,
) -> Markup:
    """Return lines over the stretches that begin at the local instants `starts`, the last of which ends at `end`.

    `write` writes a value of the axis. Where no line has a value, the ground is darker: nothing was measured.
    """
    count = len(starts)
    parts: list[str] = []
    if has_gaps:
        parts += _gaps(lines, count)
    for tick in axis.ticks:
        height = axis.place(tick)
        parts += [
            across(height, style="axis" if tick == 0 else "grid"),
            label(0, height - _ABOVE, write(tick)),
        ]
    ticks, pattern = instants(starts[0], end)
    whole = (end - starts[0]).total_seconds() or 1.0
    for index, tick_at in enumerate(ticks):
        share = (tick_at - starts[0]).total_seconds() / whole
        style = "alt-tick" if index % 2 else ""
        anchor = "start" if share == 0 else "end" if share > _EDGE else "middle"
        parts.append(label(share, HEIGHT - 8, tick_at.strftime(pattern), anchor=anchor, style=style))
    if limit is not None:
        height = axis.place(limit.value)
        parts += [
            across(height, style="limit"),
            label(1, height - _ABOVE, limit.name, anchor="end", style="limit-name"),
        ]
    inner = "".join(_line(each, count, axis) for each in lines)
    parts.append(
        f'<svg x="0" y="0" width="100%" height="{HEIGHT}" viewBox="0 0 {STRETCH} {HEIGHT}" '
        f'preserveAspectRatio="none" aria-hidden="true">{inner}</svg>'
    )
    parts.append(upright(0, TOP, BOTTOM, style="cursor"))
    return drawing(title=title, height=HEIGHT, parts=parts)


def place_of(index: int, count: int) -> float:
    """Return where the stretch `index` of `count` is drawn, as a share of the width: at its middle."""
    return (index + 0.5) / count


def _gaps(lines: Sequence[Line], count: int) -> list[str]:
    empty = [all(each.values[index] is None for each in lines) for index in range(count)]
    parts, start = [], None
    for index, is_empty in enumerate([*empty, False]):
        if is_empty and start is None:
            start = index
        if not is_empty and start is not None:
            parts.append(box(start / count, (index - start) / count, TOP, BOTTOM - TOP, style="gap"))
            start = None
    return parts


def _line(line: Line, count: int, axis: Axis) -> str:
    runs: list[list[tuple[float, float]]] = [[]]
    for index, value in enumerate(line.values):
        if value is None:
            runs.append([])
        else:
            runs[-1].append((STRETCH * place_of(index, count), axis.place(value)))
    drawn = []
    for run in filter(None, runs):
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in (run if len(run) > 1 else [*run, *run]))
        if line.is_area and len(run) > 1:
            ground = axis.place(max(0.0, axis.ticks[0]))
            closed = f"{run[0][0]:.1f},{ground:.1f} {points} {run[-1][0]:.1f},{ground:.1f}"
            drawn.append(f'<polygon points="{closed}" class="area {line.style}"/>')
        drawn.append(f'<polyline points="{points}" class="plot {line.style}"/>')
    return "".join(drawn)
