"""A tenant's token sees only that tenant, on every page and endpoint that the application has."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from starlette.routing import Mount, Route

from fairclock.console.api.endpoints import ENDPOINTS
from tests.console.scene import FOREIGN, MINE, OTHER

FIGURE = re.compile(r"(?<![0-9A-Za-z.])777,?777(?![0-9A-Za-z])")
"""How many requests only the other tenant was charged for; digits of a hash, an id, an instant or a ratio are no figure."""


@pytest.fixture(scope="module")
def names(looking) -> dict[str, dict[str, str]]:
    """What stands for the parameters of paths, of each tenant: found as an administrator."""
    found = {}
    for tenant in (MINE, OTHER):
        rows = looking.get("/requests", range="24h", tenant=tenant, most=1)["requests"]
        found[tenant] = {
            "tenant": tenant,
            "contract": f"{tenant}-agreement",
            "key": rows[0]["key"],
            "file": f"{looking.scene.month}.json",
        }
    return found


def walked(app: Any) -> list[tuple[str, str]]:
    """Return (method, path) of every route of the application; static files apart, which are everybody's."""
    found = []
    for route in app.routes:
        if isinstance(route, Route):
            found += [(method, route.path) for method in sorted(route.methods or ()) if method != "HEAD"]
        else:
            assert isinstance(route, Mount), route
            assert route.path == "/static", route.path
    return found


def addresses(looking, names: dict[str, str], *, ranges: tuple[str, ...] = ()) -> list[tuple[str, str]]:
    """Return every GET address, and of the API with each of `ranges` too where it knows ranges."""
    found = []
    parameters = {each.path: {p.name for p in each.parameters} for each in ENDPOINTS if each.method == "GET"}
    for method, path in walked(looking.app):
        if method != "GET":
            continue
        address = re.sub(r"\{(\w+)\}", lambda match: names[match[1]], path)
        known = parameters.get(path.removeprefix("/api/v1"), set())
        # pages render what the API answers to the same question
        known = known if path.startswith("/api/") else set()
        queries = ["", *(f"?range={each}" for each in ranges if "range" in known)]
        found += [(path, f"{address}{query}") for query in queries]
    return found


def test_every_endpoint_has_a_route(looking):
    routes = set(walked(looking.app))
    assert {(each.method, f"/api/v1{each.path}") for each in ENDPOINTS} <= routes
    assert len(routes) > len(ENDPOINTS)


def test_nothing_of_the_other_tenant_is_on_any_page_or_endpoint(looking, names):
    client = looking.client("mine")
    shown = 0
    for path, address in addresses(looking, names[MINE], ranges=("7d", "month")):
        answer = client.get(address)
        assert answer.status_code in {200, 204, 303, 403}, (address, answer.status_code, answer.text[:300])
        _nothing_foreign(answer.content.decode("utf-8", "replace"), address)
        _nothing_foreign(json.dumps(dict(answer.headers)), address)
        shown += MINE in answer.text and path != "/api/v1/openapi.json"
    assert shown > 15, "its own figures are there"


def test_what_is_searched_for_is_there_for_an_administrator(looking, names):
    client = looking.client("admin")
    found = [address for path, address in addresses(looking, names[OTHER]) if path.startswith("/api/")]
    everything = "".join(client.get(address).text for address in found)
    for word in FOREIGN:
        assert word in everything, word
    assert FIGURE.search(everything)


def test_the_other_tenants_addresses_are_as_if_they_were_not_there(looking, names):
    client = looking.client("mine")
    for path, address in addresses(looking, names[OTHER]):
        if "{" not in path:
            continue
        answer = client.get(address)
        assert answer.status_code == 404, (address, answer.status_code)
        text = answer.text
        for each in names[OTHER].values():  # what was asked for may be said back
            text = text.replace(each, "")
        _nothing_foreign(text, address)


@pytest.mark.parametrize(
    "query", [{"tenant": OTHER}, {"contract": f"{OTHER}-agreement"}], ids=["tenant", "contract"]
)
def test_the_other_tenant_cannot_be_asked_for_by_a_parameter(looking, query):
    client = looking.client("mine")
    (name,) = query
    asked = [each for each in ENDPOINTS if name in {p.name for p in each.parameters if p.place == "query"}]
    assert asked
    for endpoint in asked:
        path = endpoint.path.replace("{tenant}", MINE)
        for prefix in ("/api/v1", ""):
            answer = client.get(f"{prefix}{path}", params=query)
            assert answer.status_code == 404, (path, answer.status_code)
            assert not FIGURE.search(answer.text)
            assert "quagga" not in answer.text


@pytest.mark.parametrize("name", ["request_id", "trace_id"])
def test_the_other_tenants_request_is_not_found_by_its_ids(looking, name):
    theirs = looking.get("/requests", range="24h", tenant=OTHER, most=1)["requests"][0][name]
    assert looking.get("/requests", range="24h", name=theirs)["requests"]
    assert looking.get("/requests", "mine", range="24h", name=theirs)["requests"] == []


def test_a_token_of_nobodys_tenant_sees_no_figures(looking, names):
    client = looking.client("stranger")
    for _, address in addresses(looking, names[MINE]):
        answer = client.get(address)
        text = answer.text
        for each in names[MINE].values():
            text = text.replace(each, "")
        _nothing_foreign(text, address)
        for word in ("Acme", "deepseek", "10.0.0.1"):
            assert word not in text, (address, word)


def test_changing_routes_refuse_a_tenant(looking):
    client = looking.client("mine")
    posts = [path for method, path in walked(looking.app) if method != "GET"]
    assert "/api/v1/exclusions" in posts
    said = {
        "contract": f"{MINE}-agreement", "clause": "maintenance", "starts_at": "2026-12-24T00:00:00Z",
        "ends_at": "2026-12-24T01:00:00Z", "reason": "a test", "author": "a test",
    }  # fmt: skip
    for path in posts:
        answer = client.post(path, json=said)
        assert answer.status_code in {303, 401, 403, 415, 422}, (path, answer.status_code)
        _nothing_foreign(answer.text, path)
    assert client.post("/api/v1/exclusions", json=said).status_code == 403


@pytest.mark.parametrize("who", [None, "collector"], ids=["nobody", "a collector"])
def test_whoever_is_not_let_in_sees_no_figure_anywhere(looking, names, who):
    for place, (path, address) in enumerate(addresses(looking, names[MINE])):
        # from an address each: too many tokens that open nothing are another refusal
        answer = looking.client(who, client=(f"10.0.{place}.1", 5)).get(address)
        if path.startswith("/api/"):
            assert answer.status_code == (401 if who is None else 403), address
            assert answer.headers["content-type"] == "application/problem+json"
        elif path not in {"/sign-in", "/favicon.ico"}:
            assert answer.status_code == (303 if who is None else 403), (address, answer.status_code)
        for word in ("Acme", *FOREIGN, "deepseek"):
            assert word not in answer.text


def _nothing_foreign(text: str, address: str) -> None:
    for word in (*FOREIGN, *(found[0] for found in FIGURE.finditer(text))):
        assert word not in text, (address, word, text[max(0, text.find(word) - 200) : text.find(word) + 100])
