"""Cold starts on the real engine: rows in, and what is left out of the month and of its slices."""

from __future__ import annotations

from datetime import timedelta

import pytest

from fairclock.model import Interval
from sla.evaluation import evaluate
from sla.evaluation.excluding import engine_starts, month_exclusions
from sla.evaluation.months import month_of
from sla.slices import evaluate_slices, in_force, slices_as_of
from tests.engine_lives.conftest import DAY, START, UPSTREAM, at
from tests.evaluation.factories import a_contract, availability

OTHER = "10.0.0.2:8000"


def contract(cap="30m", **changes):
    return a_contract(
        objectives=[availability()],
        exclusions={"cold_start": {"cap_per_month": cap}} if cap else {},
        **changes,
    )


def report(books, terms=None):
    return evaluate(books.store, terms or contract(), month="2026-10", software_version="test")


def planned(books, terms=None):
    """Return what is left out of the month."""
    terms, as_of = terms or contract(), books.store.watermark()
    month = month_of(terms, "2026-10", as_of, None)
    return month_exclusions(books.store, terms, month, as_of, said=()).plan


def counted(found):
    (objective,) = found["objectives"]
    return objective["n"], objective["bad"], found["traffic"]["excluded"]


def a_cold_start(books):
    """An engine that begins at 100 s, is loaded at 160 s and first serves at 180 s; three failures before, one after."""
    books.said(160, "started")
    books.scrapes([175, 190], 100)
    for number, second in enumerate((90, 110, 150, 170), start=1):
        books.request(second, number=number, status=502, took=0.1, instance=None)
    for number, second in enumerate((180, 200), start=11):
        books.request(second, number=number)
    books.request(190, number=21, status=502, took=0.1, instance=None)
    # elsewhere, meanwhile: routed to another engine, or to none
    books.request(130, number=31, upstream=OTHER, status=502, took=0.1, instance=None)
    books.request(131, number=32, upstream="", status=502, took=0.1, instance=None)


def test_what_was_sent_to_an_engine_between_its_start_and_its_first_answer_leaves_the_month(books):
    a_cold_start(books)
    found = report(books)
    assert counted(found) == (6, 4, 3)
    by_process, by_plugin = found["exclusions"]
    assert (by_process["clause"], by_process["state"], by_process["automatic"], by_process["upstream"]) == (
        "exclusions.cold_start",
        "automatic",
        True,
        UPSTREAM,
    )
    assert (by_process["from"], by_process["to"]) == ("2026-10-07T01:01:40Z", "2026-10-07T01:03:00Z")
    assert (by_plugin["from"], by_plugin["to"]) == ("2026-10-07T01:02:40Z", "2026-10-07T01:03:00Z")
    assert by_process["cap"] == {
        "claimed_seconds": 80.0,
        "granted_seconds": 80.0,
        "allowed_seconds": 1800.0,
        "used_seconds": 80.0,
    }
    assert "process_start_time_seconds of 10.0.0.1:8000 says 2026-10-07T01:01:40Z" in by_process["evidence"]
    assert "2 joined requests to 10.0.0.1:8000 were served by engine-1" in by_plugin["evidence"]
    (objective,) = found["objectives"]
    assert objective["verdict_without_exclusions"] == "violated"
    assert "exclusions.cold_start" not in found["not_evaluated"]


def test_the_slices_leave_out_the_same_requests(books):
    a_cold_start(books)
    terms = contract()
    as_of = books.store.watermark()
    (version,) = in_force(books.store, [terms], as_of)
    evaluate_slices(books.store, [version], as_of=as_of)
    found = slices_as_of(books.store, version.key, DAY, books.store.watermark())
    (tallies,) = zip(*(each.tallies for each in found), strict=True)
    assert [
        sum(getattr(each, name) for each in tallies) for name in ("good", "bad", "excluded", "unknown")
    ] == [
        2,
        4,
        3,
        0,
    ]


def test_slices_are_counted_anew_once_the_first_served_request_is_known(books):
    books.said(160, "started")
    books.request(170, number=1, status=502, took=0.1, instance=None)
    terms = contract()

    def excluded():
        as_of = books.store.watermark()
        (version,) = in_force(books.store, [terms], as_of)
        evaluate_slices(books.store, [version], as_of=as_of)
        found = slices_as_of(books.store, version.key, DAY, books.store.watermark())
        return version.inputs, sum(each.tallies[0].excluded for each in found)

    before, none = excluded()
    assert none == 0
    books.request(180, number=2)
    after, one = excluded()
    assert (one, after != before) == (1, True)
    assert excluded() == (after, 1)


def test_the_cap_is_used_up_in_time_order_and_the_rest_counts(books):
    a_cold_start(books)
    books.said(3600, "started")
    books.request(3610, number=41)
    # eighty seconds of the first start, of which 110 lies in the first twenty; 150, 170 and the second start do not
    found = report(books, contract(cap="20s"))
    assert counted(found) == (9, 6, 1)
    assert [each["cap"]["granted_seconds"] for each in found["exclusions"]] == [20.0, 0.0, 0.0]


