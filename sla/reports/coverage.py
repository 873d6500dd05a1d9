"""Own how coverage is shown: what was read through, how long nobody read, how that was treated."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import timedelta
from fractions import Fraction
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from sla.reports.exclusions import duration
from sla.reports.figures import percent_or_nothing
from sla.reports.reading import moment, number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairclock.documents.languages import Language
    from sla.reports.reading import Report

_UTC = ZoneInfo("UTC")


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """What was read through, in words and as ratios, and how the rest was treated."""

    gateway: str
    engine: str
    joined: str
    gateway_unread: str
    engine_unread: str
    has_joined: bool
    treatment: list[str]


def coverage(report: Report, language: Language) -> Coverage:
    """Return the three ratios and the sentences about time that nobody read through."""
    clause = report.get("unmeasured") or {}
    floor = number(clause.get("coverage_floor"))
    limits = [] if floor is None else [floor]
    ratios = {
        key: percent_or_nothing(number(report["coverage"].get(key)), language, least=2, thresholds=limits)
        for key in ("gateway", "engine", "joined")
    }
    has_joined = report["coverage"].get("joined") is not None
    unread = {
        f"{key}_unread": _unread(report, number(report["coverage"].get(key)), language)
        for key in ("gateway", "engine")
    }
    return Coverage(**ratios, **unread, has_joined=has_joined, treatment=_treatment(clause, floor, language))


def _treatment(clause: Mapping[str, Any], floor: Fraction | None, language: Language) -> list[str]:
    sentences = []
    if clause.get("time"):
        sentences.append(language.text(f"coverage.time_{clause['time']}"))
    if floor is not None and clause.get("below_floor"):
        shown = language.percent(floor, thresholds=[floor], least=0)
        sentences.append(language.text(f"coverage.floor_{clause['below_floor']}", floor=shown))
    if clause.get("unknown_clock"):
        sentences.append(language.text(f"coverage.clock_{clause['unknown_clock']}"))
    return sentences


def _unread(report: Report, ratio: Fraction | None, language: Language) -> str:
    """Return the time that had passed by the as-of instant and was not read through, in seconds begun."""
    if ratio is None:
        return language.text("nothing")
    start, end, as_of = (
        moment(value, _UTC) for value in (report["period"]["from"], report["period"]["to"], report["as_of"])
    )
    elapsed = max((min(end, as_of) - start) // timedelta(microseconds=1), 0)
    seconds = math.ceil(Fraction(round((1 - ratio) * elapsed), 1_000_000))
    return duration(Fraction(seconds))
