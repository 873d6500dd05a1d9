"""Every page, of ordinary, empty and hostile readings, in both languages: whole, readable, and nothing runs in it."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING

import pytest

from fairclock.console.pages.making import exclusions_html, method_html, page_html, problem_html, sign_in_html
from fairclock.console.pages.view import Reader, View
from fairclock.console.readings.models.base import Anchor, Lack
from fairclock.console.readings.models.overview import State
from tests.console import pages_factories as made
from tests.console.pages_reader import Element, read

if TYPE_CHECKING:
    from collections.abc import Callable

CODES = ["en", "zh"]


def view(code: str = "en", **changes: object) -> View:
    given: dict[str, object] = {
        "language": code,
        "path": "/somewhere",
        "now": made.NOW,
        "query": {"range": "24h"},
        "reader": Reader(name="ops", may_propose=True, may_audit=True),
        "form_token": "form-token-1",
    }
    return View(**(given | changes))  # type: ignore[arg-type]


CASES: dict[str, Callable[[View], str]] = {
    "the overview": lambda seen: page_html(made.overview(), seen),
    "the overview without a contract": lambda seen: page_html(made.no_contracts(), seen),
    "a tenant": lambda seen: page_html(made.tenant(), seen),
    "a tenant nobody judges": lambda seen: page_html(made.empty_tenant(), seen),
    "a tenant without a request": lambda seen: page_html(made.silent_tenant(), seen),
    "a tenant with a hostile name": lambda seen: page_html(made.tenant(made.HOSTILE), seen),
    "requests": lambda seen: page_html(made.request_list(), seen),
    "requests by a hostile id": lambda seen: page_html(made.request_list(name=made.HOSTILE), seen),
    "no requests": lambda seen: page_html(made.no_requests(), seen),
    "no request of that id": lambda seen: page_html(made.no_requests("order-7"), seen),
    "a request": lambda seen: page_html(made.request(), seen),
    "a request that no engine reported": lambda seen: page_html(made.unmeasured_request(), seen),
    "incidents": lambda seen: page_html(made.incidents(), seen),
    "many incidents": lambda seen: page_html(made.many_incidents(), seen),
    "no incidents": lambda seen: page_html(made.no_incidents(), seen),
    "costs": lambda seen: page_html(made.cost(), seen),
    "no costs": lambda seen: page_html(made.no_cost(), seen),
    "probes": lambda seen: page_html(made.probes(), seen),
    "no probes": lambda seen: page_html(made.no_probes(), seen),
    "sources": lambda seen: page_html(made.sources(), seen),
    "no sources": lambda seen: page_html(made.no_sources(), seen),
    "reports": lambda seen: page_html(made.reports(), seen),
    "no reports": lambda seen: page_html(made.no_reports(), seen),
    "exclusions": lambda seen: page_html(made.exclusions(), seen),
    "no exclusions and no clause": lambda seen: page_html(made.no_exclusions(), seen),
    "exclusions with one just proposed": lambda seen: exclusions_html(made.exclusions(), seen, kept=made.proposed()),
    "changes": lambda seen: page_html(made.changes(), seen),
    "no changes": lambda seen: page_html(made.no_changes(), seen),
    "the method": method_html,
    "signing in": lambda seen: sign_in_html(seen, next_path="/tenants/acme"),
    "signing in again": lambda seen: sign_in_html(seen, next_path="/", problem="unknown"),
    "nothing at the address": lambda seen: problem_html(seen, status=404, kind="not_found"),
    "the store away": lambda seen: problem_html(seen, status=503, kind="store"),
    "a wrong question": lambda seen: problem_html(seen, status=422, kind="wrong", detail=made.HOSTILE),
}  # fmt: skip
ALL = pytest.mark.parametrize(("case", "code"), [(case, code) for case in CASES for code in CODES])


@lru_cache(maxsize=128)
def html(case: str, code: str) -> str:
    return CASES[case](view(code))


@lru_cache(maxsize=128)
def page(case: str, code: str) -> Element:
    return read(html(case, code))


@ALL
def test_nothing_is_styled_or_run_in_place_and_nothing_comes_from_elsewhere(case: str, code: str) -> None:
    for each in page(case, code).all():
        assert each.tag != "style"
        assert "style" not in each.attributes, each
        assert not [name for name in each.attributes if name.startswith("on")], each
        if each.tag == "script":
            assert each.get("src", "").startswith("/static/")
            assert not each.text
        for name in ("src", "href", "action"):
            assert re.match(r"^(/(?![/\\])|#)", each.get(name) or "/"), each


@ALL
def test_ids_are_there_once_and_every_reference_leads_to_one(case: str, code: str) -> None:
    elements = page(case, code).all()
    ids = Counter(each.attributes["id"] for each in elements if "id" in each.attributes)
    assert [each for each, count in ids.items() if count > 1] == []
    for each in elements:
        for name in ("aria-labelledby", "aria-describedby", "for"):
            for wanted in (each.get(name) or "").split():
                assert wanted in ids, f"{name}={wanted}"
        if (each.get("href") or "").startswith("#"):
            assert each.attributes["href"][1:] in ids


@ALL
def test_there_is_one_main_one_first_heading_and_no_heading_skips_a_level(case: str, code: str) -> None:
    document = page(case, code)
    assert len(document.all("main")) == 1
    levels = [int(each.tag[1]) for each in document.all("main")[0].all("h1", "h2", "h3", "h4")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(later <= earlier + 1 for earlier, later in itertools.pairwise(levels))
    (root,) = document.all("html")
    assert root.get("lang") == {"en": "en", "zh": "zh-Hans"}[code]
    assert document.all("title")[0].text.endswith("· Fairclock")


@ALL
def test_every_field_and_every_drawing_has_a_name(case: str, code: str) -> None:
    document = page(case, code)
    labelled = {each.get("for") for each in document.all("label")}
    for each in document.all("input", "select", "textarea"):
        assert each.get("type") == "hidden" or each.get("id") in labelled
    for each in document.all("svg"):
        assert each.get("aria-hidden") == "true" or each.get("aria-label") or _inside_hidden(each)
    for each in document.all("button", "a"):
        assert each.text or each.get("aria-label")


def _inside_hidden(element: Element | None) -> bool:
    while element is not None:
        if element.get("aria-hidden") == "true":
            return True
        element = element.parent
    return False


@ALL
def test_names_are_text_and_cannot_turn_or_break_what_is_around_them(case: str, code: str) -> None:
    text = html(case, code)
    assert "<script>alert" not in text
    assert "\u202e" not in text
    assert "\u2066" not in text


@ALL
def test_every_table_has_headers_and_a_name(case: str, code: str) -> None:
    for table in page(case, code).all("table"):
        assert table.all("th")
        for cell in table.all("th"):
            assert cell.get("scope") in {"col", "row"}
        named = table.get("aria-labelledby") or table.get("aria-label") or table.all("caption")
        region = table.parent
        while region is not None and region.get("role") != "region":
            region = region.parent
        assert named or region is not None


@ALL
def test_a_table_that_becomes_cards_keeps_its_roles_and_tells_each_column(case: str, code: str) -> None:
    for table in page(case, code).all("table"):
        if "stacks" in (table.get("class") or ""):
            assert table.get("role") == "table"
            columns = len(table.all("thead")[0].all("th"))
            for row in table.all("tbody")[0].all("tr"):
                cells = [each for each in row.children if isinstance(each, Element)]
                assert len(cells) == columns
                assert all(each.get("data-label") for each in cells[1:])
                assert all(each.get("role") for each in cells)


@ALL
def test_what_is_linked_as_measured_is_on_the_page_of_the_method(case: str, code: str) -> None:
    anchors = {each.get("id") for each in page("the method", code).all("section")}
    for link in page(case, code).all("a"):
        href = link.get("href") or ""
        if href.startswith("/method#"):
            assert href.removeprefix("/method#") in anchors


@ALL
def test_every_form_that_changes_something_carries_its_token(case: str, code: str) -> None:
    for form in page(case, code).all("form"):
        tokens = [each.get("value") for each in form.all("input") if each.get("name") == "form_token"]
        assert tokens == (["form-token-1"] if form.get("method") == "post" else [])


@pytest.mark.parametrize("code", CODES)
def test_every_anchor_of_the_models_has_its_section(code: str) -> None:
    anchors = {each.get("id") for each in page("the method", code).all("section")}
    assert anchors >= {each.value for each in Anchor}


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("lack", list(Lack))
def test_what_is_lacking_is_said_in_words(lack: Lack, code: str) -> None:
    reading = made.no_contracts().model_copy(update={"lacking": (lack,)})
    (note,) = [
        each
        for each in read(page_html(reading, view(code))).all("div")
        if (each.get("class") or "").startswith("empty")
    ]
    assert len(note.text) > 10


@pytest.mark.parametrize("state", list(State))
def test_a_state_is_a_word_and_a_shape(state: State) -> None:
    card = made.overview().contracts[0].model_copy(update={"state": state})
    reading = made.overview().model_copy(update={"contracts": (card,), "alerts": ()})
    (chip,) = [
        each
        for each in read(page_html(reading, view())).all("span")
        if (each.get("class") or "").startswith("state")
    ]
    assert chip.text
    assert chip.all("svg")


@pytest.mark.parametrize(
    ("code", "words"), [("en", ("at risk", "violated")), ("zh", ("有违约风险", "未达标"))]
)
def test_a_broken_promise_is_at_risk_until_a_report_is_issued(code: str, words: tuple[str, str]) -> None:
    rows = {row.all("th")[0].text: row.text for row in page("a tenant", code).all("tr") if row.all("td")}
    assert words[0] in rows["p99-peak"]
    assert words[1] not in rows["p99-peak"]
    assert words[1] in rows["availability"]


def test_missing_zero_and_failure_read_differently() -> None:
    missing = page("a tenant nobody judges", "en").all("main")[0].text
    zero = page("a tenant without a request", "en").all("main")[0].text
    failure = page("the store away", "en").all("main")[0].text
    assert "That is not zero" in missing
    assert "zero requests were in it" in zero
    assert "The store does not answer" in failure


def test_a_value_near_its_threshold_is_printed_on_its_side() -> None:
    rows = {row.all("th")[0].text: row.text for row in page("a tenant", "en").all("tr") if row.all("td")}
    assert "2.0004 s" in rows["p99-peak"]
    assert "99.89%" in rows["availability"]


def test_a_chart_has_its_figures_in_a_table_a_row_a_point() -> None:
    latency = made.tenant().latency
    figure = page("a tenant", "en").all("figure")[0]
    rows = figure.all("tbody")[0].all("tr")
    assert len(rows) == len(latency)
    silent = next(index for index, each in enumerate(latency) if not each.n)
    assert [each.text for each in rows[silent].all("td")] == ["–", "–", "0"]


def test_a_stretch_without_a_value_is_a_gap_in_the_line_and_darker() -> None:
    figure = next(each for each in page("a tenant", "en").all("figure"))
    lines = [each for each in figure.all("polyline") if "with-queue" in each.attributes["class"].split()]
    assert len(lines) == 2
    assert [each for each in figure.all("rect") if each.get("class") == "gap"]


def test_the_range_goes_along_from_page_to_page_and_other_choices_do_not() -> None:
    seen = view(query={"range": "7d", "name": "order-7"})
    links = {each.get("href") for each in read(page_html(made.request_list(), seen)).all("nav")[0].all("a")}
    assert "/incidents?range=7d" in links
    assert all("order-7" not in (each or "") for each in links)


def test_a_custom_range_is_offered_with_its_offset() -> None:
    document = page("a tenant", "en")
    values = {each.get("name"): each.get("value") for each in document.all("input")}
    assert values["from"] == "2026-10-11T09:40+08:00"
    assert values["to"] == "2026-10-12T09:40+08:00"


def test_whoever_sees_one_tenant_is_not_offered_others() -> None:
    seen = view(reader=Reader(name="云帆", tenant="云帆金融"))
    fields = {each.get("name") for each in read(page_html(made.request_list(), seen)).all("input")}
    assert "tenant" not in fields


def test_a_form_sent_back_keeps_what_was_written_and_says_what_is_wrong() -> None:
    from zoneinfo import ZoneInfo

    from fairclock.console.pages.exclusions import Filled, proposal_of
    from fairclock.console.pages.making import words_for

    reading, seen = made.exclusions(), view()
    words = words_for(reading, seen)
    sent = {"clause_of": "acme-2026/maintenance", "starts_at": "soon", "reason": made.HOSTILE, "author": ""}
    filled = proposal_of(sent, ZoneInfo("Asia/Shanghai"), words)
    assert isinstance(filled, Filled)
    assert set(filled.errors) == {"starts_at", "author"}
    document = read(exclusions_html(reading, seen, filled=filled))
    fields = {each.get("name"): each for each in document.all("input", "textarea")}
    assert fields["starts_at"].get("value") == "soon"
    assert fields["starts_at"].get("aria-invalid") == "true"
    assert fields["starts_at"].get("aria-describedby") == "hint-starts_at"


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        pytest.param("2026-10-14T22:00", "2026-10-14T14:00:00+00:00", id="local time is the contract's"),
        pytest.param("2026-10-14T22:00+00:00", "2026-10-14T22:00:00+00:00", id="an offset is kept"),
        pytest.param("2026-10-14T22:00Z", "2026-10-14T22:00:00+00:00", id="so is UTC"),
    ],
)
def test_instants_of_the_form_are_told_in_the_contracts_zone(text: str, instant: str) -> None:
    from datetime import UTC
    from zoneinfo import ZoneInfo

    from fairclock.console.pages.exclusions import proposal_of
    from fairclock.console.pages.making import words_for
    from fairclock.console.readings.models.exclusions import ExclusionProposal

    sent = {"clause_of": "acme-2026/maintenance", "starts_at": text, "reason": "x", "author": "ops"}
    found = proposal_of(sent, ZoneInfo("Asia/Shanghai"), words_for(made.exclusions(), view()))
    assert isinstance(found, ExclusionProposal)
    assert found.starts_at.astimezone(UTC).isoformat() == instant
    assert (found.contract, found.clause) == ("acme-2026", "maintenance")


def test_a_local_time_that_clocks_skip_is_refused() -> None:
    from zoneinfo import ZoneInfo

    from fairclock.console.pages.exclusions import Filled, proposal_of
    from fairclock.console.pages.making import words_for

    sent = {"clause_of": "a/b", "starts_at": "2026-03-29T02:30", "reason": "x", "author": "ops"}
    found = proposal_of(sent, ZoneInfo("Europe/Berlin"), words_for(made.exclusions(), view()))
    assert isinstance(found, Filled)
    assert set(found.errors) == {"starts_at"}


def test_of_many_incidents_the_greatest_are_in_full_and_no_other_is_lost() -> None:
    main = page("many incidents", "en").all("main")[0]
    assert len(main.all("article")) == 10
    assert "230 smaller incidents" in main.text
    assert "30 more are not listed" in main.text


def test_months_that_nobody_evaluated_are_folded_but_can_be_read() -> None:
    (older,) = [
        each for each in page("reports", "en").all("details") if each.get("id", "").startswith("older-")
    ]
    assert "1 earlier month, not evaluated" in older.text
    assert "/api/v1/reports/acme-2026/2026-08.pdf?lang=zh" in {each.get("href") for each in older.all("a")}
