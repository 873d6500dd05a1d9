"""What exclusions do to a month, on the real engine: rows leave numerator and denominator, and nothing else moves."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fairclock.model.remedies import DegradationEntry
from fairclock.store import Query, open_store
from fairclock.store.remedies import keep_degradation, keep_exclusion
from sla.evaluation import evaluate
from sla.exclusions import EngineStart
from tests.evaluation.conftest import GivenRequests
from tests.evaluation.factories import a_contract, a_request, availability, latency
from tests.exclusions.factories import HOUR, START, a_proposal, an_answer, between

NOW = datetime(2126, 12, 1, tzinfo=UTC)  # later than whatever the test's store stamps
MINUTE = timedelta(minutes=1)
TERMS = {
    "exclusions": {
        "maintenance": {
            "notice": "72h",
            "notice_to": ["sla@acme.example"],
            "cap_per_month": "4h",
            "emergency": "excluded",
        },
        "cold_start": {"cap_per_month": "30m"},
        "client_network": {"cap_per_month": "0.1%"},
        "named": ["force_majeure"],
    }
}


@pytest.fixture(scope="module")
def month(tmp_path_factory):
    with open_store(f"chdb://{tmp_path_factory.mktemp('store')}") as store:
        yield Month(GivenRequests(store))


class Month:
    """October with given rows, and with what was said of its exclusions."""

    def __init__(self, given_store):
        self.given = given_store
        self.store = given_store.store

    def say(self, *entries):
        for table in ("exclusions", "degradations"):
            self.store.execute(Query(sql=f"TRUNCATE TABLE {table}"))
        for entry in entries:
            (keep_degradation if isinstance(entry, DegradationEntry) else keep_exclusion)(self.store, entry)

    def report(self, requests, *, contract=None, as_of=NOW, **covered):
        covered = covered or {"gateway": [between("2026-09-01T00:00Z", "2026-12-01T00:00Z")]}
        return evaluate(
            self.given.given(requests, **covered),
            contract or a_contract(objectives=[availability(), latency()], **TERMS),
            month="2026-10",
            as_of=as_of,
            software_version="test",
        )


def said(state="accepted", **changes):
    """A proposal that is open for a century, and an answer to it: the store stamps both with the present."""
    first = a_proposal(**{"answer_by": NOW + HOUR} | changes)
    return [first] if state == "proposed" else [first, an_answer(first, state, START)]


def of(report, name):
    (found,) = [each for each in report["objectives"] if each["name"] == name]
    return found


BAD = {"outcome": "server_error", "status": 500}


def test_requests_in_the_window_leave_numerator_and_denominator_and_its_end_is_not_in_it(month):
    month.say(*said())
    instants = [
        START - timedelta(microseconds=1),
        START,
        START + 2 * HOUR - timedelta(microseconds=1),
        START + 2 * HOUR,
    ]
    report = month.report([a_request(received_at=each, **BAD) for each in instants])
    found = of(report, "availability")
    assert (found["n"], found["bad"], report["traffic"]["excluded"], report["traffic"]["admitted"]) == (
        2,
        2,
        2,
        4,
    )
    (listed,) = report["exclusions"]
    assert listed["effect"] == {"requests": 2, "verdicts": []}
    assert (listed["state"], listed["retroactive"], listed["late"]) == ("accepted", True, False)
    assert listed["cap"]["granted_seconds"] == 7200.0
    assert "exclusions.maintenance" not in report["not_evaluated"]


@pytest.mark.parametrize(
    ("state", "verdict", "without", "effect"),
    [
        ("accepted", "met", "violated", [{"objective": "availability", "is": "met", "would_be": "violated"}]),
        (
            "disputed",
            "violated",
            "violated",
            [{"objective": "availability", "is": "violated", "would_be": "met"}],
        ),
        (
            "proposed",
            "violated",
            "violated",
            [{"objective": "availability", "is": "violated", "would_be": "met"}],
        ),
        ("revoked", "violated", "violated", None),
    ],
)
def test_the_verdict_with_without_and_what_hangs_on_it(month, state, verdict, without, effect):
    month.say(*said(state))
    requests = [a_request(received_at=START, **BAD), a_request(received_at=START - HOUR)]
    report = month.report(requests)
    found = of(report, "availability")
    assert (found["verdict"], found["verdict_without_exclusions"]) == (verdict, without)
    (listed,) = report["exclusions"]
    assert (listed["effect"] or {"verdicts": None})["verdicts"] == effect
    assert of(report, "p99-end_to_end")["verdict_without_exclusions"] == "met"


def test_what_is_said_after_the_as_of_instant_is_not_known_in_it(month):
    requests = [a_request(received_at=START, **BAD)]
    month.say(*said("proposed"))
    before = month.store.watermark()
    month.store.execute(Query(sql="SELECT 1"))
    keep_exclusion(month.store, an_answer(a_proposal(answer_by=NOW), "accepted", START))
    assert month.report(requests, as_of=before)["exclusions"][0]["state"] == "proposed"
    assert month.report(requests)["exclusions"][0]["state"] == "accepted"


def test_of_availability_by_time_the_minutes_leave_too(month):
    month.say(*said())
    downtime = {
        "name": "uptime",
        "availability": {
            "formula": "downtime", "interval": "1m", "bad_above": "5%", "consecutive": 1, "empty": "good", "target": "99.5%",
        },
    }  # fmt: skip
    contract = a_contract(objectives=[downtime], **TERMS)
    requests = [a_request(received_at=START + number * MINUTE, **BAD) for number in range(300)]
    report = month.report(requests, contract=contract)
    found = of(report, "uptime")
    whole = 744 * 60
    assert (found["n"], found["bad"]) == (whole - 120, 180)
    month.say()
    found = of(month.report(requests, contract=contract), "uptime")
    assert (found["n"], found["bad"]) == (whole, 300)


def test_a_cold_start_leaves_out_what_was_routed_to_that_engine(month, monkeypatch):
    month.say()
    start = EngineStart(
        instance="engine-1",
        upstream="10.0.0.1:8000",
        started_at=START,
        first_served_at=START + 10 * MINUTE,
        evidence="engine_states",
    )
    monkeypatch.setattr("sla.evaluation.excluding.engine_starts", lambda *_: (start,))
    requests = [
        a_request(received_at=START + MINUTE, upstream=upstream, **BAD)
        for upstream in ("10.0.0.1:8000", "10.0.0.2:8000", "")
    ] + [a_request(received_at=START + 10 * MINUTE, **BAD)]
    report = month.report(requests)
    assert (of(report, "availability")["n"], report["traffic"]["excluded"]) == (3, 1)
    (listed,) = report["exclusions"]
    assert (listed["state"], listed["upstream"], listed["effect"]["requests"]) == (
        "automatic",
        "10.0.0.1:8000",
        1,
    )


def test_a_request_refused_below_its_quota_is_left_out_too_and_others_still_use_the_quota_up(month):
    month.say(*said(ends_at=START + MINUTE))
    quota = {"requests_per_minute": 1, "rejected_below": "bad"}
    contract = a_contract(objectives=[availability()], quota=quota, **TERMS)
    refused = {"outcome": "quota_rejected", "status": 429}
    inside = [a_request(received_at=START + timedelta(seconds=30), **refused)]
    assert of(month.report(inside, contract=contract), "availability")["n"] == 0
    after = [
        a_request(received_at=START + timedelta(seconds=50)),
        a_request(received_at=START + 1.5 * MINUTE, **refused),
    ]
    assert of(month.report(after, contract=contract), "availability")["n"] == 0


def test_what_an_earlier_month_left_out_is_not_carried_over(month):
    september = datetime(2026, 9, 10, 2, tzinfo=UTC)
    month.say(*said(starts_at=september, ends_at=september + HOUR))
    contract = a_contract(
        objectives=[availability()], insufficient={"below": 3, "verdict": "carry_over"}, **TERMS
    )
    requests = [
        a_request(received_at=september, **BAD),
        a_request(received_at=september - HOUR),
        a_request(received_at=START),
        a_request(received_at=START),
    ]
    found = of(month.report(requests, contract=contract), "availability")
    assert (found["n"], found["bad"], found["carried"]) == (3, 0, 1)
    assert (found["verdict"], found["verdict_without_exclusions"]) == ("met", "violated")


def test_degradations_are_listed_with_their_requests_by_mode(month):
    entry = {"sequence": 1, "mode": "int8", "reason": "memory", "author": "Ops", "origin": "command"}
    month.say(
        DegradationEntry(id="dg-1", starts_at=START, ends_at=START + HOUR, **entry),
        DegradationEntry(id="dg-2", starts_at=START, ends_at=None, tenants=("other",), **entry),
        DegradationEntry(id="dg-3", starts_at=START + 2 * HOUR, ends_at=None, tenants=("acme",), **entry),
    )
    requests = [
        a_request(received_at=START + offset, inference_mode=mode)
        for offset, mode in (
            (0 * HOUR, "int8"),
            (MINUTE, "int8"),
            (MINUTE, ""),
            (HOUR, "int8"),
            (3 * HOUR, "fp16"),
        )
    ]
    quality = {"levels": [{"name": "reduced", "modes": ["int8"], "counts": "good"}]}
    report = month.report(requests, contract=a_contract(quality=quality))
    assert [(each["id"], each["level"], each["requests_by_mode"]) for each in report["degradations"]] == [
        ("dg-1", "reduced", {"": 1, "int8": 2}),
        ("dg-3", "reduced", {"fp16": 1}),
    ]


# --- against a walk over the rows ---------------------------------------------------------------------------------

minutes = st.integers(0, 600)
windows = st.lists(
    st.tuples(
        st.sampled_from(["maintenance", "force_majeure"]),
        minutes,
        st.integers(1, 300),
        st.sampled_from(["accepted", "disputed", "revoked", "proposed"]),
    ),
    max_size=4,
)
traffic = st.lists(st.tuples(minutes, st.booleans()), max_size=12)


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(windows=windows, traffic=traffic)
def test_counts_agree_with_a_walk_over_the_rows(month, windows, traffic):
    entries = []
    for number, (clause, start, length, state) in enumerate(windows):
        begin = START + start * MINUTE
        entries += said(
            state, id=f"ex-{number}", clause=clause, starts_at=begin, ends_at=begin + length * MINUTE
        )
    month.say(*entries)
    requests = [
        a_request(received_at=START + at * MINUTE, **(BAD if is_bad else {})) for at, is_bad in traffic
    ]
    report = month.report(requests)
    left, out = 240, set()  # minutes of maintenance
    for minute in range(901):
        clauses = {
            c
            for c, start, length, state in windows
            if state == "accepted" and start <= minute < start + length
        }
        if "maintenance" in clauses and left:
            out.add(minute)
            left -= 1
        if "force_majeure" in clauses:
            out.add(minute)
    kept = [is_bad for at, is_bad in traffic if at not in out]
    found = of(report, "availability")
    assert (found["n"], found["bad"]) == (len(kept), sum(kept))
    assert found["n"] + report["traffic"]["excluded"] == len(traffic) == report["traffic"]["admitted"]
    counted = [is_bad for _, is_bad in traffic]
    expected = "insufficient_data" if not counted else "violated" if any(counted) else "met"
    assert found["verdict_without_exclusions"] == expected


@settings(max_examples=2, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(traffic=traffic)
def test_excluding_nothing_changes_nothing(month, traffic):
    requests = [
        a_request(received_at=START + at * MINUTE, **(BAD if is_bad else {})) for at, is_bad in traffic
    ]
    month.say()
    before = month.report(requests)
    elsewhere = START + 100 * HOUR
    month.say(*said("disputed"), *said(id="ex-2", starts_at=elsewhere, ends_at=elsewhere + HOUR))
    after = month.report(requests)
    exclusions = after.pop("exclusions")
    assert before.pop("exclusions") == []
    assert after == before
    assert [each["id"] for each in exclusions] == ["ex-1", "ex-2"]
