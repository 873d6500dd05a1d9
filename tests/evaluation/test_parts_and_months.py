"""Models and regions judged apart, months from anniversary to anniversary, quality levels in a ratio."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from fairclock.errors import NotEvaluable
from sla.evaluation import evaluate
from tests.evaluation.conftest import AS_OF
from tests.evaluation.factories import a_contract, a_request, availability, latency


def judged(store, requests, month="2026-10", **clauses):
    return evaluate(
        store.given(requests), a_contract(**clauses), month=month, as_of=AS_OF, software_version="test"
    )


def requests_of(*places: tuple[str, str]):
    return [a_request(model=model, region=region) for model, region in places]


@pytest.mark.parametrize(
    ("clauses", "places", "expected"),
    [
        pytest.param(
            {"evaluate_per": ["model"]},
            [("m1", ""), ("m1", ""), ("m2", ""), ("", "")],
            [({"model": "m1"}, 3), ({"model": "m2"}, 2)],
            id="a request without a model belongs to each",
        ),
        pytest.param(
            {"evaluate_per": ["model", "region"]},
            [("m1", "r1"), ("m1", "r2"), ("m2", "r1")],
            [
                ({"model": "m1", "region": "r1"}, 1),
                ({"model": "m1", "region": "r2"}, 1),
                ({"model": "m2", "region": "r1"}, 1),
                ({"model": "m2", "region": "r2"}, 0),
            ],
            id="each model in each region",
        ),
        pytest.param(
            {"evaluate_per": ["region"], "scope": {"regions": ["r2", "r1"]}},
            [("m1", "r1")],
            [({"region": "r2"}, 0), ({"region": "r1"}, 1)],
            id="those that the scope names, with traffic or not",
        ),
        pytest.param({"evaluate_per": ["model"]}, [("", "")], [({}, 1)], id="nothing was logged to part by"),
        pytest.param({"evaluate_per": ["model"]}, [], [({}, 0)], id="no traffic at all"),
        pytest.param({}, [("m1", ""), ("m2", "")], [(None, 2)], id="not parted"),
    ],
)
def test_there_is_one_verdict_each(given_store, clauses, places, expected):
    report = judged(given_store, requests_of(*places), objectives=[availability()], **clauses)
    assert [(row["part"], row["n"]) for row in report["objectives"]] == expected
    assert report["traffic"]["admitted"] == len(places)
    assert report["not_evaluated"] == []


def test_an_objective_on_one_model_says_nothing_of_the_others(given_store):
    report = judged(
        given_store,
        requests_of(("m1", ""), ("m2", "")),
        objectives=[latency(where={"models": ["m2"]})],
        evaluate_per=["model"],
    )
    assert [row["part"] for row in report["objectives"]] == [{"model": "m2"}]


def test_one_slow_model_is_not_hidden_behind_the_others(given_store):
    requests = [a_request(model="fast") for _ in range(300)] + [
        a_request(model="slow", end_to_end_us=3_000_000) for _ in range(3)
    ]
    whole = judged(given_store, requests, objectives=[latency()])
    apart = judged(given_store, requests, objectives=[latency()], evaluate_per=["model"])
    assert [row["verdict"] for row in whole["objectives"]] == ["met"]
    assert [(row["verdict"], row["value"]) for row in apart["objectives"]] == [
        ("met", 1.0),
        ("violated", 3.0),
    ]


@pytest.mark.parametrize(
    ("first", "last", "month", "start", "end"),
    [
        ("2026-01-15", "2026-12-31", "2026-10", (10, 15), (11, 15)),
        ("2026-01-31", "2026-12-31", "2026-02", (2, 28), (3, 31)),
        ("2026-01-31", "2026-12-31", "2026-04", (4, 30), (5, 31)),
        ("2026-01-15", "2026-10-20", "2026-10", (10, 15), (10, 21)),
        ("2026-01-01", "2026-12-31", "2026-10", (10, 1), (11, 1)),
    ],
    ids=[
        "it is named by the month in which it begins",
        "a shorter month begins on its last day",
        "and the day of the first is not forgotten",
        "the term cuts the last one",
        "the first of a month is the calendar's",
    ],
)
def test_a_month_runs_from_anniversary_to_anniversary(  # noqa: PLR0917
    given_store, first, last, month, start, end
):
    zone = {"time_zone": "UTC"}
    begins, ends = (datetime(2026, *day, tzinfo=UTC) for day in (start, end))
    edge = timedelta(microseconds=1)
    report = judged(
        given_store,
        [a_request(received_at=at) for at in (begins - edge, begins, ends - edge, ends)],
        month=month,
        term={"from": first, "to": last} | zone,
        period={"month": "anniversary"},
    )
    assert (report["period"]["from"], report["period"]["to"]) == (
        begins.isoformat().replace("+00:00", "Z"),
        ends.isoformat().replace("+00:00", "Z"),
    )
    assert report["traffic"]["admitted"] == 2


def test_a_month_that_would_begin_after_the_term_is_none(given_store):
    with pytest.raises(NotEvaluable, match="not in force"):
        judged(
            given_store,
            [],
            month="2026-10",
            term={"from": "2026-01-15", "to": "2026-10-10", "time_zone": "UTC"},
            period={"month": "anniversary"},
        )


LEVELS = {
    "levels": [
        {"name": "full", "modes": ["fp16", "bf16"]},
        {"name": "reduced", "modes": ["int8"], "counts": "bad"},
    ]
}


@pytest.mark.parametrize(
    ("outcome", "mode", "quality", "counted"),
    [
        ("ok", "int8", LEVELS, (0, 1)),
        ("ok", "bf16", LEVELS, (1, 0)),
        ("ok", "", LEVELS, (1, 0)),
        ("ok", "int8", None, (1, 0)),
        ("substituted", "fp16", LEVELS, (1, 0)),
        ("substituted", "int8", LEVELS, (0, 1)),
        ("substituted", "", LEVELS, (0, 1)),
        ("substituted", "fp16", None, (0, 1)),
        ("timeout", "fp16", LEVELS, (0, 1)),
        ("client_error", "int8", LEVELS, (0, 0)),
    ],
    ids=[
        "a whole answer at a level called bad",
        "a whole answer at a level called good",
        "a whole answer of no known level",
        "no levels were agreed",
        "a substitute at a level called good",
        "a substitute at a level called bad",
        "a substitute of no known level",
        "a substitute where no levels were agreed",
        "no answer has no level",
        "what does not count does not count at any level",
    ],
)
def test_a_named_level_decides_what_an_answer_counts_as(given_store, outcome, mode, quality, counted):
    report = judged(
        given_store,
        [a_request(outcome=outcome, inference_mode=mode)],
        objectives=[availability()],
        quality=quality,
    )
    (row,) = report["objectives"]
    assert (row["good"], row["bad"]) == counted
