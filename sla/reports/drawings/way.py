"""Own the picture of a request's way: its marks, each clock as a bar, where the contract's clock starts and ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairclock.documents.charts import svg, text
from sla.reports.drawings.colours import INK, MUTED, OUTSIDE, RULE, UNUSED, WITH_QUEUE, WITHOUT_QUEUE
from sla.reports.objectives import clock_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markupsafe import Markup

    from fairclock.documents.languages import Language
    from sla.reports.reading import Report

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
_WIDTH, _FIRST_X = 660, 110


def request_way(report: Report, language: Language, *, font_family: str) -> Markup:
    """Return a request's marks from left to right, each clock as a bar, and the contract's start and end."""
    start = str((report["contract"].get("clock") or {}).get("start") or "received")
    first = start if start == "connected" else "received"
    used = {str(each.get("clock")) for each in report["objectives"]}
    bottom = _FIRST_LANE_Y + _LANE_STEP * len(_LANES)
    parts = [*_outside(first, bottom), *_ends(first, bottom, language), *_axis(first, language)]
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
        f'<rect x="0" y="{bottom + 31:.1f}" width="9" height="9" fill="{OUTSIDE}" stroke="{UNUSED}"/>',
        text(14, bottom + 39, language.text(f"way.outside_{first}")),
    ]
    return svg(
        title=language.text("way.title"),
        width=_WIDTH,
        height=bottom + 44,
        parts=parts,
        font_family=font_family,
    )


def _outside(first: str, bottom: float) -> list[str]:
    """Return what lies before the contract's clock starts and after it ends, as grey ground."""
    return [
        f'<rect x="{x1}" y="{_AXIS_Y}" width="{x2 - x1}" height="{bottom - _AXIS_Y:.1f}" fill="{OUTSIDE}"/>'
        for x1, x2 in ((_FIRST_X, _MARKS[first]), (_MARKS["responded"], _WIDTH))
    ]


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
        f'<line x1="{left}" x2="{right}" y1="{_AXIS_Y}" y2="{_AXIS_Y}" stroke="{INK}" stroke-width="1.2"/>'
    ]
    for host, begin, end in _HOSTS:
        x1, x2 = _MARKS[begin], _MARKS[end]
        parts += [
            f'<path d="M{x1} 18 v-4 H{x2} v4" fill="none" stroke="{RULE}" stroke-width="1"/>',
            text((x1 + x2) / 2, 9, language.text(f"way.{host}"), anchor="middle"),
        ]
    for mark, x in _MARKS.items():
        is_end = mark in (first, "responded")
        colour = WITH_QUEUE if is_end else INK
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
    colour = WITHOUT_QUEUE if is_used else UNUSED
    parts = [text(0, y + 3.2, label, colour=INK if is_used else MUTED, bold=is_used)]
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
