"""Own line charts as SVG with real text: scales, ticks, labels that do not collide.

Pure functions of their arguments; every coordinate is printed with one decimal, so equal figures give
equal bytes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from fractions import Fraction

_WIDTH, _HEIGHT = 660, 220
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 118, 20, 24
_LOG_FROM_RATIO = 25
"""Where the largest value is so many times the smallest, a linear axis hides the small ones."""

_MOST_DAY_LABELS = 9
_MOST_DECADES_DIVIDED = 3
_LABEL_STEP = 13
_MOST_STEPS = 5
_INK, _MUTED, _RULE = "#1d2733", "#5a6675", "#dfe3e8"


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One line: its name, its colour, whether it is drawn broken, and a value a label (None is a gap)."""

    name: str
    colour: str
    is_broken: bool
    values: Sequence[Fraction | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Across:
    """Where values lie from left (0) to right (1), and what is written below; `ruled`: with lines up from there."""

    places: Sequence[float]
    marks: Sequence[tuple[float, str]]
    ruled: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """How a value becomes a height, and where the grid lines lie."""

    ticks: list[float]
    is_logarithmic: bool
    place: Callable[[float], float]


def scale_for(values: Sequence[float], *, bottom: float, top: float, is_logarithmic: bool = False) -> Scale:
    """Return a scale for `values` (not negative): linear from zero; logarithmic over a wide range, or if asked to."""
    largest = max(values, default=1.0) or 1.0
    positive = [value for value in values if value > 0]
    smallest = min(positive, default=largest)
    if is_logarithmic or largest > _LOG_FROM_RATIO * smallest:
        ticks = _log_ticks(smallest, largest)
        low, high = math.log10(ticks[0]), math.log10(ticks[-1])
        span = high - low or 1.0

        def place_log(value: float) -> float:
            return bottom - (math.log10(max(value, ticks[0])) - low) / span * (bottom - top)

        return Scale(ticks=ticks, is_logarithmic=True, place=place_log)
    ticks = _linear_ticks(largest)

    def place(value: float) -> float:
        return bottom - value / ticks[-1] * (bottom - top)

    return Scale(ticks=ticks, is_logarithmic=False, place=place)


def evenly(labels: Sequence[str]) -> Across:
    """Return values side by side at even distances, as many of their labels below as have room."""
    step = 1 / max(len(labels) - 1, 1)
    every = max(1, math.ceil(len(labels) / _MOST_DAY_LABELS))
    places = [index * step for index in range(len(labels))]
    return Across(places=places, marks=list(zip(places, labels, strict=True))[::every])


def line_chart(
    *,
    title: str,
    axis: tuple[str, str],
    across: Across,
    series: Sequence[Series],
    threshold: tuple[Fraction, str] | None,
    font_family: str,
    is_logarithmic: bool = False,
) -> Markup:
    """Return lines; `axis` names the values on a linear and on a logarithmic scale.

    `threshold` is a value and its label, drawn as a dashed line across.
    """
    numbers = [float(value) for each in series for value in each.values if value is not None]
    if threshold is not None:
        numbers.append(float(threshold[0]))
    scale = scale_for(numbers, bottom=_HEIGHT - _BOTTOM, top=_TOP, is_logarithmic=is_logarithmic)
    parts = [*_grid(scale, axis[1] if scale.is_logarithmic else axis[0]), *_below(across)]
    ends: list[tuple[float, str, str]] = []
    if threshold is not None:
        height = scale.place(float(threshold[0]))
        parts.append(
            f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{height:.1f}" y2="{height:.1f}" stroke="{_INK}" '
            'stroke-width="1" stroke-dasharray="2 3"/>'
        )
        ends.append((height, threshold[1], _INK))
    for each in series:
        parts += _line(each, scale, across.places)
        last = next((value for value in reversed(each.values) if value is not None), None)
        if last is not None:
            ends.append((scale.place(float(last)), each.name, each.colour))
    parts += _end_labels(ends)
    return svg(title=title, width=_WIDTH, height=_HEIGHT, parts=parts, font_family=font_family)


def svg(*, title: str, width: float, height: float, parts: Sequence[str], font_family: str) -> Markup:
    """Return a drawing as wide as its column, with its title as the alternative text."""
    return Markup(  # noqa: S704 (title and font are escaped here, texts where they are made)
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" '
        f'font-family="{escape(font_family)}" font-size="9.5"><title>{escape(title)}</title>'
        + "".join(parts)
        + "</svg>"
    )


def text(
    x: float,
    y: float,
    words: str,
    *,
    colour: str = _MUTED,
    anchor: str = "start",
    bold: bool = False,
    size: float = 9.5,
) -> str:
    """Return one line of text in a drawing."""
    weight = ' font-weight="700"' if bold else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" text-anchor="{anchor}" font-size="{size}"{weight}>'
        f"{escape(words)}</text>"
    )


