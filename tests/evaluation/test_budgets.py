"""The report's error budgets: the same counts as the verdicts, and the instant of the request that was too many."""

from __future__ import annotations

import random
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest

from sla.evaluation import evaluate
from tests.evaluation.conftest import AS_OF
from tests.evaluation.factories import a_contract, a_request, availability, latency

FIRST = datetime(2026, 10, 3, tzinfo=UTC)


def report_of(store, requests, **clauses):
    return evaluate(
        store.given(requests), a_contract(**clauses), month="2026-10", as_of=AS_OF, software_version="test"
    )


def budgets_of(store, requests, **clauses):
    return report_of(store, requests, **clauses)["error_budgets"]


def at(minute: int) -> datetime:
    return FIRST + timedelta(minutes=minute)


@pytest.mark.parametrize("seed", range(3))
def test_a_budget_says_what_the_verdict_says_and_when_it_was_used_up(given_store, seed):
    source = random.Random(seed)
    requests = [
        a_request(
            received_at=at(source.randrange(10_000)),
            outcome=source.choice(["ok"] * 8 + ["server_error", "timeout"]),
            end_to_end_us=source.choice([1_000_000, 3_000_000]),
        )
        for _ in range(200)
    ]
    report = report_of(
        given_store,
        requests,
        objectives=[latency(percentile="60"), availability("90%"), availability("50%", name="lax")],
    )
    slow = sorted(
        each.received_at
        for each in requests
        if each.outcome == "timeout" or (each.outcome == "ok" and each.end_to_end_us > 2_000_000)
    )
    failed = sorted(each.received_at for each in requests if each.outcome != "ok")
    for budget, objective, bad in zip(
        report["error_budgets"], report["objectives"], (slow, failed, failed), strict=True
    ):
        assert budget["objective"] == objective["name"]
        assert (budget["allowed"], budget["spent"]) == (objective["allowed"], objective["violations"])
        assert budget["spent"] == len(bad)
        assert budget["spent"] + budget["remaining"] == budget["allowed"]
        assert budget["is_exhausted"] == (objective["verdict"] == "violated")
        expected = bad[budget["allowed"]] if budget["is_exhausted"] else None
        found = budget["exhausted_at"]
        assert (found and datetime.fromisoformat(found)) == expected
        days = [(each + timedelta(hours=8)).date().isoformat() for each in bad]
        assert {each["date"]: each["spent"] for each in budget["daily"] if each["spent"]} == Counter(days)
        assert (len(budget["daily"]), budget["carried"]) == (31, 0)
    assert report["error_budgets"][2]["exhausted_at"] is None


def test_a_refusal_below_the_quota_spends_the_budget_when_it_was_received(given_store):
    requests = [a_request(received_at=at(place)) for place in range(5)]
    requests += [a_request(received_at=at(9), outcome="quota_rejected")]
    (budget,) = budgets_of(
        given_store, requests, objectives=[availability("99%")],
        quota={"requests_per_minute": 10, "rejected_below": "bad"},
    )  # fmt: skip
    assert (budget["allowed"], budget["spent"], budget["remaining_ratio"]) == (0, 1, None)
    assert [each for each in budget["daily"] if each["spent"]] == [{"date": "2026-10-03", "spent": 1}]
    assert datetime.fromisoformat(budget["exhausted_at"]) == at(9)


def test_a_budget_overspent_in_requests_that_were_carried_over_was_used_up_when_the_month_began(given_store):
    september = datetime(2026, 9, 20, tzinfo=UTC)
    requests = [a_request(received_at=september, outcome="server_error") for _ in range(3)]
    requests += [a_request(received_at=at(place)) for place in range(20)]
    (budget,) = budgets_of(
        given_store, requests, objectives=[availability("90%")],
        insufficient={"below": 10, "verdict": "carry_over"},
    )  # fmt: skip
    assert (budget["allowed"], budget["spent"], budget["remaining"]) == (2, 3, -1)
    assert budget["remaining_ratio"] == -0.5
    assert (budget["carried"], sum(each["spent"] for each in budget["daily"])) == (3, 0)
    assert budget["exhausted_at"] == "2026-09-30T16:00:00Z"


def test_downtime_is_a_budget_of_time(given_store):
    down = {
        "formula": "downtime", "interval": "1m", "bad_above": "5%", "consecutive": 1, "min_requests": 1,
        "below_min": "good", "empty": "good", "target": "99.9%",
    }  # fmt: skip
    requests = [a_request(received_at=at(0), outcome="server_error")]
    store = given_store
    (budget,) = budgets_of(store, requests, objectives=[{"name": "uptime", "availability": down}])
    assert (budget["kind"], budget["daily"], budget["carried"]) == ("time", None, None)
    assert budget["spent"] + budget["remaining"] == pytest.approx(budget["allowed"])
    assert budget["allowed"] == pytest.approx(31 * 86_400 / 1000)


def test_what_no_share_decides_has_no_budget(given_store):
    objectives = [
        {"name": "worst", "latency": {"clock": "end_to_end", "percentile": "99", "at_most": "2s", "window": "5m", "combine": "worst"}},
    ]  # fmt: skip
    assert budgets_of(given_store, [a_request(received_at=at(0))], objectives=objectives) == []
