"""Pages over HTTP, through the real guard: choices kept, forms held to their token, problems said as pages."""

from __future__ import annotations

import re
from typing import Any

import httpx
import pytest

from fairclock.console.access.headers import POLICY
from fairclock.console.pages.looking import safe_way
from tests.console.pages_reader import read
from tests.console.pages_server import HandMade, application

pytestmark = pytest.mark.anyio
PAGES = [
    "/", "/tenants/acme", "/requests", "/requests/1-00000000000000000000000000000000-0", "/incidents", "/cost", "/probes", "/sources",
    "/reports", "/exclusions", "/changes", "/method", "/sign-in",
]  # fmt: skip


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def client(readings: Any = None, *, is_loopback: bool = True, **more: Any) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(
        app=application(readings or HandMade(), is_loopback=is_loopback), client=("127.0.0.1", 5)
    )
    return httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", **more)


async def form_token(browser: httpx.AsyncClient, path: str) -> str:
    html = (await browser.get(path)).text
    found = re.search(r'name="form_token" value="([^"]+)"', html)
    assert found
    return found[1]


@pytest.mark.parametrize("path", PAGES)
async def test_every_page_is_answered_under_the_policy(path: str) -> None:
    async with client() as browser:
        answer = await browser.get(path)
    assert answer.status_code == 200
    assert answer.headers["content-security-policy"] == POLICY
    assert answer.headers["cache-control"] == "no-store"
    read(answer.text)


@pytest.mark.parametrize("path", PAGES)
async def test_every_page_loads_only_what_is_there(path: str) -> None:
    async with client() as browser:
        document = read((await browser.get(path)).text)
        loaded = [each.get("href") for each in document.all("link")] + [
            each.get("src") for each in document.all("script")
        ]
        assert len(loaded) == 6
        for each in loaded:
            assert (await browser.get(each or "")).status_code == 200


@pytest.mark.parametrize(
    ("address", "headers", "tag"),
    [
        pytest.param("/", {}, "en", id="English, where nothing is asked for"),
        pytest.param("/", {"accept-language": "zh-CN,zh;q=0.9,en;q=0.8"}, "zh-Hans", id="what the browser asks for first"),
        pytest.param("/", {"accept-language": "fr,en;q=0.4,zh;q=0.7"}, "zh-Hans", id="what weighs most of what there is"),
        pytest.param("/", {"accept-language": "en;q=x,zh;q=;;,*"}, "en", id="nonsense is nothing"),
        pytest.param("/?lang=zh", {"accept-language": "en"}, "zh-Hans", id="the address wins over the browser"),
        pytest.param("/?lang=xx", {"cookie": "fairclock_language=zh"}, "zh-Hans", id="the cookie, where the address names no language"),
    ],
)  # fmt: skip
async def test_the_language_is_chosen(address: str, headers: dict[str, str], tag: str) -> None:
    async with client() as browser:
        (root,) = read((await browser.get(address, headers=headers)).text).all("html")
    assert root.get("lang") == tag


