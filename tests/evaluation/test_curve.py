"""The report's percentile curve: each point is the value of one request, found by its rank."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from fractions import Fraction

from sla.evaluation import evaluate
from sla.percentiles import rank
from tests.evaluation.conftest import AS_OF
from tests.evaluation.factories import a_contract, a_request

FIRST = datetime(2026, 10, 3, tzinfo=UTC)


def curve_of(store, requests):
    report = evaluate(
        store.given(requests), a_contract(), month="2026-10", as_of=AS_OF, software_version="test"
    )
    return report["percentile_curve"], {each["clock"]: each for each in report["latency"]}


def test_each_point_is_the_request_of_that_rank_and_the_table_of_clocks_says_the_same(given_store):
    source = random.Random(7)
    requests = [
        a_request(received_at=FIRST + timedelta(minutes=place), end_to_end_us=source.randrange(1, 10**7))
        for place in range(400)
    ]
    requests += [a_request(received_at=FIRST, outcome="timeout", end_to_end_us=9 * 10**8)]
    curve, clocks = curve_of(given_store, requests)
    values = sorted(each.end_to_end_us for each in requests if each.outcome == "ok")
    for point in curve:
        percentile = Fraction(str(point["percentile"]))
        assert point["with_queue"] == values[rank(len(values), percentile) - 1] / 10**6
    found = {point["percentile"]: point for point in curve}
    for percentile in (50, 95, 99):
        assert found[percentile]["with_queue"] == clocks["end_to_end"][f"p{percentile}"]
        assert found[percentile]["without_queue"] == clocks["excluding_queue"][f"p{percentile}"]
    assert max(found) == 99.7, "of 400 requests one lies above P99.75, and none above P99.8"


def test_a_month_without_answers_has_no_curve(given_store):
    assert curve_of(given_store, [a_request(received_at=FIRST, outcome="timeout")])[0] == []