def nothing_said(books):
    books.request(110, number=1, status=502, took=0.1, instance=None)
    books.request(180, number=2)


def nothing_served(books):
    books.said(100, "started")
    books.scrapes([100], 50)
    books.request(110, number=1, status=502, took=0.1, instance=None)


def served_by_nobody_known(books):
    books.said(100, "started", instance="engine-9")
    books.request(110, number=1, status=502, took=0.1, instance=None)
    books.request(180, number=2, instance=None)


def served_under_two_upstreams(books):
    books.said(100, "started")
    books.request(110, number=1, status=502, took=0.1, instance=None)
    books.request(180, number=2)
    books.request(181, number=3, upstream=OTHER)


def one_upstream_leads_to_two_engines(books):
    books.said(100, "started")
    books.request(110, number=1, status=502, took=0.1, instance=None)
    books.request(180, number=2)
    books.request(181, number=3, instance="engine-2")


def started_again_before_it_served(books):
    books.said(100, "started")
    books.said(150, "started")
    books.request(110, number=1, status=502, took=0.1, instance=None)
    books.request(180, number=2)


def served_a_day_later(books):
    books.said(100, "started")
    books.request(110, number=1, status=502, took=0.1, instance=None)
    books.request(100 + 86_400, number=2)


def another_answered_meanwhile(books):
    """A name for several engines: it answered well at once."""
    books.said(100, "started")
    books.request(101, number=1, instance=None)
    books.request(110, number=2, status=502, took=0.1, instance=None)
    books.request(180, number=3)


def served_past_the_gateway(books):
    """A request of somebody else, straight to the engine, was the first."""
    books.said(100, "started")
    books.engine_row(105, number=99)
    books.request(110, number=1, status=502, took=0.1, instance=None)
    books.request(180, number=2)


@pytest.mark.parametrize(
    "given",
    [
        nothing_said,
        nothing_served,
        served_by_nobody_known,
        served_under_two_upstreams,
        one_upstream_leads_to_two_engines,
        started_again_before_it_served,
        served_a_day_later,
        another_answered_meanwhile,
        served_past_the_gateway,
    ],
    ids=lambda given: given.__name__.replace("_", " "),
)
def test_without_evidence_nothing_is_left_out(books, given):
    given(books)
    plan = planned(books)
    assert not plan.holds(at(110), UPSTREAM)


def test_an_operator_may_call_engine_and_upstream_by_one_name(books):
    books.said(100, "started", instance=UPSTREAM)
    books.request(110, number=1, status=502, took=0.1, instance=None)
    books.request(180, number=2, instance=None)
    plan = planned(books)
    assert (plan.holds(at(110), UPSTREAM), plan.holds(at(180), UPSTREAM)) == (True, False)


def test_a_request_that_another_tenant_was_served_first_ends_the_start(books):
    books.said(100, "started")
    books.request(120, number=2, tenant="other")
    plan = planned(books)
    assert (plan.holds(at(119), UPSTREAM), plan.holds(at(120), UPSTREAM)) == (True, False)


def test_a_contract_without_the_clause_asks_no_engine_and_leaves_nothing_out(books):
    a_cold_start(books)
    assert planned(books, contract(cap=None)).pieces == ()


def test_a_start_is_known_once_its_rows_are_stored(books):
    before = books.store.watermark()
    books.said(160, "started")
    books.request(180, number=1)
    window = Interval(start=START, end=START + timedelta(hours=1))
    assert engine_starts(books.store, window, before) == []
    (found,) = engine_starts(books.store, window, books.store.watermark())
    assert (found.started_at, found.first_served_at, found.upstream) == (at(160), at(180), UPSTREAM)


def test_an_engine_that_is_told_by_spans_and_by_the_plugin_is_one(books):
    """A span calls the engine otherwise than its plugin does; one request is one row, and names one engine."""
    books.said(100, "started")
    books.request(180, number=1, instance="host:7")
    books.engine_row(180.005, number=1, instance="engine-1", took=0.99, reporter="plugin", trace_id="")
    window = Interval(start=START, end=START + timedelta(hours=1))
    (found,) = engine_starts(books.store, window, books.store.watermark())
    assert found.upstream == UPSTREAM


@pytest.mark.parametrize(("first", "last"), [(-50, 170), (165, 300), (0, 300)])
def test_a_start_is_the_same_whichever_window_it_touches(books, first, last):
    """A start at the edge of a month, or served in the next one, is no other."""
    a_cold_start(books)
    found = engine_starts(books.store, Interval(start=at(first), end=at(last)), books.store.watermark())
    assert [(each.started_at, each.first_served_at) for each in found] == [
        (at(100), at(180)),
        (at(160), at(180)),
    ]
