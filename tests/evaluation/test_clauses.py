"""Single clauses: what they make of one or two requests."""

from __future__ import annotations

from datetime import timedelta

import pytest

from sla.evaluation import evaluate
from tests.evaluation.conftest import AS_OF
from tests.evaluation.factories import (
    a_contract,
    a_joined_request,
    a_request,
    availability,
    latency,
    unmeasured,
)


def objective_of(store, requests, objective, **clauses):
    """Return the report's row for one objective."""
    report = evaluate(
        store.given(requests),
        a_contract(objectives=[objective], **clauses),
        month="2026-10",
        as_of=AS_OF,
        software_version="test",
    )
    return report["objectives"][0]


@pytest.mark.parametrize(
    ("over", "verdict"), [(1, "met"), (2, "violated")], ids=["equality meets", "one more is over"]
)
def test_of_a_hundred_requests_one_may_be_over_a_p99(given_store, over, verdict):
    requests = [a_request(end_to_end_us=2_000_000) for _ in range(100 - over)]
    requests += [a_request(end_to_end_us=2_000_001) for _ in range(over)]
    found = objective_of(given_store, requests, latency())
    assert found | {"n": 100, "violations": over, "allowed": 1, "verdict": verdict} == found
    assert found["value"] == (2.0 if over == 1 else 2.000001)


def test_a_rank_that_falls_on_an_unanswered_request_has_no_value(given_store):
    requests = [a_request(end_to_end_us=1), a_request(outcome="timeout", end_to_end_us=1)]
    found = objective_of(given_store, requests, latency(percentile="95"))
    assert found["value"] is None
    assert found["interval"] == [0.000001, None]
    assert found["verdict"] == "violated"


@pytest.mark.parametrize(
    ("unknown_clock", "expected"),
    [
        ("bad", {"n": 2, "violations": 1, "unknown": 1, "value": None, "verdict": "violated"}),
        ("void", {"n": 1, "violations": 0, "unknown": 1, "value": 0.7, "verdict": "met"}),
    ],
    ids=["unknown is over and ranks last", "unknown leaves n"],
)
def test_an_unknown_clock_is_what_the_contract_says(given_store, unknown_clock, expected):
    found = objective_of(
        given_store,
        [a_joined_request(), a_request()],
        latency("inference", at_most="700ms"),
        unmeasured=unmeasured(unknown_clock=unknown_clock),
    )
    assert found | expected == found


def test_the_handshake_counts_where_the_clock_starts_when_connected(given_store):
    requests = [a_request(end_to_end_us=2_000_000, connected_us=1)]
    for start, violations in (("received", 0), ("connected", 1)):
        found = objective_of(given_store, requests, latency(), clock={"start": start})
        assert found["violations"] == violations


def test_a_time_per_token_is_compared_exactly_and_never_printed_below_itself(given_store):
    request = a_joined_request(decode_us=100_001, decode_tokens=4)  # 33,333.67 a token
    found = objective_of(given_store, [request], latency("time_per_output_token", at_most="33333us"))
    assert (found["violations"], found["value"]) == (1, 0.033334)
    found = objective_of(given_store, [request], latency("time_per_output_token", at_most="33334us"))
    assert found["violations"] == 0


def test_one_token_has_no_time_between_tokens(given_store):
    found = objective_of(
        given_store, [a_joined_request(decode_tokens=1)], latency("time_per_output_token", at_most="1h")
    )
    assert found | {"unknown": 1, "violations": 1} == found


@pytest.mark.parametrize(
    ("rules", "outcome"),
    [
        ([], "capacity_rejected"),
        ([{"status": 503, "error_code": "QpsExceeded", "is": "quota_rejected"}], "quota_rejected"),
        ([{"status": 503, "error_code": "Other", "is": "quota_rejected"}], "capacity_rejected"),
        ([{"status": 502, "is": "quota_rejected"}], "capacity_rejected"),
        ([{"error_code": "QpsExceeded", "is": "client_error"}, {"status": 503, "is": "ok"}], "client_error"),
    ],
    ids=["no rule", "status and code", "another code", "another status", "the first rule wins"],
)
def test_a_contract_may_call_an_answer_something_else(given_store, rules, outcome):
    request = a_request(status=503, error_code="QpsExceeded", outcome="capacity_rejected")
    report = evaluate(
        given_store.given([request]),
        a_contract(outcomes=rules),
        month="2026-10",
        as_of=AS_OF,
        software_version="test",
    )
    assert [name for name, count in report["traffic"]["outcomes"].items() if count] == [outcome]


