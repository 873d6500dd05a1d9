"""Own which figures of a report make it another revision where they differ."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

Figures = dict[str, Any]

OF_OBJECTIVES = ("n", "violations", "value", "verdict", "verdict_without_exclusions")
"""What is compared of each objective."""


def figures_of(report: Mapping[str, Any]) -> Figures:
    """Return what is compared, as JSON has it: no fonts, no program version, no `as_of`.

    The hash of the rows is among it, so that rows which change nothing else are a revision all the same. Of
    exclusions it is those that leave something out: a proposal changes nothing.
    """
    granted: dict[str, dict[str, Any]] = {}
    for each in report["exclusions"]:
        seconds = each["cap"]["granted_seconds"] or 0
        if seconds:
            entry = granted.setdefault(each["id"], {"clause": each["clause"], "granted_seconds": 0})
            entry["granted_seconds"] += seconds
    figures = {
        "admitted": report["traffic"]["admitted"],
        "coverage": dict(report["coverage"]),
        "rows_sha256": report["evidence"]["rows_sha256"],
        "versions": report["contract"]["versions"],
        "objectives": [
            {"name": each["name"], "part": each["part"], **{key: each[key] for key in OF_OBJECTIVES}}
            for each in report["objectives"]
        ],
        "exclusions": granted,
    }
    return read_figures(written(figures))


def written(figures: Figures) -> str:
    """Return the one text of `figures`."""
    return json.dumps(
        figures, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"), default=float
    )


def read_figures(text: str) -> Figures:
    """Return what `written` wrote."""
    found: Figures = json.loads(text)
    return found


def digest_of(figures: Figures) -> str:
    """Return the hash by which two evaluations are told apart."""
    return hashlib.sha256(written(figures).encode()).hexdigest()
