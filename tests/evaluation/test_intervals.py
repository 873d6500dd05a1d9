"""Availability by time and promises about windows, whole evaluations against a second computation by hand."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from fractions import Fraction

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from fairclock.model import Interval, to_us
from sla.evaluation import evaluate
from sla.evaluation.excluded import NOTHING, Excluded
from tests.evaluation import interval_oracle, oracle
from tests.evaluation.conftest import AS_OF
from tests.evaluation.factories import a_contract, a_request, unmeasured
from tests.laws import examples

# half-hour zones, and months in which the clocks change: Lord Howe moves by half an hour
PLACES = [
    ("America/New_York", "2026-11"),
    ("Australia/Lord_Howe", "2026-10"),
    ("Asia/Kolkata", "2026-02"),
    ("Europe/Berlin", "2026-03"),
]
UNSHRUNK = (Phase.explicit, Phase.reuse, Phase.generate)  # each try runs a whole evaluation
HOUR_US = 3_600_000_000
BUSY = [{"days": "mon-sun", "from": "00:30", "to": "03:10"}]
BAD_OUTCOMES = ("incomplete", "substituted", "server_error", "timeout", "capacity_rejected")
OUTCOMES = [
    "ok",
    "ok",
    "ok",
    "quota_rejected",
    "server_error",
    "timeout",
    "substituted",
    "client_error",
    "client_aborted",
]

counts = st.sampled_from(["good", "bad"])


@st.composite
def clauses(draw):
    interval = draw(st.sampled_from(["15m", "50m", "1h", "7h", "40d"]))
    downtime = {
        "formula": "downtime",
        "interval": interval,
        "bad_above": draw(st.sampled_from(["10%", "25%", "50%"])),
        "consecutive": draw(st.sampled_from(["1", "2", "3"])),
        "empty": draw(st.sampled_from(["good", "bad", "void"])),
        "target": draw(st.sampled_from(["50%", "99%", "99.5%"])),
    }
    if draw(st.booleans()):
        downtime |= {
            "min_requests": draw(st.sampled_from(["2", "3", "5"])),
            "below_min": draw(st.sampled_from(["merge_next", "merge_next", "good", "bad", "void"])),
        }
    mean = {
        "formula": "mean_interval_error",
        "interval": draw(st.sampled_from(["30m", "2h"])),
        "empty": draw(st.sampled_from(["zero_error", "bad", "void"])),
        "target": draw(st.sampled_from(["50%", "99%"])),
    }
    return downtime, mean


@st.composite
def traffic(draw, start: datetime, end: datetime):
    """Requests that crowd in a few hours, so that intervals hold several, and gaps in the coverage there."""
    hours = draw(st.lists(st.integers(-1, 30), min_size=1, max_size=4))
    last = [(end - start) // timedelta(hours=1) - 1]
    requests = []
    for _ in range(draw(st.integers(0, 40))):
        hour = draw(st.sampled_from([*hours, *last]))
        at = start + timedelta(
            hours=hour,
            minutes=draw(st.sampled_from([0, 14, 15, 30, 59])),
            microseconds=draw(st.integers(-1, 1)),
        )
        decode_us = draw(st.sampled_from([None, 0, 1000, 1001, 3000]))
        requests.append(
            a_request(
                received_at=at,
                outcome=draw(st.sampled_from(OUTCOMES)),
                model=draw(st.sampled_from(["", "m1", "m1", "m2"])),
                inference_mode=draw(st.sampled_from(["", "fp16", "int8", "int4"])),
                engine=draw(st.sampled_from(["joined", "none"])),
                end_to_end_us=draw(st.integers(1, 6)) * 1000,
                decode_us=decode_us,
                decode_tokens=draw(st.sampled_from([None, 1, 2, 4, 5])),
                prefill_us=None if decode_us is None else 1,
                queue_us=None if decode_us is None else 1,
            )
        )
    covered, at = [], start
    for hour, minutes in sorted(
        draw(st.lists(st.tuples(st.integers(0, 40), st.integers(1, 70)), max_size=3))
    ):
        gap = start + timedelta(hours=hour)
        if at < gap:
            covered.append(Interval(start=at, end=gap))
        at = max(at, gap + timedelta(minutes=minutes))
    covered.append(Interval(start=at, end=end))
    return requests, covered


def spans(intervals) -> list[tuple[int, int]]:
    return [(to_us(each.start), to_us(each.end)) for each in intervals]


def at(request) -> int:
    return to_us(request.received_at)


LEVELS = {
    "levels": [
        {"name": "full", "modes": ["fp16"]},
        {"name": "small", "modes": ["int4"], "counts": "bad"},
    ]
}


def is_good(request, levels) -> bool:
    if levels and request.inference_mode == "int4":
        return False
    return request.outcome == "ok" or (
        bool(levels) and request.outcome == "substituted" and request.inference_mode == "fp16"
    )


def is_bad(request, levels) -> bool:
    if is_good(request, levels):
        return False
    return request.outcome in BAD_OUTCOMES or request.outcome == "ok"


@settings(max_examples=examples(25, soak=600), phases=UNSHRUNK)
@given(data=st.data(), place=st.sampled_from(PLACES), unread=st.sampled_from(["bad", "void"]))
def test_time_is_judged_as_by_hand(given_store, data, place, unread):
    zone, month = place
    start, end = oracle.month_bounds(month, zone)
    downtime, mean = data.draw(clauses())
    requests, covered = data.draw(traffic(start, end))
    busy = data.draw(st.booleans())
    levels = data.draw(st.sampled_from([None, LEVELS]))
    as_of = data.draw(st.sampled_from([AS_OF, start + timedelta(hours=29, minutes=20)]))
    holidays = data.draw(
        st.lists(st.tuples(st.integers(0, 40), st.integers(1, 180)), max_size=2).map(
            lambda found: [
                Interval(
                    start=start + timedelta(hours=hour), end=start + timedelta(hours=hour, minutes=minutes)
                )
                for hour, minutes in found
            ]
        )
    )
    during = {"during": "busy"} if busy else {}
    contract = a_contract(
        term={"from": "2026-01-01", "to": "2026-12-31", "time_zone": zone},
        calendar={"busy": BUSY},
        objectives=[
            {"name": "uptime", "availability": downtime, **during},
            {"name": "mean", "availability": mean, **during},
        ],
        unmeasured=unmeasured(time=unread),
        quality=levels,
        quota={"requests_per_minute": 2, "rejected_below": "bad"},
    )
    report = evaluate(
        given_store.given(requests, gateway=covered),
        contract,
        month=month,
        as_of=as_of,
        software_version="test",
        excluded=Excluded(instants=tuple(holidays)),
    )
    looked_at = [(to_us(start), to_us(end))]
    if busy:
        looked_at = [
            (to_us(first), to_us(last))
            for first, last in oracle.daily_spans(start, end, zone, "00:30", "03:10")
        ]
    for holiday in holidays:
        low, high = to_us(holiday.start), to_us(holiday.end)
        looked_at = interval_oracle.overlap(looked_at, [(0, low), (high, 2**62)])
    good = [at(request) for request in requests if is_good(request, levels)]
    bad = [
        at(request)
        for request in requests
        if is_bad(request, levels)
        or (request.outcome == "quota_rejected" and oracle.below_quota(request, requests, 2, None))
    ]
    for found, clause, judge in zip(
        report["objectives"],
        (contract.objectives[0].availability, contract.objectives[1].availability),
        (interval_oracle.downtime, interval_oracle.mean_error),
        strict=True,
    ):
        grid = interval_oracle.intervals(to_us(start), to_us(end), clause.interval_us, to_us(as_of))
        seen = interval_oracle.observe(grid, looked_at, spans(covered), good, bad)
        words = {key: value for key, value in clause if value is not None}
        expected = judge(seen, words, unread)
        exact = expected.pop("value")
        assert {key: found[key] for key in expected} == expected, found["name"]
        assert found["value"] == (None if exact is None else pytest.approx(float(exact), abs=1e-15))
        verdict = "insufficient_data" if exact is None else "met" if exact >= clause.target else "violated"
        assert found["verdict"] == verdict
        if exact is not None:
            assert (found["value"] >= float(clause.target)) == (exact >= clause.target)


@settings(max_examples=examples(20, soak=400), phases=UNSHRUNK)
@given(data=st.data(), place=st.sampled_from(PLACES), unknown_clock=st.sampled_from(["bad", "void"]))
def test_windows_are_judged_as_by_hand(given_store, data, place, unknown_clock):
    zone, month = place
    start, end = oracle.month_bounds(month, zone)
    requests, _ = data.draw(traffic(start, end))
    speed = {
        "clock": "output_tokens_per_second",
        "at_least": data.draw(st.sampled_from(["1000", "1333.333333", "1333.333334", "3996.004"])),
        "window": data.draw(st.sampled_from(["15m", "1h", "40d"])),
        "statistic": data.draw(st.sampled_from(["p50", "p7", "p99.9", "mean"])),
        "windows_met": data.draw(st.sampled_from(["50%", "99%"])),
        "min_requests": data.draw(st.sampled_from(["1", "3"])),
    }
    windowed = {
        "clock": data.draw(st.sampled_from(["end_to_end", "decode", "inference"])),
        "percentile": data.draw(st.sampled_from(["50", "99"])),
        "at_most": f"{data.draw(st.integers(1, 6))}ms",
        "window": data.draw(st.sampled_from(["15m", "2h"])),
        "combine": data.draw(st.sampled_from(["mean", "worst"])),
    }
    contract = a_contract(
        term={"from": "2026-01-01", "to": "2026-12-31", "time_zone": zone},
        evaluate_per=["model"],
        objectives=[{"name": "speed", "rate": speed}, {"name": "windows", "latency": windowed}],
        unmeasured=unmeasured(unknown_clock=unknown_clock),
    )
    report = evaluate(
        given_store.given(requests), contract, month=month, as_of=AS_OF, software_version="test"
    )
    month_of = [request for request in requests if start <= request.received_at < end]
    models = sorted({request.model for request in month_of} - {""}) or [None]
    rows = [(row["name"], (row["part"] or {}).get("model")) for row in report["objectives"]]
    assert rows == [(name, model) for name in ("speed", "windows") for model in models]
    for row in report["objectives"]:
        model = (row["part"] or {}).get("model")
        mine = [request for request in month_of if model is None or request.model in ("", model)]
        clause = contract.objectives[0].rate if row["name"] == "speed" else contract.objectives[1].latency
        windows = interval_oracle.by_window(mine, at, to_us(start), to_us(end), clause.window_us)
        words = dict(clause)
        if row["name"] == "speed":
            words["at_least"] = Fraction(words["at_least"])
            expected = interval_oracle.rate(windows, words, unknown_clock=unknown_clock)
        else:
            expected = interval_oracle.windowed_latency(
                windows, words, start="received", unknown_clock=unknown_clock
            )
        kept = expected.pop("kept")
        assert {key: row[key] for key in expected} == expected, row["name"]
        assert row["verdict"] == ("insufficient_data" if not row["n"] else "met" if kept else "violated")
        if row["name"] == "speed" and row["n"]:
            assert (row["value"] >= float(clause.at_least)) == kept


ORDER = {"violated": 0, "insufficient_data": 1, "met": 2}


@settings(max_examples=examples(12, soak=250), phases=UNSHRUNK)
@given(data=st.data(), place=st.sampled_from(PLACES), unread=st.sampled_from(["bad", "void"]))
def test_a_good_request_turned_bad_never_raises_a_result_and_order_changes_nothing(
    given_store, data, place, unread
):
    zone, month = place
    start, end = oracle.month_bounds(month, zone)
    downtime, mean = data.draw(clauses())
    requests, covered = data.draw(traffic(start, end))
    contract = a_contract(
        term={"from": "2026-01-01", "to": "2026-12-31", "time_zone": zone},
        objectives=[{"name": "uptime", "availability": downtime}, {"name": "mean", "availability": mean}],
        unmeasured=unmeasured(time=unread),
    )

    def judged(rows):
        return evaluate(
            given_store.given(rows, gateway=covered),
            contract,
            month=month,
            as_of=AS_OF,
            software_version="test",
            excluded=NOTHING,
        )

    before = judged(requests)
    shuffled = data.draw(st.permutations(requests))
    assert judged(shuffled) == before
    worse = [
        replace(request, outcome="timeout")
        if request.outcome == "ok" and data.draw(st.booleans())
        else request
        for request in requests
    ]
    for old, new in zip(before["objectives"], judged(worse)["objectives"], strict=True):
        if old["value"] is not None:
            assert new["value"] <= old["value"]
            assert ORDER[new["verdict"]] <= ORDER[old["verdict"]]