async def test_language_and_theme_are_remembered_and_leave_the_address() -> None:
    async with client() as browser:
        await browser.get("/?lang=zh&theme=dark")
        answer = await browser.get("/cost")
        (root,) = read(answer.text).all("html")
        assert (root.get("lang"), root.get("data-theme")) == ("zh-Hans", "dark")
        links = (
            read((await browser.get("/incidents?range=7d&lang=en&theme=light")).text).all("nav")[0].all("a")
        )
    assert {each.get("href") for each in links} >= {"/cost?range=7d"}


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        pytest.param("/nowhere", 404, "There is nothing here", id="an address that leads nowhere"),
        pytest.param("/tenants/nobody", 404, "There is nothing here", id="a tenant that is not shown"),
        pytest.param("/tenants/away", 503, "The store does not answer", id="a store that is away"),
        pytest.param("/tenants/busy", 503, "This takes too long", id="an answer that takes too long"),
        pytest.param("/tenants/early", 422, "There is no answer yet", id="no data yet"),
        pytest.param("/cost?range=9y", 422, "That cannot be asked", id="a range that is none"),
        pytest.param("/cost?month=2026-13", 422, "That cannot be asked", id="a month that is none"),
        pytest.param("/cost?month=0001-01", 422, "That cannot be asked", id="a month of year one"),
        pytest.param("/cost?month=9998-12", 422, "That cannot be asked", id="a month too far away"),
        pytest.param("/requests/%2e%2e%2fetc", 404, "There is nothing here", id="a way out of the requests"),
        pytest.param("/requests/1-x", 422, "That cannot be asked", id="a key that is none"),
        pytest.param("/requests?name=%00", 422, "That cannot be asked", id="an id that cannot be printed"),
    ],
)
async def test_a_problem_is_a_page_that_says_what_to_do(path: str, status: int, said: str) -> None:
    async with client() as browser:
        answer = await browser.get(path)
    assert answer.status_code == status
    assert said in read(answer.text).all("main")[0].text
    assert answer.headers["content-security-policy"] == POLICY
    assert ("retry-after" in answer.headers) == (status == 503)


@pytest.mark.parametrize(
    ("token", "times", "status", "said"),
    [
        pytest.param("made-up", 1, 401, "You are not signed in", id="a token that is none"),
        pytest.param("collector-token", 1, 403, "You may not do that", id="a collector's token"),
        pytest.param("made-up", 11, 429, "Too many tries", id="too many failures"),
    ],
)
async def test_a_browser_that_is_turned_away_is_told_by_a_page(
    token: str, times: int, status: int, said: str
) -> None:
    async with client(headers={"Authorization": f"Bearer {token}"}) as browser:
        for _ in range(times):
            answer = await browser.get("/cost")
    assert answer.status_code == status
    assert said in read(answer.text).all("main")[0].text
    assert ("retry-after" in answer.headers) == (status == 429)
    assert answer.headers["content-security-policy"] == POLICY


async def test_who_tries_too_often_to_sign_in_is_told_by_a_page() -> None:
    async with client(is_loopback=False) as browser:
        form = {"form_token": await form_token(browser, "/sign-in"), "token": "made up", "next": "/"}
        for _ in range(11):
            answer = await browser.post("/sign-in", data=form)
    assert answer.status_code == 429
    assert "Too many tries" in read(answer.text).all("main")[0].text


async def test_a_fault_of_the_program_is_a_page_and_nothing_of_it_is_told() -> None:
    readings = HandMade()

    async def broken(_: Any) -> Any:
        raise RuntimeError("clickhouse://user:secret@host")

    readings.overview = broken  # type: ignore[method-assign]
    async with client(readings) as browser:
        answer = await browser.get("/")
    assert answer.status_code == 500
    assert "The console failed" in read(answer.text).all("main")[0].text
    assert "secret" not in answer.text
    assert answer.headers["content-security-policy"] == POLICY


async def test_an_address_with_parameters_that_no_page_knows_is_answered() -> None:
    async with client() as browser:
        assert (await browser.get("/?utm_source=mail&range=")).status_code == 200


