"""The API: its document, its answers against it, its problems, its ETags; and what is proposed through it."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import jsonschema
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis import checks

from fairclock.console.api.document import openapi, openapi_text
from fairclock.console.api.endpoints import ENDPOINTS
from fairclock.console.api.parameters import checked
from fairclock.errors import UsageError
from tests.console.scene import MINE
from tests.laws import examples

SCHEMA = schemathesis.openapi.from_dict(json.loads(openapi_text()))
CHECKS = [
    checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
]


@pytest.fixture(scope="module")
def asked(looking):
    """The application and a token, as schemathesis calls it."""
    return looking.app, {"Authorization": f"Bearer {looking.tokens['admin']}"}


@SCHEMA.exclude(path="/api/v1/reports/{contract}/{file}").parametrize()
@settings(
    max_examples=examples(3, soak=40), deadline=None, derandomize=True, database=None, phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)  # fmt: skip
def test_whatever_is_asked_is_answered_as_the_document_says(case, asked):
    app, headers = asked
    case.operation.app = app
    response = case.call(app=app, headers=headers)
    case.validate_response(response, checks=CHECKS, headers=headers)


def test_the_document_is_one():
    jsonschema.Draft202012Validator.check_schema({"$defs": openapi()["components"]["schemas"]})
    assert openapi()["openapi"].startswith("3.1")
    assert {f"{method} {path}" for path, found in openapi()["paths"].items() for method in found} >= {
        f"{each.method.lower()} /api/v1{each.path}" for each in ENDPOINTS
    }


@pytest.mark.parametrize("name", [each.name for each in ENDPOINTS if each.method == "GET"])
def test_every_endpoint_answers_with_something_of_the_scene(looking, name):
    (endpoint,) = [each for each in ENDPOINTS if each.name == name]
    path = endpoint.path.replace("{tenant}", MINE)
    if "{key}" in path:
        path = path.replace("{key}", looking.get("/requests", most=1)["requests"][0]["key"])
    found = looking.get(path)
    schema = openapi()
    reference = schema["paths"][f"/api/v1{endpoint.path}"]["get"]["responses"]["200"]["content"][
        "application/json"
    ]
    jsonschema.validate(found, {**reference["schema"], "components": schema["components"]})
    lists = [value for key, value in found.items() if isinstance(value, list) and key != "lacking"]
    assert any(lists) or not lists or name == "changes", "proposals have tests of their own"


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/requests?most=0", 422), ("/requests?most=x", 422), ("/requests?order=none", 422),
        ("/requests?outcome=none", 422), ("/requests?nothing=1", 422), ("/requests?range=1h&range=24h", 422),
        ("/incidents?from=2026-10-01T00:00:00Z", 422), ("/incidents?from=2026-10-01&to=2026-10-02", 422),
        ("/incidents?from=2026-10-02T00:00:00Z&to=2026-10-01T00:00:00Z", 422),
        ("/incidents?from=0001-01-01T00:00:00Z&to=0001-01-02T00:00:00Z", 422),
        ("/incidents?month=2026-13", 422), ("/incidents?range=24h&month=2026-10", 422),
        ("/requests/nothing", 422), (f"/requests/1-{'0' * 32}-0", 404), (f"/requests/1-{'0' * 32}-99999", 404),
        ("/tenants/acme?contract=nothing", 404), ("/tenants/nobody", 200), ("/tenants/acme?month=1999-01", 422),
        ("/reports/nothing/2026-10.json", 404), ("/reports/acme-agreement/2026-10.doc", 404),
        ("/reports/acme-agreement/1999-01.json", 422), ("/nothing", 404), ("/changes?most=1001", 422),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_is_a_problem_that_says_what_to_do(looking, path, status):
    answer = looking.client().get(f"/api/v1{path}")
    assert answer.status_code == status, answer.text
    if status != 200:
        assert answer.headers["content-type"] == "application/problem+json"
        said = answer.json()
        assert said["status"] == status
        assert said["type"].startswith("urn:fairclock:problem:")
        assert said["detail"]


def test_a_parameter_that_is_not_known_is_refused_by_name():
    with pytest.raises(UsageError, match="not known"):
        checked((), [("range", "1h")])


def test_the_same_figures_are_not_sent_again(looking):
    client = looking.client()
    first = client.get("/api/v1/reports")
    again = client.get("/api/v1/reports", headers={"If-None-Match": first.headers["etag"]})
    other = client.get("/api/v1/exclusions", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert other.status_code == 200


def test_one_request_has_every_mark_phase_and_clock(looking):
    rows = looking.get("/requests", range="24h", tenant=MINE, order="queue", most=1)["requests"]
    found = looking.get(f"/requests/{rows[0]['key']}")
    assert found["request"] == rows[0]
    assert [each["mark"] for each in found["marks"]] == [
        "connected", "received", "forwarded", "arrived", "queued", "scheduled", "first_token", "last_token", "responded",
    ]  # fmt: skip
    phases = {each["phase"]: each["seconds"] for each in found["phases"]}
    assert list(phases) == ["network", "frontend", "queue", "prefill", "decode"]
    assert sum(phases.values()) == pytest.approx(rows[0]["end_to_end_seconds"], abs=1e-9)
    assert phases["queue"] == rows[0]["queue_seconds"] == 2.2
    clocks = {each["clock"]: each["seconds"] for each in found["clocks"]}
    assert clocks["inference"] == pytest.approx(phases["prefill"] + phases["decode"])
    assert clocks["outside"] == pytest.approx(clocks["end_to_end"] - clocks["inference"])
    assert [each["is_final"] for each in found["sequences"]] == [True]
    assert found["sequences"][0]["instance"] == "engine-a"
    assert "simulated" in found["flags"]


def test_a_request_without_an_engines_row_is_unmeasured_and_not_zero(looking):
    rows = looking.get("/requests", range="24h", tenant=MINE, outcome="server_error", most=1)["requests"]
    found = looking.get(f"/requests/{rows[0]['key']}")
    assert [each["phase"] for each in found["phases"]] == ["unmeasured"]
    assert {each["clock"]: each["seconds"] for each in found["clocks"]}["queue"] is None
    assert found["lacking"] == ["not_joined"]


def test_lists_say_where_there_is_more(looking):
    found = looking.get("/requests", range="24h", most=5)
    assert len(found["requests"]) == 5
    assert found["lacking"] == ["cut_short"]
    whole = [each["end_to_end_seconds"] for each in found["requests"]]
    assert whole == sorted(whole, reverse=True)


class TestProposals:
    """An exclusion is proposed as the command proposes it, by the provider's side, and who did is noted."""

    def said(self, looking, **changes):
        start = datetime.now(UTC) + timedelta(days=8)
        return {
            "contract": f"{MINE}-agreement", "clause": "maintenance", "starts_at": start.isoformat(),
            "ends_at": (start + timedelta(hours=1)).isoformat(), "reason": "a new rack", "author": "Ann",
        } | changes  # fmt: skip

    def test_one_is_kept_marked_and_noted(self, looking):
        answer = looking.client("operator").post("/api/v1/exclusions", json=self.said(looking))
        assert answer.status_code == 201, answer.text
        kept = answer.json()["exclusion"]
        assert (kept["state"], kept["author"], kept["contract"]) == ("proposed", "Ann", f"{MINE}-agreement")
        assert {each["kind"] for each in answer.json()["marks"]} == {"late"}, "nobody was told"
        listed = looking.get("/exclusions")["exclusions"]
        assert kept["id"] in {each["id"] for each in listed}
        changes = looking.get("/changes")["changes"]
        assert (changes[0]["who"], changes[0]["action"], changes[0]["subject"], changes[0]["outcome"]) == (
            "operator", "propose exclusion", kept["id"], "proposed",
        )  # fmt: skip

    def test_a_tenants_try_is_refused_and_noted(self, looking):
        answer = looking.client("mine").post("/api/v1/exclusions", json=self.said(looking))
        assert answer.status_code == 403
        changes = looking.get("/changes")["changes"]
        assert (changes[0]["who"], changes[0]["outcome"]) == ("mine", "not allowed")

    @pytest.mark.parametrize(
        ("changes", "status"),
        [
            ({"clause": "cold_start"}, 422), ({"clause": "nothing"}, 422), ({"contract": "nothing"}, 404),
            ({"reason": " "}, 422), ({"starts_at": "2026-10-01"}, 422), ({"starts_at": "0001-01-01T00:00:00Z"}, 422),
            ({"exceptions": ["20261004"]}, 422), ({"recurrence": "FREQ=NEVER"}, 422), ({"more": 1}, 422),
        ],
        ids=["cold starts are found", "no such clause", "no such contract", "no reason", "no instant", "long ago",
             "exceptions from nothing", "no rule", "a key that is none"],
    )  # fmt: skip
    def test_what_the_contract_has_no_room_for_is_refused(self, looking, changes, status):
        before = looking.get("/exclusions")["exclusions"]
        answer = looking.client("operator").post("/api/v1/exclusions", json=self.said(looking, **changes))
        assert answer.status_code == status, answer.text
        assert looking.get("/exclusions")["exclusions"] == before

    def test_the_clauses_rules_are_shown(self, looking):
        (rule,) = [
            each for each in looking.get("/exclusions")["rules"]
            if (each["contract"], each["clause"]) == (f"{MINE}-agreement", "maintenance")
        ]  # fmt: skip
        assert rule["notice_seconds"] == 72 * 3600
        assert rule["cap_seconds_per_month"] == 4 * 3600
        assert rule["notice_to"] == [f"sla@{MINE}.example"]

    def test_a_large_body_is_not_read(self, looking):
        answer = looking.client("operator").post("/api/v1/exclusions", json={"reason": "x" * 70_000})
        assert answer.status_code == 413

    def test_the_log_is_for_administrators(self, looking):
        assert looking.client("operator").get("/api/v1/changes").status_code == 403
