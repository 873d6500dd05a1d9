"""Own the way from a reading to its page: which parts belong to which model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairclock.console.pages.cost import cost_parts
from fairclock.console.pages.exclusions import exclusion_parts
from fairclock.console.pages.incidents import incident_parts
from fairclock.console.pages.method import method_parts
from fairclock.console.pages.overview import overview_parts
from fairclock.console.pages.probes import probe_parts
from fairclock.console.pages.rendering import render, zone_of_page
from fairclock.console.pages.reports import report_parts
from fairclock.console.pages.requests import request_list_parts, request_parts
from fairclock.console.pages.sources import source_parts
from fairclock.console.pages.tenant import tenant_parts
from fairclock.console.pages.wording import wording
from fairclock.console.readings.models.cost import CostPage
from fairclock.console.readings.models.exclusions import ChangePage, ExclusionPage
from fairclock.console.readings.models.incidents import IncidentPage
from fairclock.console.readings.models.overview import Overview
from fairclock.console.readings.models.probes import ProbePage
from fairclock.console.readings.models.reports import ReportPage
from fairclock.console.readings.models.requests import RequestList, RequestPage
from fairclock.console.readings.models.sources import SourcePage
from fairclock.console.readings.models.tenant import TenantPage

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairclock.console.pages.exclusions import Filled
    from fairclock.console.pages.view import View
    from fairclock.console.pages.wording import Wording
    from fairclock.console.readings.models.base import Page
    from fairclock.console.readings.models.exclusions import ExclusionProposed

Shown = tuple[str, "Callable[[Any, View, Wording], dict[str, Any]]"]
_PAGES: dict[type[Page], Shown] = {
    Overview: ("overview", overview_parts),
    TenantPage: ("tenant", lambda page, _, words: tenant_parts(page, words)),
    RequestList: ("requests", request_list_parts),
    RequestPage: ("request", lambda page, _, words: request_parts(page, words)),
    IncidentPage: ("incidents", incident_parts),
    CostPage: ("cost", lambda page, _, words: cost_parts(page, words)),
    ProbePage: ("probes", lambda page, _, words: probe_parts(page, words)),
    SourcePage: ("sources", lambda page, _, words: source_parts(page, words)),
    ReportPage: ("reports", lambda page, _, words: report_parts(page, words)),
    ExclusionPage: ("exclusions", lambda page, _, words: exclusion_parts(page, words)),
    ChangePage: ("changes", lambda *_: {}),
}


def words_for(page: Page | None, view: View) -> Wording:
    """Return the words a page is told in: the reader's language, the reading's zone."""
    return wording(view.language, zone_of_page(page))


def page_html(page: Page, view: View) -> str:
    """Return the page of a reading."""
    name, parts = _PAGES[type(page)]
    return render(name, view, page=page, parts=parts(page, view, words_for(page, view)))


def exclusions_html(
    page: ExclusionPage, view: View, *, filled: Filled | None = None, kept: ExclusionProposed | None = None
) -> str:
    """Return the page of exclusions after its form was sent."""
    parts = exclusion_parts(page, words_for(page, view), filled=filled, kept=kept)
    return render("exclusions", view, page=page, parts=parts)


def method_html(view: View) -> str:
    """Return the page that says how figures are measured."""
    return render("method", view, parts=method_parts(words_for(None, view)))


def sign_in_html(view: View, *, next_path: str, problem: str | None = None) -> str:
    """Return the page that asks for a token; `problem` is the key of why the last one did not do."""
    words = words_for(None, view)
    said = None if problem is None else words.text(f"sign_in.{problem}")
    return render("sign_in", view, parts={"next_path": next_path, "problem": said})


def problem_html(view: View, *, status: int, kind: str, detail: str = "") -> str:
    """Return a page that says what is wrong; `kind` is one of the words' ``problem`` group."""
    words = words_for(None, view)
    return render(
        "problem",
        view,
        parts={
            "status": status,
            "title": words.text(f"problem.{kind}.title"),
            "text": words.text(f"problem.{kind}.text"),
            "detail": detail,
            "may_retry": kind in {"busy", "store", "failure", "too_many"},
        },
    )
