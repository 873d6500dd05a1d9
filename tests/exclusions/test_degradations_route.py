"""``POST /v1/degradations``: by whom, in which form, once."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime

import httpx
import pytest
from starlette.applications import Starlette

from fairclock.cli.pipeline.remedies import LARGEST_BODY_BYTES, PATH, degradations_route
from fairclock.errors import StoreUnreachable
from fairclock.store.remedies import degradations_as_of
from fairclock.store.tokens import Scope, mint
from sla.degradations import record

NOW = datetime(2026, 10, 1, tzinfo=UTC)
SAID = {
    "mode": "int8",
    "level": "reduced",
    "from": "2026-10-11T02:00:00+08:00",
    "tenants": ["acme"],
    "reason": "memory ran out",
}


class Endpoint:
    def __init__(self, store):
        self.store = store
        self.tokens = {}
        self.away = False
        app = Starlette(routes=[degradations_route(self.record, self.tokens.get)])
        self.transport = httpx.ASGITransport(app=app)

    def record(self, said, author):
        if self.away:
            raise StoreUnreachable("store", "is away")
        return record(self.store, said, author=author, origin="api")

    def token(self, scope):
        text, token = mint(
            name=f"the {scope}", scope=scope, tenant="acme" if scope == "tenant" else "", now=NOW
        )
        self.tokens[text] = token
        return text

    def post(self, said, *, token=None, kind="application/json"):
        text = self.token(Scope.OPERATOR) if token is None else token
        body = said if isinstance(said, (bytes, str)) else json.dumps(said)
        return self.send("POST", body, {"Authorization": f"Bearer {text}", "Content-Type": kind})

    def send(self, method, body=b"", headers=None):
        async def sent():
            async with httpx.AsyncClient(transport=self.transport, base_url="http://fairclock") as client:
                return await client.request(method, PATH, content=body, headers=headers)

        return asyncio.run(sent())

    def kept(self):
        return degradations_as_of(self.store, self.store.watermark())


@pytest.fixture
def endpoint(fairclock):
    return Endpoint(fairclock.store)


def test_what_is_said_is_kept_once_under_the_tokens_name(endpoint):
    first = endpoint.post(SAID, kind="application/json; charset=utf-8")
    assert (first.status_code, first.json()["author"], first.json()["origin"]) == (201, "the operator", "api")
    assert first.json()["from"] == "2026-10-10T18:00:00Z"
    again = endpoint.post(SAID, token=endpoint.token(Scope.ADMIN))
    assert (again.status_code, again.json() | {"new": True}) == (200, first.json())
    ended = endpoint.post(SAID | {"to": "2026-10-11T03:00:00+08:00"})
    assert (ended.status_code, ended.json()["sequence"]) == (201, 2)
    assert [(each.id, each.sequence) for each in endpoint.kept()] == [(first.json()["id"], 2)]


@pytest.mark.parametrize(
    ("scope", "status"),
    [(Scope.COLLECTOR, 403), (Scope.TENANT, 403), (None, 401)],
    ids=["collector", "tenant", "none"],
)
def test_only_operators_and_admins_may_say_so(endpoint, scope, status):
    before = endpoint.kept()
    answer = endpoint.post(
        SAID | {"mode": "other"}, token="fct_unknown" if scope is None else endpoint.token(scope)
    )
    assert answer.status_code == status
    assert "problem" in answer.json()
    assert endpoint.kept() == before


@pytest.mark.parametrize(
    ("body", "path"),
    [
        (b"{", ""),
        (b"[]", ""),
        ({key: value for key, value in SAID.items() if key != "reason"}, "reason"),
        (SAID | {"from": "2026-10-11T02:00:00"}, "from"),
        (SAID | {"from": "0001-10-11T02:00:00Z"}, "from"),
        (SAID | {"to": SAID["from"]}, ""),
        (SAID | {"mode": ""}, "mode"),
        (SAID | {"mode": "a\nb"}, "mode"),
        (SAID | {"tenants": ["a", 7]}, "tenants.1"),
        (SAID | {"prompt": "the secret text"}, "prompt"),
    ],
    ids=[
        "no JSON",
        "no object",
        "a key is missing",
        "an instant without a zone",
        "a year that cannot be stored",
        "an end that is not after the start",
        "an empty mode",
        "a mode with a line break",
        "a tenant that is no text",
        "a key that is unknown",
    ],
)
def test_a_body_that_is_no_degradation_is_refused_with_its_paths(endpoint, body, path):
    before = endpoint.kept()
    answer = endpoint.post(body)
    assert answer.status_code == 400
    assert answer.json()["problems"][0]["path"] == path
    assert "secret" not in answer.text
    assert endpoint.kept() == before


def test_a_body_too_large_or_of_another_kind_is_refused(endpoint):
    assert endpoint.post(b"x" * (LARGEST_BODY_BYTES + 1)).status_code == 413
    assert endpoint.post(SAID, kind="text/plain").status_code == 415
    assert endpoint.send("GET").status_code == 405


def test_while_the_store_is_away_the_sender_is_told_when_to_come_back(endpoint):
    endpoint.away = True
    answer = endpoint.post(SAID)
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
