"""Own how a promise is judged, in words: by intervals or windows, for one part of the traffic, under a version."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fairclock.documents.text import printable
from sla.reports.reading import count, number

if TYPE_CHECKING:
    from fairclock.documents.languages import Language
    from sla.reports.reading import Report

_SHOWN_OF_A_HASH = 12
BY_INTERVALS = frozenset({"downtime", "mean_interval_error"})


def part_of(objective: Mapping[str, Any]) -> list[str]:
    """Return the model and the region that an objective is judged for alone; none where it is for all."""
    part = objective.get("part")
    return [printable(str(value)) for value in part.values()] if isinstance(part, Mapping) else []


def manner(report: Report, objective: Mapping[str, Any], language: Language) -> list[str]:
    """Return one line for each way in which the objective is not a plain count over the month."""
    lines = [*_windows(objective, language), *_intervals(objective, language)]
    part = objective.get("part")
    if isinstance(part, Mapping):
        lines += [
            language.text(f"manner.part_{name}", value=printable(str(value)))
            for name, value in part.items()
            if language.has(f"manner.part_{name}")
        ]
    versions = report["contract"].get("versions")
    if isinstance(versions, list) and len(versions) > 1 and objective.get("version_sha256"):
        shown = str(objective["version_sha256"])[:_SHOWN_OF_A_HASH]
        lines.append(language.text("manner.version", version=printable(shown)))
    return lines


def counted_in(objective: Mapping[str, Any], language: Language, whole: str) -> str:
    """Return a number with what was counted, where it was not requests."""
    unit = str(objective.get("unit"))
    n = count(objective.get("n"))
    if n is None or not language.has(f"manner.{unit}"):
        return whole
    return language.text(f"manner.{unit}", n=n)


def _windows(objective: Mapping[str, Any], language: Language) -> list[str]:
    length = number(objective.get("window"))
    if length is None:
        return []
    lines = [language.text("manner.window", seconds=language.beside(length, [length], least=0))]
    combine = f"manner.combine_{objective.get('combine')}"
    if language.has(combine):
        lines.append(language.text(combine))
    share = number(objective.get("windows_met"))
    if share is not None:
        statistic = str(objective.get("statistic"))
        lines.append(
            language.text(
                "manner.mean" if statistic == "mean" else "manner.statistic",
                statistic=printable(statistic.removeprefix("p")),
                share=language.percent(share, thresholds=[share], least=0),
            )
        )
    return lines


def _intervals(objective: Mapping[str, Any], language: Language) -> list[str]:
    formula, length = str(objective.get("formula")), number(objective.get("interval_length"))
    if formula not in BY_INTERVALS or length is None:
        return []
    lines = [language.text(f"manner.{formula}", seconds=language.beside(length, [length], least=0))]
    limit, row = number(objective.get("bad_above")), count(objective.get("consecutive"))
    if limit is not None:
        lines.append(
            language.text("manner.bad_above", limit=language.percent(limit, thresholds=[limit], least=0))
        )
    if row is not None:
        lines.append(language.text("manner.consecutive", n=row))
    return lines
