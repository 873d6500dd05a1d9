"""Own the report's drawings: a request's way with the contract's clock, days, phases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairclock.documents.charts import Series, line_chart, svg, text
from fairclock.documents.text import printable
from sla.reports.figures import PHASES
from sla.reports.objectives import clock_name, conditions
from sla.reports.reading import number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from fractions import Fraction
    from typing import Any

    from markupsafe import Markup

    from fairclock.documents.languages import Language
    from sla.reports.figures import DayRow, PhaseRow
    from sla.reports.reading import Report

WITH_QUEUE, WITHOUT_QUEUE = "#b4451f", "#1f5f8b"
PHASE_COLOURS = {
    "network": "#8d96a1",
    "frontend": "#5fb0dd",
    "queue": "#b4451f",
    "prefill": "#1f5f8b",
    "decode": "#2f8f77",
}
_INK, _MUTED, _RULE, _UNUSED = "#1d2733", "#5a6675", "#c9d0d8", "#c3cad3"

_MARKS = {
    "connected": 120,
    "received": 178,
    "forwarded": 238,
    "arrived": 296,
    "queued": 354,
    "scheduled": 434,
    "first_token": 502,
    "last_token": 572,
    "responded": 634,
}
_HOSTS = (("gateway", "connected", "forwarded"), ("engine", "arrived", "last_token"))
_LANES: dict[str, tuple[tuple[str, str], ...]] = {
    "end_to_end": (("received", "responded"),),
    "excluding_queue": (("received", "queued"), ("scheduled", "responded")),
    "queue": (("queued", "scheduled"),),
    "inference": (("scheduled", "last_token"),),
    "prefill": (("scheduled", "first_token"),),
    "decode": (("first_token", "last_token"),),
    "outside": (("received", "scheduled"), ("last_token", "responded")),
    "time_to_first_token": (("received", "forwarded"), ("arrived", "first_token")),
}
_AXIS_Y, _FIRST_LANE_Y, _LANE_STEP = 40, 62, 17
_BAR_WIDTH, _BAR_HEIGHT = 660, 30
_SHARE_SHOWN_FROM = 0.07


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
        labels=[row.label for row in rows],
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


def request_way(report: Report, language: Language, *, font_family: str) -> Markup:
    """Return a request's marks from left to right, each clock as a bar, and the contract's start and end."""
    start = str((report["contract"].get("clock") or {}).get("start") or "received")
    first = start if start in _MARKS else "received"
    used = {str(each.get("clock")) for each in report["objectives"]}
    bottom = _FIRST_LANE_Y + _LANE_STEP * len(_LANES)
    parts = [*_ends(first, bottom, language), *_axis(first, language)]
    for index, (clock, spans) in enumerate(_LANES.items()):
        parts += _lane(
            _FIRST_LANE_Y + _LANE_STEP * index,
            clock_name(clock, language),
            [
                (first if begin == "received" and clock == "end_to_end" else begin, end)
                for begin, end in spans
            ],
            is_used=clock in used,
        )
    parts += [
        f'<rect x="0" y="{bottom + 17:.1f}" width="9" height="9" fill="{WITHOUT_QUEUE}"/>',
        text(14, bottom + 25, language.text("way.in_contract")),
    ]
    return svg(
        title=language.text("way.title"),
        width=_BAR_WIDTH,
        height=bottom + 30,
        parts=parts,
        font_family=font_family,
    )


def _ends(first: str, bottom: float, language: Language) -> list[str]:
    parts = []
    for mark, key, anchor in ((first, "way.start", "start"), ("responded", "way.end", "end")):
        x = _MARKS[mark]
        parts += [
            f'<line x1="{x}" x2="{x}" y1="{_AXIS_Y}" y2="{bottom:.1f}" stroke="{WITH_QUEUE}" stroke-width="1.4"/>',
            text(x, bottom + 11, language.text(key), colour=WITH_QUEUE, anchor=anchor, bold=True),
        ]
    return parts


def _axis(first: str, language: Language) -> list[str]:
    left, right = _MARKS["connected"], _MARKS["responded"]
    parts = [
        f'<line x1="{left}" x2="{right}" y1="{_AXIS_Y}" y2="{_AXIS_Y}" stroke="{_INK}" stroke-width="1.2"/>'
    ]
    for host, begin, end in _HOSTS:
        x1, x2 = _MARKS[begin], _MARKS[end]
        parts += [
            f'<path d="M{x1} 18 v-4 H{x2} v4" fill="none" stroke="{_RULE}" stroke-width="1"/>',
            text((x1 + x2) / 2, 9, language.text(f"way.{host}"), anchor="middle"),
        ]
    for mark, x in _MARKS.items():
        is_end = mark in (first, "responded")
        colour = WITH_QUEUE if is_end else _INK
        parts += [
            _circle(x, fill=WITH_QUEUE if is_end else "#ffffff", stroke=colour),
            text(
                x,
                _AXIS_Y - 9,
                language.text(f"way.{mark}"),
                colour=colour,
                anchor="middle",
                bold=is_end,
                size=8.5,
            ),
        ]
    return parts


def _circle(x: float, *, fill: str, stroke: str) -> str:
    return f'<circle cx="{x}" cy="{_AXIS_Y}" r="3" fill="{fill}" stroke="{stroke}" stroke-width="1.2"/>'


def _lane(y: float, label: str, spans: Sequence[tuple[str, str]], *, is_used: bool) -> list[str]:
    colour = WITHOUT_QUEUE if is_used else _UNUSED
    parts = [text(0, y + 3.2, label, colour=_INK if is_used else _MUTED, bold=is_used)]
    outer = _MARKS[spans[0][0]], _MARKS[spans[-1][1]]
    if len(spans) > 1:
        parts.append(
            f'<line x1="{outer[0]}" x2="{outer[1]}" y1="{y}" y2="{y}" stroke="{colour}" stroke-width="1" '
            'stroke-dasharray="1.5 2.5"/>'
        )
    parts += [
        f'<rect x="{_MARKS[begin]}" y="{y - 4}" width="{_MARKS[end] - _MARKS[begin]}" height="8" fill="{colour}"/>'
        for begin, end in spans
    ]
    return parts
