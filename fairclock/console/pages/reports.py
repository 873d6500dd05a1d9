"""Own the page of reports: each contract's months, how they stand, and where to read them."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

from fairclock.console.pages.cost import month_name
from fairclock.console.pages.states import plain_state
from fairclock.console.pages.view import address, segment

if TYPE_CHECKING:
    from fairclock.console.pages.wording import Wording
    from fairclock.console.readings.models.reports import ReportMonth, ReportPage

_LANGUAGES = {"en": "English", "zh": "中文"}
_PAGES = frozenset({"html"})


def report_parts(page: ReportPage, words: Wording) -> dict[str, Any]:
    """Return what the template of reports needs beside the reading."""
    ordered = sorted(page.months, key=lambda each: each.contract)
    contracts = []
    for contract, found in groupby(ordered, key=lambda each: each.contract):
        months = sorted(found, key=lambda each: each.month, reverse=True)
        older = [each for each in months[1:] if each.revision is None and not each.issued]
        shown = [each for each in months if each not in older]
        contracts.append(
            (
                contract,
                words.in_language(months[0].title),
                [_month(each, page, words) for each in shown],
                [_month(each, page, words) for each in older],
            )
        )
    return {"contracts": contracts}


def _month(month: ReportMonth, page: ReportPage, words: Wording) -> dict[str, Any]:
    broken = "violated" if month.issued else "at_risk"
    counted = (
        ("good", month.met, words.word("verdict", "met")),
        ("risk", month.violated, words.word("verdict", broken)),
        ("", month.undecided, words.text("reports.undecided")),
    )
    return {
        "month": month,
        "name": month_name(month.month, words),
        "states": [
            plain_state(f"{words.integer(number)} {word}", tone) for tone, number, word in counted if number
        ],
        "downloads": [
            (name, [_link(month, form, code) for form in page.formats]) for code, name in _LANGUAGES.items()
        ],
    }


def _link(month: ReportMonth, form: str, code: str) -> tuple[str, str, bool]:
    path = f"/api/v1/reports/{segment(month.contract)}/{month.month}.{form}"
    return form.upper(), address(path, {"lang": code}), form in _PAGES
