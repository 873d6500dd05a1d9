"""The console in a real browser: every page, both languages, both themes, on a desk and on a phone."""

from __future__ import annotations

import shutil
from importlib import resources
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import Browser, Page, Request, Route, sync_playwright

from tests.console.pages_server import HandMade, served

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.integration
PAGES = [
    "/", "/tenants/acme", "/requests", "/requests/1-00000000000000000000000000000000-0", "/incidents", "/cost", "/probes", "/sources",
    "/reports", "/exclusions", "/changes", "/method", "/sign-in", "/nowhere",
]  # fmt: skip
SIZES = {"desk": (1280, 800), "phone": (360, 740)}
CASES = [
    # width goes by language and size, colours by theme: every pair of the three is there, all of them in the soak
    pytest.param(code, theme, size, marks=() if (code == "zh") ^ (theme == "dark") ^ (size == "phone") else pytest.mark.soak)
    for code in ("en", "zh") for theme in ("light", "dark") for size in SIZES
]  # fmt: skip
AXE = (resources.files("axe_core_python") / "axe.min.js").read_text(encoding="utf-8")
SERIOUS = """
    axe.run(document, {resultTypes: ["violations"]}).then(found => found.violations
        .filter(each => ["serious", "critical"].includes(each.impact))
        .map(each => `${each.id}: ${each.nodes.map(node => node.target.join(" ")).slice(0, 5).join(" | ")}`))
"""
WAIT_MS = 90_000


@pytest.fixture(scope="module")
def readings() -> HandMade:
    return HandMade()


@pytest.fixture(scope="module")
def address(readings: HandMade) -> Iterator[str]:
    with served(readings) as found:
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    program = shutil.which("chromium")
    assert program, "Chromium is not installed: apt-get install chromium"
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield started
        started.close()