async def test_a_proposal_is_made_by_the_form() -> None:
    readings = HandMade()
    async with client(readings) as browser:
        form = {
            "form_token": await form_token(browser, "/exclusions"), "clause_of": "acme-2026/maintenance",
            "starts_at": "2026-10-14T22:00", "ends_at": "2026-10-14T23:00", "reason": "Driver update", "author": "ops",
            "notice_to": "a@x.example, b@x.example", "recurrence": "", "evidence": "", "notice_at": "",
        }  # fmt: skip
        answer = await browser.post("/exclusions", data=form)
    assert answer.status_code == 200
    (proposal,) = readings.proposals
    assert proposal.notice_to == ("a@x.example", "b@x.example")
    assert "Proposed as x-7f3a" in read(answer.text).all("main")[0].text


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        pytest.param({"form_token": "made up"}, 403, id="without the form's token"),
        pytest.param({"starts_at": "soon"}, 422, id="with a time that is none"),
        pytest.param({"reason": "refuse me"}, 422, id="against the contract"),
        pytest.param({"reason": "x" * 2001}, 422, id="with a reason that is too long"),
        pytest.param({"reason": "   "}, 422, id="without a reason"),
    ],
)
async def test_a_proposal_is_refused_and_kept_nowhere(changes: dict[str, str], status: int) -> None:
    readings = HandMade()
    async with client(readings) as browser:
        form = {
            "form_token": await form_token(browser, "/exclusions"), "clause_of": "acme-2026/maintenance",
            "starts_at": "2026-10-14T22:00", "reason": "Driver update", "author": "ops",
        }  # fmt: skip
        answer = await browser.post("/exclusions", data=form | changes)
    assert answer.status_code == status
    assert readings.proposals == []
    read(answer.text)


async def test_a_form_of_another_site_changes_nothing() -> None:
    readings = HandMade()
    async with client(readings) as browser:
        form = {
            "form_token": await form_token(browser, "/exclusions"),
            "clause_of": "acme-2026/maintenance", "starts_at": "2026-10-14T22:00", "reason": "x", "author": "y",
        }  # fmt: skip
        answer = await browser.post("/exclusions", data=form, headers={"origin": "https://elsewhere.example"})
    assert answer.status_code == 403
    assert readings.proposals == []


async def test_a_form_that_is_too_large_is_not_read() -> None:
    async with client() as browser:
        answer = await browser.post("/exclusions", content=b"a=" + b"x" * (65 << 10))
    assert answer.status_code == 422


async def test_somebody_signs_in_and_out() -> None:
    readings = HandMade()
    async with client(readings, is_loopback=False) as browser:
        turned_away = await browser.get("/cost?range=month")
        assert turned_away.status_code == 303
        way = turned_away.headers["location"]
        token = await form_token(browser, way)
        form = {"form_token": token, "token": "tenant-token", "next": "/cost?range=month"}
        entered = await browser.post("/sign-in", data=form)
        assert (entered.status_code, entered.headers["location"]) == (303, "/cost?range=month")
        assert (await browser.get("/")).status_code == 200
        assert readings.callers[-1].tenant == "云帆金融"
        left = await browser.post("/sign-out", data={"form_token": await form_token(browser, "/")})
        assert left.status_code == 303
        assert (await browser.get("/")).status_code == 303


@pytest.mark.parametrize(
    ("token", "status", "said"),
    [
        pytest.param("made up", 401, "not known here", id="a token that is none"),
        pytest.param("", 401, "not known here", id="no token"),
        pytest.param("collector-token", 401, "something else than the console", id="a collector's token"),
    ],
)
async def test_nobody_signs_in_with_the_wrong_token(token: str, status: int, said: str) -> None:
    async with client(is_loopback=False) as browser:
        form = {"form_token": await form_token(browser, "/sign-in"), "token": token, "next": "/"}
        answer = await browser.post("/sign-in", data=form)
    assert answer.status_code == status
    assert said in read(answer.text).all("main")[0].text


async def test_signing_in_without_the_forms_token_is_refused() -> None:
    async with client(is_loopback=False) as browser:
        answer = await browser.post("/sign-in", data={"token": "admin-token", "next": "/"})
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers or "fairclock_session" not in answer.headers["set-cookie"]


@pytest.mark.parametrize(
    ("text", "way"),
    [
        ("/tenants/acme?range=7d", "/tenants/acme?range=7d"),
        ("//elsewhere.example", "/"),
        ("/\\elsewhere.example", "/"),
        ("https://elsewhere.example", "/"),
        ("/a\r\nSet-Cookie: x", "/"),
        ("javascript:alert(1)", "/"),
        ("", "/"),
    ],
)
async def test_signing_in_leads_nowhere_else(text: str, way: str) -> None:
    assert safe_way(text) == way
