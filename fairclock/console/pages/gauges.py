"""Own what engines said of their queues and caches: one line for all of them, one for the one that had most."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from fairclock.console.pages.charts.figure import Chart, Key
from fairclock.console.pages.charts.lines import BOTTOM, TOP, Line, time_lines
from fairclock.console.pages.charts.scales import between, upward

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from fairclock.console.pages.charts.scales import Axis
    from fairclock.console.pages.wording import Wording
    from fairclock.console.readings.models.base import Range
    from fairclock.console.readings.models.figures import GaugeSeries

_MOST_STRETCHES = 400


def gauge_charts(gauges: Sequence[GaugeSeries], shown: Range, words: Wording) -> list[tuple[str, Chart]]:
    """Return a chart for the queue, one for what runs, and one for the caches; those nobody scraped are left out."""
    charts = []
    for name in ("waiting", "running", "kv_cache"):
        series = [each for each in gauges if each.gauge == name and each.points]
        if series:
            title = words.text(f"gauge.{name}")
            charts.append((title, _chart(title, series, shown, words)))
    return charts


def _chart(title: str, series: Sequence[GaugeSeries], shown: Range, words: Wording) -> Chart:
    starts = _stretches({point.starts_at for each in series for point in each.points}, shown)
    is_ratio = series[0].unit == "ratio"
    first = [_first(series, at, is_ratio=is_ratio) for at in starts]
    most = [max(_values(series, at, greatest=True), default=None) for at in starts]
    known = [value for value in (*first, *most) if value is not None]
    axis = between(0.0, 1.0, step=0.25, top=TOP, bottom=BOTTOM) if is_ratio else _counts(known)
    names = (
        words.text("gauge.mean" if is_ratio else "gauge.together"),
        words.text("gauge.most", n=len({(each.target, each.engine) for each in series})),
    )

    def write(value: float | None) -> str:
        return words.ratio(value, least=0) if is_ratio else words.integer(value)

    return Chart(
        title=title,
        drawing=time_lines(
            title=title,
            starts=[words.local(each) for each in starts],
            end=words.local(_end(starts, shown)),
            lines=[Line(style="first", values=first, is_area=True), Line(style="second", values=most)],
            axis=axis,
            write=write,
        ),
        key=[Key(style="first", name=names[0]), Key(style="second", name=names[1])],
        columns=[words.text("chart.from"), *names],
        rows=[
            [words.local(at).strftime("%m-%d %H:%M"), write(one), write(other)]
            for at, one, other in zip(starts, first, most, strict=True)
        ],
        follows=True,
    )


def _counts(known: Sequence[float]) -> Axis:
    return upward([max([*known, 1.0])], top=TOP, bottom=BOTTOM)


def _values(series: Sequence[GaugeSeries], at: datetime, *, greatest: bool) -> list[float]:
    return [
        point.greatest if greatest else point.last
        for each in series
        for point in each.points
        if point.starts_at == at
    ]


def _first(series: Sequence[GaugeSeries], at: datetime, *, is_ratio: bool) -> float | None:
    values = _values(series, at, greatest=False)
    if not values:
        return None
    return sum(values) / len(values) if is_ratio else sum(values)


def _stretches(known: set[datetime], shown: Range) -> list[datetime]:
    """Return the stretches from the first that has a value to the present, those without a value included."""
    starts = sorted(known)
    step = min((later - earlier for earlier, later in pairwise(starts)), default=None)
    if step is None:
        return starts
    count = max(starts[-1] - starts[0], shown.elapsed_to - starts[0] - step) // step + 1
    return [starts[0] + index * step for index in range(count)] if count <= _MOST_STRETCHES else starts


def _end(starts: Sequence[datetime], shown: Range) -> datetime:
    if len(starts) < 2:  # noqa: PLR2004 (one point has no step)
        return max(shown.elapsed_to, starts[-1])
    return starts[-1] + (starts[-1] - starts[-2])
