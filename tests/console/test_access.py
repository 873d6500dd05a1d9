"""Who is let in: the machine's own person, tokens, sessions; forms, failures, headers. Nothing here needs a store."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from fairclock.console.access.callers import Caller, caller_of, host_of
from fairclock.console.access.doors import keep_session, sign_in, sign_out
from fairclock.console.access.failures import MOST_FAILURES, WINDOW_SECONDS, Failures
from fairclock.console.access.gate import Gate
from fairclock.console.access.headers import POLICY
from fairclock.console.access.sessions import FORM_COOKIE, SESSION_COOKIE, SESSION_SECONDS, Forms, Sessions
from fairclock.console.api.routes import api_routes
from fairclock.console.problems import answered
from fairclock.console.server import Console, console_app
from fairclock.errors import ConfigurationError, StoreUnreachable
from fairclock.store.tokens import Scope, Token, mint

NOW = datetime(2026, 11, 1, tzinfo=UTC)


def _token(name: str, scope: Scope, tenant: str = "") -> tuple[str, Token]:
    return mint(name=name, scope=scope, tenant=tenant, now=NOW)


TOKENS = dict(
    [_token("root", Scope.ADMIN), _token("acme's", Scope.TENANT, "acme"), _token("tail", Scope.COLLECTOR)]
)
ADMIN, TENANT, COLLECTOR = TOKENS


@dataclass
class Scene:
    """A console without readings; `seconds` is its clock, `noted` its audit log."""

    is_loopback: bool = False
    seconds: float = 1000.0
    known: dict[str, Token] = field(default_factory=lambda: dict(TOKENS))
    noted: list[Any] = field(default_factory=list)
    away: bool = False

    def __post_init__(self) -> None:
        gate = Gate(
            find=self._find,
            sessions=Sessions(monotonic=lambda: self.seconds),
            forms=Forms(),
            failures=Failures(monotonic=lambda: self.seconds),
            is_loopback=self.is_loopback,
        )
        self.console = Console(readings=None, gate=gate, note=self.noted.append)  # type: ignore[arg-type]

        async def page(request: Any) -> PlainTextResponse:
            caller = request.state.caller
            return PlainTextResponse(
                "nobody" if caller is None else f"{caller.name} {console.gate.form_token(request)}"
            )

        async def broken(_: Any) -> PlainTextResponse:
            raise RuntimeError("clickhouse://user:secret@host")

        async def enter(request: Any) -> PlainTextResponse:
            text = (await request.body()).decode()
            entry = await sign_in(console, request, text)
            if entry.caller is None:
                return PlainTextResponse(str(entry.refusal), 401)
            return keep_session(console, request, PlainTextResponse("in"), text)

        async def leave(request: Any) -> PlainTextResponse:
            return await sign_out(console, request, PlainTextResponse("out"))

        async def change(request: Any) -> PlainTextResponse:
            given = (await request.body()).decode()
            return (
                PlainTextResponse("changed")
                if console.gate.may_change(request, given)
                else PlainTextResponse("no", 403)
            )

        console = self.console
        self.app = console_app(
            console,
            [
                *api_routes(console),
                Route("/", page),
                Route("/change", change, methods=["POST"]),
                Route("/broken", broken),
                Route("/sign-in", page),
                Route("/sign-in", enter, methods=["POST"]),
                Route("/sign-out", leave, methods=["POST"]),
            ],
        )

    def _find(self, text: str) -> Token | None:
        if self.away:
            raise StoreUnreachable("clickhouse", "nobody answers at clickhouse://secret-host")
        return self.known.get(text)

    def client(
        self, token: str | None = None, *, host: str = "testclient", base: str = "http://testserver"
    ) -> TestClient:
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        return TestClient(
            self.app, base_url=base, headers=headers, client=(host, 5000), follow_redirects=False
        )


LOCAL = {"host": "127.0.0.1", "base": "http://127.0.0.1:8780"}


def test_whoever_sits_at_the_machine_needs_no_token():
    assert Scene(is_loopback=True).client(**LOCAL).get("/").text.startswith("local ")


@pytest.mark.parametrize(
    ("where", "headers"),
    [
        pytest.param(
            {"host": "10.0.0.7", "base": "http://127.0.0.1:8780"}, {}, id="who comes from another machine"
        ),
        pytest.param(
            {"host": "127.0.0.1", "base": "http://evil.example"}, {}, id="a site that had its name point here"
        ),
        pytest.param(LOCAL, {"X-Forwarded-For": "10.0.0.7"}, id="who comes through a proxy"),
        pytest.param(
            LOCAL, {"Forwarded": "for=10.0.0.7"}, id="who comes through a proxy that says so the other way"
        ),
        pytest.param(LOCAL, {"X-Forwarded-Proto": "https"}, id="a proxy that tells of the scheme alone"),
        pytest.param(LOCAL, {"CF-Connecting-IP": "10.0.0.7"}, id="a proxy with a header of its own"),
    ],
)
def test_somebody_else_needs_a_token_on_loopback_too(where, headers):
    answer = Scene(is_loopback=True).client(**where).get("/", headers=headers)
    assert answer.status_code == 303
    assert answer.headers["location"] == "/sign-in?next=%2F"


def test_a_plain_proxy_that_adds_no_header_is_somebody_else_by_the_http_that_it_speaks():
    app = Scene(is_loopback=True).app

    async def as_plain_proxies_do(scope, receive, send):
        await app({**scope, "http_version": "1.0"}, receive, send)

    client = TestClient(
        as_plain_proxies_do, base_url=LOCAL["base"], client=(LOCAL["host"], 5), follow_redirects=False
    )
    assert client.get("/").status_code == 303


def test_on_another_address_the_machine_itself_needs_a_token():
    assert Scene(is_loopback=False).client(**LOCAL).get("/").status_code == 303


def test_a_browser_comes_back_to_where_it_wanted_to_go():
    answer = Scene().client().get("/?range=7d&lang=zh")
    assert answer.headers["location"] == "/sign-in?next=%2F%3Frange%3D7d%26lang%3Dzh"


@pytest.mark.parametrize(
    ("token", "status"),
    [(ADMIN, 200), (TENANT, 200), (COLLECTOR, 403), ("fct_00000000_" + "x" * 43, 401), ("", 401), ("ü", 401)],
    ids=[
        "an administrator's",
        "a tenant's",
        "a collector's",
        "an unknown one",
        "an empty one",
        "one that is none",
    ],
)
def test_tokens(token, status):
    answer = Scene().client().get("/api/v1/self", headers={"Authorization": f"Bearer {token}".encode()})
    assert answer.status_code == status
    if status != 200:
        assert answer.json()["status"] == status
        assert answer.headers["content-type"] == "application/problem+json"


def test_what_a_token_may_see_is_said():
    assert Scene().client(TENANT).get("/api/v1/self").json() == {
        "name": "acme's", "scope": "tenant", "tenant": "acme", "sees_machines": False, "may_propose": False,
        "may_audit": False,
    }  # fmt: skip


def test_a_tenants_token_without_a_tenant_sees_nothing():
    _, token = _token("broken", Scope.TENANT, "x")
    from dataclasses import replace

    assert caller_of(replace(token, tenant="")) is None


@given(st.sets(st.text(max_size=5), max_size=4), st.text(max_size=5))
def test_figures_of_several_tenants_together_are_for_none_of_them(tenants, tenant):
    caller = Caller(name="t", scope=Scope.TENANT, tenant=tenant)
    assert caller.may_see(tenants) == (tenants == {tenant})


def test_failures_are_limited_by_address_and_the_wait_is_said():
    scene = Scene()
    for _ in range(MOST_FAILURES):
        assert scene.client("wrong", host="10.0.0.7").get("/api/v1/self").status_code == 401
    answer = scene.client("wrong", host="10.0.0.7").get("/api/v1/self")
    assert answer.status_code == 429
    assert 1 <= int(answer.headers["retry-after"]) <= WINDOW_SECONDS + 1
    assert scene.client(ADMIN, host="10.0.0.7").get("/api/v1/self").status_code == 429, (
        "the right one is no exception"
    )
    assert scene.client(ADMIN, host="10.0.0.8").get("/api/v1/self").status_code == 200
    scene.seconds += WINDOW_SECONDS
    assert scene.client(ADMIN, host="10.0.0.7").get("/api/v1/self").status_code == 200


def test_failures_at_the_door_count_like_those_of_requests():
    scene = Scene()
    client = scene.client(host="10.0.0.7")
    for _ in range(MOST_FAILURES):
        assert client.post("/sign-in", content="wrong").status_code == 401
    assert client.post("/sign-in", content=ADMIN).text == "too many failures from this address"


@pytest.mark.parametrize(
    ("address", "other", "is_one"),
    [
        pytest.param("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", True, id="one network of IPv6"),
        pytest.param("2001:db8:1:2::1", "2001:db8:1:3::1", False, id="two networks of IPv6"),
        pytest.param("10.0.0.7", "::ffff:10.0.0.7", True, id="IPv4 within IPv6"),
        pytest.param("::ffff:10.0.0.7", "::ffff:10.0.0.8", False, id="two of IPv4 within IPv6"),
        pytest.param("fe80::1%eth0", "fe80::2%eth0", True, id="with a zone"),
        pytest.param("", "10.0.0.7", False, id="none"),
    ],
)
def test_whoever_has_many_addresses_of_one_network_waits_for_all_of_them(address, other, is_one):
    failures = Failures(monotonic=lambda: 1.0)
    for _ in range(MOST_FAILURES):
        failures.count(address)
    assert bool(failures.wait_seconds(other)) is is_one


def test_who_has_to_wait_fills_neither_the_log_nor_the_store():
    scene = Scene()
    client = scene.client(host="10.0.0.7")
    for _ in range(MOST_FAILURES + 25):
        client.post("/sign-in", content="wrong")
        client.get("/api/v1/self", headers={"Authorization": "Bearer wrong"})
    assert len(scene.noted) == MOST_FAILURES


def test_a_token_for_something_else_is_a_failure_too():
    scene = Scene()
    for _ in range(MOST_FAILURES):
        assert scene.client(COLLECTOR, host="10.0.0.7").get("/api/v1/self").status_code == 403
    assert scene.client(COLLECTOR, host="10.0.0.7").get("/api/v1/self").status_code == 429


def test_nobody_ends_the_sessions_of_others_by_beginning_many():
    scene = Scene()
    admin, tenant = scene.client(), scene.client(host="10.0.0.8")
    admin.post("/sign-in", content=ADMIN)
    for _ in range(1_100):
        scene.console.gate.sessions.begin(TENANT)
    assert admin.get("/").text.startswith("root ")
    tenant.post("/sign-in", content=TENANT)
    assert tenant.get("/").text.startswith("acme's "), "the oldest of its own end"


def test_failures_of_others_do_not_end_a_session_or_lock_out_the_machines_own_person():
    scene = Scene(is_loopback=True)
    signed_in = scene.client(host="127.0.0.1", base="http://console.example")
    assert signed_in.post("/sign-in", content=TENANT).text == "in"
    for _ in range(MOST_FAILURES + 1):
        scene.client("wrong", host="127.0.0.1").get("/api/v1/self")
    assert signed_in.get("/").text.startswith("acme's ")
    assert scene.client(**LOCAL).get("/").text.startswith("local ")


def test_who_failed_and_who_came_in_is_noted_and_no_token_stands_in_it():
    scene = Scene()
    client = scene.client(host="10.0.0.7")
    client.post("/sign-in", content="fct_secret")
    client.post("/sign-in", content=ADMIN)
    client.post("/sign-out")
    scene.client("wrong", host="10.0.0.8").get("/api/v1/self")
    said = [(each.action, each.who, each.outcome, each.address) for each in scene.noted]
    assert said == [
        ("sign in", "", "the token is not known here, or was revoked", "10.0.0.7"),
        ("sign in", "root", "let in", "10.0.0.7"),
        ("sign out", "root", "signed out", "10.0.0.7"),
        ("token", "", "the token is not known here, or was revoked", "10.0.0.8"),
    ]
    assert not any(text in repr(scene.noted) for text in (*TOKENS, "fct_secret"))


def test_a_session_is_known_until_it_ends():
    scene = Scene()
    client = scene.client()
    answer = client.post("/sign-in", content=TENANT)
    cookie = answer.headers["set-cookie"]
    assert {"HttpOnly", "SameSite=strict"} <= {each.strip() for each in cookie.split(";")}
    assert TENANT not in cookie, "the cookie names a session, not the token"
    assert client.get("/").text.startswith("acme's ")
    scene.seconds += SESSION_SECONDS
    assert client.get("/").status_code == 303


@pytest.mark.parametrize("end", ["sign out", "revoke"], ids=["by signing out", "with its token"])
def test_a_session_ends(end):
    scene = Scene()
    client = scene.client()
    client.post("/sign-in", content=TENANT)
    name = client.cookies[SESSION_COOKIE]
    if end == "sign out":
        client.post("/sign-out")
    else:
        del scene.known[TENANT]
    client.cookies.set(SESSION_COOKIE, name)
    assert client.get("/").status_code == 303


def test_a_session_begins_under_a_new_name():
    scene = Scene()
    client = scene.client()
    answer = client.post(
        "/sign-in", content=TENANT, headers={"Cookie": f"{SESSION_COOKIE}=chosen-by-another"}
    )
    assert "chosen-by-another" not in answer.headers["set-cookie"]
    other = scene.client()
    assert other.get("/", headers={"Cookie": f"{SESSION_COOKIE}=chosen-by-another"}).status_code == 303


class TestForms:
    """A change comes from a form that this browser was given here."""

    def test_a_form_of_this_browser_changes_something(self):
        client = Scene(is_loopback=True).client(**LOCAL)
        given = client.get("/").text.split()[1]
        assert client.post("/change", content=given).text == "changed"

    @pytest.mark.parametrize("given", ["", "0" * 64, "ü"], ids=["none", "a guess", "nonsense"])
    def test_without_its_token_it_does_not(self, given):
        client = Scene(is_loopback=True).client(**LOCAL)
        client.get("/")
        assert client.post("/change", content=given).status_code == 403

    def test_a_form_of_another_browser_does_not(self):
        scene = Scene(is_loopback=True)
        given = scene.client(**LOCAL).get("/").text.split()[1]
        mine = scene.client(**LOCAL)
        mine.get("/")
        assert mine.post("/change", content=given).status_code == 403

    def test_a_form_from_before_signing_in_does_not(self):
        scene = Scene()
        client = scene.client()
        client.post("/sign-in", content=ADMIN)
        given = client.get("/").text.split()[1]
        client.post("/sign-in", content=TENANT)
        assert client.post("/change", content=given).status_code == 403

    @pytest.mark.parametrize(
        "headers",
        [
            {"Sec-Fetch-Site": "cross-site"},
            {"Sec-Fetch-Site": "same-site"},
            {"Origin": "http://evil.example"},
            {"Origin": "null"},
        ],
        ids=["as browsers say now", "a neighbour", "as they always said", "a sandbox"],
    )
    def test_a_form_on_another_site_does_not(self, headers):
        client = Scene(is_loopback=True).client(**LOCAL)
        given = client.get("/").text.split()[1]
        assert client.post("/change", content=given, headers=headers).status_code == 403

    def test_the_api_takes_no_change_from_a_browser_without_it(self):
        client = Scene(is_loopback=True).client(**LOCAL)
        answer = client.post("/api/v1/exclusions", json={})
        assert answer.status_code == 403
        assert answer.json()["type"] == "urn:fairclock:problem:no-form-token"
        given = client.get("/api/v1/session").json()["form_token"]
        assert client.post("/api/v1/exclusions", json={}, headers={"X-Form-Token": given}).status_code == 422
        assert Scene().client(ADMIN).post("/api/v1/exclusions", json={}).status_code == 422, (
            "a token is no browser's"
        )

    def test_a_plain_form_cannot_reach_the_api(self):
        answer = Scene(is_loopback=True).client(**LOCAL).post("/api/v1/exclusions", data={"contract": "x"})
        assert answer.status_code == 415


@pytest.mark.parametrize(
    "path", ["/", "/api/v1/self", "/api/v1/openapi.json", "/api/v1/nothing", "/nothing", "/sign-in"]
)
@pytest.mark.parametrize("who", [None, ADMIN], ids=["nobody", "an administrator"])
def test_every_answer_carries_the_headers(path, who):
    answer = Scene().client(who).get(path)
    assert answer.headers["content-security-policy"] == POLICY
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["x-frame-options"] == "DENY"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["cache-control"] == "no-store"


def test_the_policy_lets_nothing_in_from_elsewhere():
    assert "unsafe" not in POLICY
    assert "http" not in POLICY
    assert POLICY.startswith("default-src 'none'")


def test_while_the_store_is_away_nobody_is_let_in_and_nothing_of_it_is_told():
    scene = Scene(away=True)
    answer = scene.client(ADMIN).get("/api/v1/self")
    assert answer.status_code == 503
    assert answer.headers["retry-after"]
    assert "secret-host" not in answer.text


def test_a_fault_of_the_program_is_answered_under_the_headers_and_nothing_of_it_is_told():
    answer = Scene().client(ADMIN).get("/broken")
    assert (answer.status_code, answer.json()["type"]) == (500, "urn:fairclock:problem:failure")
    assert "secret" not in answer.text
    assert answer.headers["content-security-policy"] == POLICY


def test_an_error_that_is_not_the_questions_tells_no_file():
    answer = answered(ConfigurationError("/etc/fairclock/prices.yaml", "cannot be read"))
    assert answer.status_code == 500
    assert b"prices.yaml" not in answer.body


def test_a_name_in_host_is_never_where_a_browser_is_sent():
    answer = Scene().client(ADMIN).get("/sign-in/", headers={"Host": "evil.example"})
    assert answer.status_code == 404
    assert "location" not in answer.headers


def test_cookies_travel_by_https_alone_where_there_is_https():
    from dataclasses import replace

    scene = Scene()
    app = console_app(replace(scene.console, is_secure=True), [Route("/", lambda _: PlainTextResponse(""))])
    cookie = TestClient(app, headers={"Authorization": f"Bearer {ADMIN}"}).get("/").headers["set-cookie"]
    assert cookie.startswith(FORM_COOKIE)
    assert "Secure" in cookie


@pytest.mark.parametrize(
    ("header", "host"),
    [
        ("localhost:8780", "localhost"),
        ("[::1]:8780", "::1"),
        ("127.0.0.1", "127.0.0.1"),
        ("::1", "::1"),
        ("", ""),
    ],
)
def test_the_name_in_a_host_header(header, host):
    assert host_of(header) == host
