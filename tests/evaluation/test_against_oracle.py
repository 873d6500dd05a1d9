"""Whole evaluations against the oracle: random months, every clock, ending and clause."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, timedelta
from fractions import Fraction

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from fairclock.model import Clock
from sla.evaluation import evaluate
from tests.evaluation import oracle
from tests.evaluation.conftest import AS_OF
from tests.evaluation.factories import a_contract, a_request, availability, latency, unmeasured
from tests.laws import examples

ZONE = "America/New_York"
MONTH = "2026-11"  # clocks go back on the 1st: 25 hours
BUSY = [
    {"days": "sun,mon,tue", "from": "00:30", "to": "01:30"},
    {"days": "wed", "from": "09:00", "to": "24:00"},
]
START, END = oracle.month_bounds(MONTH, ZONE)
UNIT_US = 1000
UNSHRUNK = (Phase.explicit, Phase.reuse, Phase.generate)  # each try runs a whole evaluation

small = st.integers(0, 6).map(lambda units: units * UNIT_US)
tokens = st.none() | st.integers(0, 6)


@st.composite
def instants(draw) -> datetime:
    edge = draw(
        st.sampled_from([START, END, START + timedelta(hours=1.5), START + timedelta(days=3, hours=9)])
    )
    anywhere = START + timedelta(seconds=draw(st.integers(0, 30 * 86_400)))
    near = edge + timedelta(microseconds=draw(st.sampled_from([-1, 0, 1, 3_599_999_999, 3_600_000_000])))
    return draw(st.sampled_from([anywhere, near]))


@st.composite
def requests(draw):
    joined = draw(st.booleans())
    engine = {}
    if joined:
        engine = {
            "engine": "joined",
            "queue_us": draw(small),
            "prefill_us": draw(small),
            "decode_us": draw(small) + draw(st.integers(0, 3)),
            "frontend_us": draw(small),
            "time_to_first_token_us": draw(st.none() | small),
            "decode_tokens": draw(tokens),
        }
    return a_request(
        tenant=draw(st.sampled_from(["acme", "acme", "acme", "other"])),
        received_at=draw(instants()),
        outcome=draw(st.sampled_from(["ok", "ok", "ok", *oracle.ENDINGS])),
        model=draw(st.sampled_from(["", "m1", "m1", "m2"])),
        region=draw(st.sampled_from(["", "r1"])),
        stream=draw(st.sampled_from([None, 0, 1])),
        attempts=draw(st.sampled_from([1, 1, 2])),
        end_to_end_us=draw(small) + draw(small),
        connected_us=draw(st.none() | small),
        prompt_tokens=draw(tokens),
        completion_tokens=draw(tokens),
        **engine,
    )


def in_month(request) -> bool:
    return START <= request.received_at < END


def busy(request) -> bool:
    return any(
        oracle.in_daily_span(request, ZONE, tuple(span["days"].split(",")), span["from"], span["to"])
        for span in BUSY
    )


def short(request) -> bool:
    return request.prompt_tokens is None or request.prompt_tokens < 3


def streamed(request) -> bool:
    return request.stream in (None, 1)


FILTERS = [
    ({}, lambda request: True),
    ({"during": "busy"}, busy),
    ({"during": "not busy"}, lambda request: not busy(request)),
    ({"where": {"prompt_tokens": {"below": 3}}}, short),
    ({"where": {"stream": True}, "during": "busy"}, lambda request: streamed(request) and busy(request)),
    (
        {"where": {"completion_tokens": {"above": 1, "at_most": 4}, "models": ["m2"]}},
        lambda request: (
            (request.completion_tokens is None or 1 < request.completion_tokens <= 4)
            and request.model in ("", "m2")
        ),
    ),
]


@settings(max_examples=examples(15, soak=250), phases=UNSHRUNK)
@given(
    given_requests=st.lists(requests(), max_size=40),
    start=st.sampled_from(["received", "connected"]),
    unknown_clock=st.sampled_from(["bad", "void"]),
    percentiles=st.lists(st.sampled_from(["50", "7", "95", "99", "99.9"]), min_size=9, max_size=9),
    thresholds=st.lists(st.integers(1, 8), min_size=9, max_size=9),
    shift=st.integers(0, 5),
)
def test_a_random_month_is_judged_as_by_hand(  # noqa: PLR0917
    given_store, given_requests, start, unknown_clock, percentiles, thresholds, shift
):
    filters = [FILTERS[(place + shift) % len(FILTERS)] for place in range(9)]
    promises = list(zip(Clock, percentiles, thresholds, filters, strict=True))
    contract = a_contract(
        term={"from": "2026-01-01", "to": "2026-12-31", "time_zone": ZONE},
        clock={"start": start},
        scope={"models": ["m1", "m2"], "regions": ["r1"]},
        calendar={"busy": BUSY},
        quota={"requests_per_minute": 2, "tokens_per_minute": 9, "rejected_below": "bad"},
        objectives=[
            *(latency(str(clock), p, f"{limit}ms", **clauses) for clock, p, limit, (clauses, _) in promises),
            availability("75%", during="busy", name="busy availability"),
            availability("75%"),
        ],
        unmeasured=unmeasured(unknown_clock=unknown_clock),
    )
    report = evaluate(
        given_store.given(given_requests), contract, month=MONTH, as_of=AS_OF, software_version="test"
    )
    everyone = [request for request in given_requests if request.tenant == "acme"]
    month = [request for request in everyone if in_month(request)]
    assert report["traffic"]["outcomes"] == oracle.endings(month)
    assert report["traffic"]["admitted"] == report["evidence"]["rows"] == len(month)
    assert report["traffic"]["retried"] == sum(request.attempts > 1 for request in month)
    for row in report["latency"]:
        expected = oracle.display(month, row["clock"], start)
        assert {key: row[key] for key in expected} == expected, row["clock"]
    for found, (clock, p, limit, (_, belongs)) in zip(report["objectives"], promises, strict=False):
        expected = oracle.latency(
            [request for request in month if belongs(request)],
            clock=str(clock),
            percentile=Fraction(p),
            threshold_us=limit * UNIT_US,
            start=start,
            unknown_clock=unknown_clock,
        )
        got = oracle.Expected(
            n=found["n"],
            violations=found["violations"],
            unknown=found["unknown"],
            value=found["value"],
            kept=found["verdict"] == "met",
        )
        assert got == expected, found["name"]
        assert (found["verdict"] == "insufficient_data") == (expected.n == 0)
    for found, belongs in zip(report["objectives"][9:], [busy, in_month], strict=True):
        good, bad = ratio([request for request in month if belongs(request)], everyone)
        assert (found["good"], found["bad"], found["n"]) == (good, bad, good + bad)
        assert (found["verdict"] == "met") == (good + bad > 0 and 4 * good >= 3 * (good + bad))
    assert report["daily"] == days(month, start)


def ratio(requests, everyone) -> tuple[int, int]:
    good = sum(request.outcome == "ok" for request in requests)
    failures = ("incomplete", "substituted", "server_error", "timeout", "capacity_rejected")
    bad = sum(request.outcome in failures for request in requests)
    wrong = [
        request
        for request in requests
        if request.outcome == "quota_rejected" and oracle.below_quota(request, everyone, 2, 9)
    ]
    return good, bad + len(wrong)


def days(requests, start) -> list[dict[str, object]]:
    rows = []
    day = START
    for number in range(1, 31):
        after = oracle.local_midnight(date(2026, 11, number) + timedelta(days=1), ZONE)
        today = [request for request in requests if day <= request.received_at < after]
        row = oracle.display(today, "end_to_end", start)
        without = oracle.display(today, "excluding_queue", start)
        rows.append(
            {
                "date": f"2026-11-{number:02d}",
                "n": row["n"],
                "p99_with_queue": row["p99"],
                "p99_without_queue": without["p99"],
            }
        )
        day = after
    return rows


@settings(max_examples=examples(5, soak=80), phases=UNSHRUNK)
@given(given_requests=st.lists(requests(), max_size=30), seed=st.randoms())
def test_the_order_of_rows_changes_no_byte(given_store, given_requests, seed):
    contract = a_contract(
        term={"from": "2026-01-01", "to": "2026-12-31", "time_zone": ZONE},
        objectives=[latency(str(clock), "95", "3ms") for clock in Clock],
    )
    shuffled = list(given_requests)
    seed.shuffle(shuffled)
    relabelled = [replace(request, source="another gateway's file") for request in shuffled]
    first, second, third = (
        evaluate(given_store.given(rows), contract, month=MONTH, as_of=AS_OF, software_version="test")
        for rows in (given_requests, shuffled, relabelled)
    )
    assert first == second == third


def test_the_hash_notices_one_microsecond(given_store):
    contract = a_contract()
    request = a_request()
    reports = [
        evaluate(given_store.given([each]), contract, month="2026-10", as_of=AS_OF, software_version="test")
        for each in (request, replace(request, end_to_end_us=request.end_to_end_us + 1))
    ]
    assert reports[0]["evidence"]["rows_sha256"] != reports[1]["evidence"]["rows_sha256"]


@pytest.mark.parametrize("count", [1, 2, 99, 100, 101, 1000, 1001, 4096])
def test_every_rank_is_the_sorted_lists_element(given_store, count):
    values = [(number * 7919) % count * 10 for number in range(count)]
    contract = a_contract(objectives=[latency(percentile=p, at_most="1s") for p in ("7", "55", "99", "99.9")])
    report = evaluate(
        given_store.given([a_request(end_to_end_us=value) for value in values]),
        contract,
        month="2026-10",
        as_of=AS_OF,
        software_version="test",
    )
    for found, p in zip(report["objectives"], ("7", "55", "99", "99.9"), strict=True):
        assert found["value"] == oracle.nearest_rank(sorted(values), Fraction(p)) / 1_000_000
