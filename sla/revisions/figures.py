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


OF_AMOUNTS = ("net", "tax", "gross", "credits_granted", "credits_claimed")
"""What is compared of a month's amounts."""


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
        "money": _money(report),
    }
    return read_figures(written(figures))


def _money(report: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a month costs and gives back, by its name; nothing where nothing was rated.

    What becomes of a credit by the mere passing of time (claimable, expired) is no other figure; what it comes to is, and
    what was claimed and granted.
    """
    cost, amounts = report.get("cost"), report.get("amounts")
    found: dict[str, Any] = {}
    if cost is not None:
        found |= {
            "cost.net": f"{cost['net']} {cost['currency']}",
            "cost.per_1000_requests": cost["per_1000_requests"],
        }
        found["cost.per_1000_tokens"] = (cost["tokens"] or {}).get("per_1000")
    if amounts is not None:
        found |= {f"amounts.{name}": amounts[name] for name in OF_AMOUNTS}
    for each in report.get("credits") or ():
        found[f"credit.{each['id']}"] = {
            "id": each["id"],
            "objective": each["objective"],
            "amount": each["amount"],
        }
    return found


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