def _grid(scale: Scale, axis: str) -> list[str]:
    parts = []
    for tick in scale.ticks:
        y = scale.place(tick)
        parts.append(
            f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="{_RULE}" stroke-width="0.7"/>'
        )
        parts.append(text(_LEFT - 6, y + 3.2, f"{tick:g}", anchor="end"))
    return [*parts, text(_LEFT - 6, _TOP - 10, axis, anchor="start")]


def _below(across: Across) -> list[str]:
    parts = []
    for place, label in across.marks:
        if across.ruled:
            parts.append(
                f'<line x1="{_x(place):.1f}" x2="{_x(place):.1f}" y1="{_TOP}" y2="{_HEIGHT - _BOTTOM}" '
                f'stroke="{_RULE}" stroke-width="0.7"/>'
            )
        parts.append(text(_x(place), _HEIGHT - 8, label, anchor="middle"))
    return parts


def _x(place: float) -> float:
    return _LEFT + place * (_WIDTH - _LEFT - _RIGHT)


def _line(series: Series, scale: Scale, places: Sequence[float]) -> list[str]:
    runs: list[list[tuple[float, float]]] = [[]]
    for place, value in zip(places, series.values, strict=True):
        if value is None:
            runs.append([])
        else:
            runs[-1].append((_x(place), scale.place(float(value))))
    broken = ' stroke-dasharray="6 2.5"' if series.is_broken else ""
    parts = []
    for run in filter(None, runs):
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in run)
        parts.append(
            f'<polyline points="{points}" fill="none" stroke="{series.colour}" stroke-width="1.6" '
            f'stroke-linejoin="round"{broken}/>'
        )
        # a line of no length with round ends is a dot: one path is set much faster than a circle a value
        dots = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in run)
        parts.append(
            f'<path d="{dots}" fill="none" stroke="{series.colour}" stroke-width="3.4" stroke-linecap="round"/>'
        )
    return parts


def _end_labels(ends: Sequence[tuple[float, str, str]]) -> list[str]:
    """Return the names beside the lines' ends, pushed apart where they would touch."""
    placed: list[tuple[float, str, str]] = []
    for height, name, colour in sorted(ends):
        lowest = placed[-1][0] + _LABEL_STEP if placed else float(_TOP)
        placed.append((max(height, lowest), name, colour))
    overflow = placed[-1][0] - (_HEIGHT - _BOTTOM) if placed else 0
    shift = max(0.0, overflow)
    return [
        text(_WIDTH - _RIGHT + 8, height - shift + 3.2, name, colour=colour, bold=True)
        for height, name, colour in placed
    ]


def _linear_ticks(largest: float) -> list[float]:
    magnitude = 10.0 ** math.floor(math.log10(largest))
    step = next(
        step
        for step in (magnitude / 5, magnitude / 2, magnitude, 2 * magnitude, 5 * magnitude)
        if largest / step <= _MOST_STEPS
    )
    return [float(f"{step * index:.9g}") for index in range(math.ceil(largest / step - 1e-9) + 1)]


def _log_ticks(smallest: float, largest: float) -> list[float]:
    """Return 1, 2, 5, 10 … from at most `smallest` to at least `largest`; over many decades, powers of ten."""
    first, last = math.floor(math.log10(smallest)), math.ceil(math.log10(largest))
    if last - first > _MOST_DECADES_DIVIDED:
        return [10.0**exponent for exponent in range(first, last + 1)]
    round_ones = [float(f"{step}e{exponent}") for exponent in range(first, last + 1) for step in (1, 2, 5)]
    low = max((each for each in round_ones if each <= smallest), default=round_ones[0])
    high = min((each for each in round_ones if each >= largest), default=round_ones[-1])
    return [each for each in round_ones if low <= each <= high]