QUOTA = {"requests_per_minute": 2, "rejected_below": "bad"}


@pytest.mark.parametrize(
    ("before_us", "others", "quota", "bad"),
    [
        pytest.param([1, 2], {}, QUOTA, 0, id="two let through in the minute: the quota was used up"),
        pytest.param([1], {}, QUOTA, 1, id="one let through: it was not"),
        pytest.param([59_999_999, 1], {}, QUOTA, 0, id="one just inside the minute"),
        pytest.param([60_000_000, 1], {}, QUOTA, 1, id="one a minute ago is outside"),
        pytest.param([0, 0], {}, QUOTA, 0, id="requests of the same instant are in"),
        pytest.param([-1, 1], {}, QUOTA, 1, id="later ones are not"),
        pytest.param([1, 2], {"outcome": "quota_rejected"}, QUOTA, 3, id="refused ones use up nothing"),
        pytest.param([1, 2], {"tenant": "acme-2"}, QUOTA, 1, id="another tenant has its own quota"),
        pytest.param(
            [1, 2], {}, QUOTA | {"rejected_below": "not_counted"}, 0, id="not counted, if so agreed"
        ),
        pytest.param([1, 2], {}, None, 0, id="no quota, not counted"),
        pytest.param(
            [1, 2],
            {"prompt_tokens": 3, "completion_tokens": 2},
            {"tokens_per_minute": 10, "rejected_below": "bad"},
            0,
            id="ten tokens of ten are used up",
        ),
        pytest.param(
            [1, 2],
            {"prompt_tokens": 3, "completion_tokens": None},
            {"tokens_per_minute": 10, "rejected_below": "bad"},
            1,
            id="tokens nobody counted use up nothing",
        ),
    ],
)
def test_a_rejection_is_bad_while_the_tenant_is_below_its_quota(given_store, before_us, others, quota, bad):
    refused = a_request(outcome="quota_rejected", status=429)
    earlier = [
        a_request(**{"received_at": refused.received_at - timedelta(microseconds=us)} | others)
        for us in before_us
    ]
    found = objective_of(
        given_store,
        [refused, *earlier],
        availability(),
        quota=quota,
        customer={"name": "Acme", "tenants": ["acme", "acme-2"]},
    )
    assert found["bad"] == bad


def test_the_quota_looks_back_over_the_months_edge(given_store):
    start = a_request().received_at.replace(day=1, month=9) - timedelta(hours=11)  # 1 September, Shanghai
    requests = [
        a_request(received_at=start, outcome="quota_rejected"),
        *(a_request(received_at=start - timedelta(seconds=1)) for _ in range(2)),
    ]
    report = evaluate(
        given_store.given(requests),
        a_contract(objectives=[availability()], quota=QUOTA),
        month="2026-09",
        as_of=AS_OF,
        software_version="test",
    )
    assert report["traffic"]["admitted"] == 1
    assert report["objectives"][0]["n"] == 0


def test_what_is_not_evaluated_is_named_and_not_measured(given_store):
    cost = {"name": "cost", "cost": {"at_most": "0.0015", "per": "call", "currency": "USD"}}
    report = evaluate(
        given_store.given([a_request()]),
        a_contract(objectives=[cost, availability()]),
        month="2026-10",
        as_of=AS_OF,
        software_version="test",
    )
    verdicts = [(each["verdict"], each["reason"]) for each in report["objectives"]]
    assert verdicts == [("not_measured", "not_evaluated"), ("met", None)]
    assert report["not_evaluated"] == ["objectives[0]"]


def test_the_five_phases_add_up(given_store):
    requests = [
        a_joined_request(end_to_end_us=1_000_000 + number, frontend_us=-1_500 + number) for number in range(7)
    ]
    report = evaluate(
        given_store.given([*requests, a_request(), a_joined_request(outcome="timeout")]),
        a_contract(),
        month="2026-10",
        as_of=AS_OF,
        software_version="test",
    )
    phases = report["breakdown"]
    assert list(phases) == ["network", "frontend", "queue", "prefill", "decode"]
    assert sum(phase["share"] for phase in phases.values()) == pytest.approx(1, abs=1e-12)
    assert sum(phase["seconds"] for phase in phases.values()) == pytest.approx(1.000003, abs=3e-6)
    assert phases["frontend"]["seconds"] == -0.001497
