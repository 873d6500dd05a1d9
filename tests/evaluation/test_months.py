"""Which month is judged, who is in it, and what is said where it cannot be."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from fairclock.errors import NotEvaluable
from fairclock.model import Interval
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

SHANGHAI_OCTOBER = (datetime(2026, 9, 30, 16, tzinfo=UTC), datetime(2026, 10, 31, 16, tzinfo=UTC))
MICROSECOND = timedelta(microseconds=1)


def report_of(store, requests, contract=None, *, month="2026-10", as_of=AS_OF, **covered):
    return evaluate(
        store.given(requests, **covered),
        contract or a_contract(),
        month=month,
        as_of=as_of,
        software_version="test",
    )


def first(report):
    return report["objectives"][0]


def test_the_first_and_the_last_microsecond_of_a_month_belong_to_it(given_store):
    start, end = SHANGHAI_OCTOBER
    instants = [start - MICROSECOND, start, end - MICROSECOND, end]
    report = report_of(given_store, [a_request(received_at=instant) for instant in instants])
    assert report["traffic"]["admitted"] == 2
    assert [day["n"] for day in report["daily"]] == [1] + [0] * 29 + [1]


@pytest.mark.parametrize(
    ("zone", "month", "hours"),
    [
        ("Europe/Berlin", "2026-03", 743),
        ("Europe/Berlin", "2026-10", 745),
        ("Asia/Kolkata", "2026-10", 744),
        ("Australia/Lord_Howe", "2026-04", 720.5),
    ],
)
def test_a_month_has_the_hours_that_its_zone_gives_it(given_store, zone, month, hours):
    contract = a_contract(term={"from": "2026-01-01", "to": "2026-12-31", "time_zone": zone})
    report = report_of(given_store, [], contract, month=month)
    assert report["period"]["hours"] == hours
    assert report["period"]["month"] == month


@pytest.mark.parametrize(
    "tenant",
    ["\"'; DROP TABLE requests; --", "<img src=x>", "招商银行", "tab\there", "back\\slash", "{x:String}"],
)
def test_a_tenant_may_have_any_name(given_store, tenant):
    contract = a_contract(customer={"name": "Acme", "tenants": ["tenant-b"]})
    object.__setattr__(contract.customer, "tenants", (tenant,))
    report = report_of(given_store, [a_request(tenant=tenant), a_request()], contract)
    assert report["traffic"]["admitted"] == 1
    assert report["contract"]["customer"]["tenants"] == [tenant]


def test_what_the_gateway_did_not_log_is_in_scope(given_store):
    contract = a_contract(scope={"models": ["m1"], "regions": ["r1"], "routes": ["/v1/chat/completions"]})
    requests = [
        a_request(model="m1", region="r1"),
        a_request(model="", region=""),
        a_request(model="m2", region="r1"),
        a_request(model="m1", region="r2"),
        a_request(model="m1", region="r1", route="/v1/embeddings"),
    ]
    assert report_of(given_store, requests, contract)["traffic"]["admitted"] == 2


def test_a_month_without_traffic_is_not_kept_and_not_broken(given_store):
    report = report_of(given_store, [])
    assert [each["verdict"] for each in report["objectives"]] == ["insufficient_data"] * 2
    assert report["latency"][0] == {
        "clock": "end_to_end",
        "n": 0,
        "p50": None,
        "p95": None,
        "p99": None,
        "p99_interval": None,
        "max": None,
    }
    assert report["breakdown"]["queue"] == {"seconds": None, "share": None}
    assert report["coverage"]["joined"] is None
    assert first(report)["interval"] is None


@pytest.mark.parametrize(
    ("month", "as_of", "sentence"),
    [
        ("2025-12", AS_OF, "month 2025-12: the contract is not in force"),
        ("2027-01", AS_OF, "month 2027-01: the contract is not in force"),
        ("2026-10", SHANGHAI_OCTOBER[0], "month 2026-10: it had not begun"),
    ],
    ids=["before the term", "after the term", "not yet begun"],
)
def test_a_month_that_cannot_be_judged_is_refused_with_the_reason(given_store, month, as_of, sentence):
    with pytest.raises(NotEvaluable, match=sentence):
        report_of(given_store, [], month=month, as_of=as_of)


def test_a_month_that_the_term_cuts_is_judged_within_the_term(given_store):
    contract = a_contract(term={"from": "2026-10-15", "to": "2026-12-31", "time_zone": "Asia/Shanghai"})
    middle = datetime(2026, 10, 14, 16, tzinfo=UTC)
    report = report_of(
        given_store, [a_request(received_at=middle - MICROSECOND), a_request(received_at=middle)], contract
    )
    assert report["period"]["from"] == "2026-10-14T16:00:00Z"
    assert report["traffic"]["admitted"] == 1
    assert first(report)["verdict"] == "met"


def test_a_cut_month_is_no_verdict_where_the_contract_voids_it(given_store):
    contract = a_contract(
        term={"from": "2026-10-15", "to": "2026-12-31", "time_zone": "Asia/Shanghai"},
        period={"month": "calendar", "partial": "void"},
    )
    late = datetime(2026, 10, 20, tzinfo=UTC)
    report = report_of(given_store, [a_request(received_at=late, outcome="timeout")], contract)
    assert first(report)["verdict"] == "insufficient_data"
    assert first(report)["reason"] == "partial_month_void"


def test_coverage_is_measured_over_what_has_passed_of_the_month(given_store):
    start, _ = SHANGHAI_OCTOBER
    as_of = start + timedelta(days=10)
    contract = a_contract(
        objectives=[latency(), latency("inference", at_most="2s"), latency("excluding_queue")],
        unmeasured=unmeasured(coverage_floor="90%", below_floor="void"),
    )
    report = report_of(
        given_store,
        [a_joined_request(received_at=start)],
        contract,
        as_of=as_of,
        gateway=[Interval(start=start - timedelta(days=5), end=start + timedelta(days=9))],
        engine=[Interval(start=start, end=start + timedelta(days=2))],
    )
    assert report["coverage"] == {"gateway": 0.9, "engine": 0.2, "joined": 1.0}
    assert [each["verdict"] for each in report["objectives"]] == ["met", "not_measured", "met"]
    assert report["objectives"][1]["reason"] == "below_coverage_floor"


def test_ok_without_an_engine_row_is_unconfirmed_only_where_engines_were_read_through(given_store):
    start, _ = SHANGHAI_OCTOBER
    covered = [Interval(start=start, end=start + timedelta(hours=1))]
    requests = [
        a_request(received_at=start),
        a_request(received_at=start + timedelta(hours=1) - MICROSECOND, engine="quarantined"),
        a_request(received_at=start + timedelta(hours=1)),
        a_request(received_at=start, outcome="timeout"),
        a_joined_request(received_at=start),
    ]
    report = report_of(given_store, requests, engine=covered)
    assert report["traffic"]["unconfirmed"] == 2
    assert report["traffic"]["quarantined"] == 1
    assert report["coverage"]["joined"] == 0.25


def october_and_september(small, *, verdict="carry_over", **clauses):
    start, _ = SHANGHAI_OCTOBER
    contract = a_contract(
        objectives=[latency(percentile="50", at_most="2s"), availability("50%")],
        insufficient={"below": 4, "verdict": verdict},
        **clauses,
    )
    slow = [
        a_request(received_at=start - timedelta(days=1), end_to_end_us=3_000_000 + number)
        for number in range(small)
    ]
    return contract, slow


def test_requests_of_a_month_too_small_are_ranked_with_the_next(given_store):
    contract, slow = october_and_september(3)
    report = report_of(given_store, [*slow, a_request()], contract)
    assert first(report) | {"n": 4, "carried": 3, "violations": 3, "verdict": "violated"} == first(report)
    assert first(report)["value"] == 3.0
    assert report["traffic"]["admitted"] == 1


def test_requests_of_a_month_that_was_judged_stay_there(given_store):
    contract, slow = october_and_september(4)
    report = report_of(given_store, [*slow, *(a_request() for _ in range(4))], contract)
    assert first(report) | {"n": 4, "carried": 0, "violations": 0, "verdict": "met"} == first(report)


def test_nothing_is_carried_where_the_contract_does_not_say_so(given_store):
    contract, slow = october_and_september(3, verdict="void")
    report = report_of(given_store, [*slow, a_request()], contract)
    assert first(report) | {"n": 1, "carried": 0, "verdict": "insufficient_data"} == first(report)


def test_requests_of_a_month_violated_for_its_coverage_are_not_counted_again(given_store):
    clause = unmeasured(coverage_floor="90%", below_floor="violated")
    contract, slow = october_and_september(3, unmeasured=clause)
    report = report_of(
        given_store,
        [*slow, a_request()],
        contract,
        gateway=[Interval(start=SHANGHAI_OCTOBER[0], end=SHANGHAI_OCTOBER[1])],
    )
    assert first(report)["carried"] == 0