def opened(
    browser: Browser, *, theme: str = "light", size: str = "desk", **more: Any
) -> tuple[Page, list[str]]:
    width, height = SIZES[size]
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=theme, reduced_motion="reduce", **more
    )
    page = context.new_page()
    page.set_default_timeout(WAIT_MS)
    wrong: list[str] = []
    page.on("console", lambda said: wrong.append(said.text) if said.type in {"error", "warning"} else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("requestfailed", lambda request: wrong.append(f"{request.url}: {request.failure}"))
    return page, wrong


def expected(wrong: list[str]) -> list[str]:
    """Return what went wrong, but for the one page that is not there and icons that the next page did not wait for."""
    return [each for each in wrong if "404" not in each and "ERR_ABORTED" not in each]


@pytest.mark.parametrize(("code", "theme", "size"), CASES)
def test_no_page_says_an_error_or_is_wider_than_its_window(
    browser: Browser, address: str, code: str, theme: str, size: str
) -> None:
    page, wrong = opened(browser, theme=theme, size=size)
    for path in PAGES:
        page.goto(f"{address}{path}?lang={code}")
        beyond = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert beyond <= 0, f"{path} is {beyond} px wider than its window"
    assert expected(wrong) == []
    page.context.close()


RICH = ["/", "/tenants/acme", "/requests", "/exclusions"]


@pytest.mark.parametrize(
    ("code", "look", "paths"),
    [
        pytest.param("en", ("light", "desk"), PAGES, id="every page, light, on a desk"),
        pytest.param("zh", ("dark", "phone"), PAGES, id="every page, dark, on a phone"),
        pytest.param(
            "zh", ("dark", "desk"), RICH, id="the richest pages, dark, on a desk", marks=pytest.mark.soak
        ),
        pytest.param(
            "en", ("light", "phone"), RICH, id="the richest pages, light, on a phone", marks=pytest.mark.soak
        ),
    ],
)
def test_an_accessibility_checker_finds_nothing_serious(
    browser: Browser, address: str, code: str, look: tuple[str, str], paths: list[str]
) -> None:
    page, _ = opened(browser, theme=look[0], size=look[1], bypass_csp=True)
    found = {}
    for path in paths:
        page.goto(f"{address}{path}?lang={code}")
        page.evaluate(
            "document.querySelectorAll('details:not(.data), .card:nth-child(-n+3) .data')"
            ".forEach(each => each.open = true)"
        )
        page.evaluate(AXE)
        if violations := page.evaluate(SERIOUS):
            found[path] = violations
    assert found == {}
    page.context.close()


def test_the_checker_would_say_so(browser: Browser, address: str) -> None:
    page, _ = opened(browser, bypass_csp=True)
    page.goto(f"{address}/?lang=en")
    page.evaluate("document.querySelector('.brand').innerHTML = '<img src=\"/static/icon.svg\">'")
    page.evaluate(AXE)
    assert [each.split(":")[0] for each in page.evaluate(SERIOUS)] == ["image-alt", "link-name"]
    page.context.close()


def test_the_skip_link_comes_first_and_leads_to_the_content(browser: Browser, address: str) -> None:
    page, _ = opened(browser)
    page.goto(f"{address}/?lang=en")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"
    page.context.close()


def test_a_chart_is_walked_by_arrow_keys_and_says_each_point(browser: Browser, address: str) -> None:
    page, _ = opened(browser)
    page.goto(f"{address}/tenants/acme?lang=en")
    chart = page.locator("[data-chart]").first
    chart.focus()
    last = chart.get_attribute("aria-valuetext")
    chart.press("ArrowLeft")
    before = chart.get_attribute("aria-valuetext")
    assert before != last
    assert "With queueing" in (before or "")
    assert page.locator(".readout").first.inner_text() == before
    chart.press("Home")
    assert chart.get_attribute("aria-valuenow") == "1"
    page.context.close()


def test_an_update_keeps_focus_open_lists_and_scroll_and_stops_while_hidden(
    browser: Browser, address: str
) -> None:
    page, wrong = opened(browser)
    page.clock.install()
    page.goto(f"{address}/tenants/acme?lang=en")
    page.locator("details.data").first.evaluate("each => each.open = true")
    link = page.locator("[data-live] a.how").nth(3)
    link.focus()
    page.evaluate("window.scrollTo(0, 500); document.querySelector('[data-live]').dataset.old = '1'")
    scrolled = page.evaluate("window.scrollY")
    assert scrolled > 0
    page.clock.run_for(16_000)
    page.wait_for_selector("[data-live]:not([data-old])")
    assert page.locator("details.data").first.evaluate("each => each.open")
    assert page.evaluate("document.activeElement.className") == "how"
    assert page.evaluate("window.scrollY") == scrolled
    page.evaluate(
        "Object.defineProperty(document, 'hidden', {value: true}); document.dispatchEvent(new Event('visibilitychange'));"
        " window.asked = 0; const real = window.fetch; window.fetch = (...all) => { window.asked += 1; return real(...all); }; null"
    )
    page.clock.run_for(120_000)
    assert page.evaluate("window.asked") == 0
    assert expected(wrong) == []
    page.context.close()


def test_updates_can_be_paused_and_resumed(browser: Browser, address: str) -> None:
    page, _ = opened(browser)
    page.clock.install()
    page.goto(f"{address}/?lang=en")
    page.get_by_role("button", name="Pause").click()
    page.evaluate("document.querySelector('[data-live]').dataset.old = '1'")
    page.clock.run_for(120_000)
    assert page.evaluate("document.querySelector('[data-live]').dataset.old") == "1"
    page.get_by_role("button", name="Resume").click()
    page.wait_for_selector("[data-live]:not([data-old])")
    page.context.close()


def test_an_update_that_was_asked_for_before_a_pause_is_not_shown_after_it(
    browser: Browser, address: str
) -> None:
    page, _ = opened(browser)
    page.clock.install()
    page.goto(f"{address}/?lang=en")
    held: list[Route] = []

    def is_update(request: Request) -> bool:
        return "x-update" in request.headers

    def hold(route: Route) -> None:
        if is_update(route.request):
            held.append(route)
        else:
            route.continue_()

    page.route("**/*", hold)
    with page.expect_request(is_update):
        page.clock.run_for(16_000)
    page.get_by_role("button", name="Pause").click()
    page.evaluate("document.querySelector('[data-live]').dataset.old = '1'")
    with page.expect_event("requestfinished", is_update):
        held[0].continue_()
    page.clock.run_for(1_000)
    assert page.evaluate("document.querySelector('[data-live]').dataset.old") == "1"
    page.unroute("**/*")
    page.get_by_role("button", name="Resume").click()
    page.wait_for_selector("[data-live]:not([data-old])")
    page.context.close()


def test_figures_that_are_no_longer_updated_say_so(browser: Browser, address: str) -> None:
    page, _ = opened(browser)
    page.clock.install()
    page.goto(f"{address}/?lang=en")
    page.route("**/*", lambda route: route.abort())
    page.clock.run_for(16_000)
    page.wait_for_selector(".updated.is-late")
    assert "figures are old" in page.locator("#updated").inner_text()
    assert page.locator("[data-live]").count() == 1
    page.context.close()


def test_what_changes_the_state_is_said_aloud_and_nothing_else(
    browser: Browser, address: str, readings: HandMade
) -> None:
    page, _ = opened(browser)
    page.clock.install()
    page.goto(f"{address}/tenants/acme?lang=en")
    page.evaluate("document.querySelector('[data-live]').dataset.old = '1'")
    page.clock.run_for(16_000)
    page.wait_for_selector("[data-live]:not([data-old])")
    assert page.locator("#announcer").inner_text() == ""
    readings.empty = True
    page.clock.run_for(16_000)
    page.locator("#announcer", has_text="Alerts firing: 0.").wait_for(state="attached")
    readings.empty = False
    page.context.close()


def test_everything_is_there_without_scripts(browser: Browser, address: str) -> None:
    page, _ = opened(browser, java_script_enabled=False)
    page.goto(f"{address}/tenants/acme?lang=zh")
    assert page.locator("svg[role=img]").count() > 10
    assert page.locator("h2").first.is_visible()
    page.locator("a[hreflang=en]").click()
    assert page.locator("html").get_attribute("lang") == "en"
    page.context.close()
