"""What happened to engines, from rows to events and to degradations that nobody had to record."""

from __future__ import annotations

from datetime import timedelta

import pytest

from fairclock.cli.evaluating import note_engines
from fairclock.model import Interval
from fairclock.store import Query
from fairclock.store.remedies import degradations_as_of
from sla.engines import EventKind, engine_events
from sla.engines.noticing import EnginesStep, notice_engines
from sla.evaluation import evaluate
from sla.evaluation.excluding import engine_starts
from sla.reports.exclusions import degradation_rows
from sla.reports.html import language_of
from tests.engine_lives.conftest import DAY, START, UPSTREAM, at
from tests.evaluation.factories import a_contract, availability
from tests.exclusions.conftest import Fairclock


def events(books, *kinds, window=DAY):
    found = engine_events(books.store, window, books.store.watermark())
    return [each for each in found if not kinds or each.kind in kinds]


def a_restart(books):
    """One process from 0 to 300, another from 330, which serves at 400."""
    books.scrapes(range(15, 301, 15), 0)
    books.scrapes(range(315, 376, 15), None, reason="refused")
    books.scrapes(range(390, 450, 15), 330)
    books.request(400, number=1)


def test_a_restart_is_seen_by_another_start_of_the_process(books):
    a_restart(books)
    first, *others = events(books)
    assert (first.kind, first.at) == (EventKind.STARTED, at(0))
    found = {each.kind: each for each in others}
    assert set(found) == {EventKind.RESTARTED, EventKind.STARTED, EventKind.RELOADED, EventKind.UNREACHABLE}
    restarted = found[EventKind.RESTARTED]
    assert (restarted.engine, restarted.at, restarted.until) == (UPSTREAM, at(300), at(400))
    assert "last answered at 2026-10-07T01:05:00Z; nothing tells how it ended" in restarted.evidence
    reloaded = found[EventKind.RELOADED]
    assert (reloaded.at, reloaded.until) == (at(330), at(400))
    assert reloaded.evidence.startswith("70.000 s from its start")
    away = found[EventKind.UNREACHABLE]
    assert (away.at, away.until) == (at(315), at(390))
    assert away.evidence == "5 scrapes of 10.0.0.1:8000 in a row failed: refused"


def test_an_outage_that_goes_on_has_no_end(books):
    books.scrapes([0], -100)
    books.scrapes([15, 30], None)
    (found,) = events(books, EventKind.UNREACHABLE)
    assert (found.at, found.until) == (at(15), None)


def test_two_processes_that_answer_in_turn_are_no_restart(books):
    books.scrapes(range(0, 300, 30), -500)
    books.scrapes(range(15, 300, 30), -400)
    assert events(books, EventKind.RESTARTED) == []


@pytest.mark.parametrize(
    ("values", "restarts"),
    [((5, 9, 2, 4), [30]), ((5, 9, 9, 12), [])],
    ids=["a fall is a restart", "no fall is none"],
)
def test_where_nothing_dates_a_process_a_fall_of_its_counters_does(books, values, restarts):
    for number, value in enumerate(values):
        books.sample(15 * number, "vllm:generation_tokens", value, kind="counter", engine="0")
    found = events(books, EventKind.RESTARTED)
    assert [each.at for each in found] == [at(each - 15) for each in restarts]
    assert all(each.suspected for each in found)
    assert events(books, EventKind.RELOADED) == []
    assert engine_starts(books.store, DAY, books.store.watermark()) == []


def test_a_counter_says_since_when_it_counts_where_the_process_does_not(books):
    for second, since in ((15, 0), (30, 0), (90, 60), (105, 60)):
        began = round((START.timestamp() + since) * 1_000_000)
        books.sample(second, "vllm:generation_tokens", 7, kind="counter", engine="0", since=str(began))
    (found,) = events(books, EventKind.RESTARTED)
    assert (found.at, "vllm:generation_tokens_created" in found.evidence) == (at(30), True)


def test_what_a_scrape_shows_as_finished_was_served_by_then(books):
    books.scrapes([15, 30, 45], 0)
    books.sample(15, "vllm:request_success", 0, kind="counter")
    books.sample(30, "vllm:request_success", 3, kind="counter")
    (found,) = events(books, EventKind.STARTED)
    assert (found.until, found.upstream) == (at(30), "")
    assert "no gateway calls anything 10.0.0.1:8000" in found.evidence


def test_an_end_that_was_said_is_no_exit(books):
    books.said(0, "started")
    books.said(100, "stopped")
    books.said(160, "started")
    found = events(books)
    assert [each.kind for each in found] == [
        EventKind.STARTED,
        EventKind.RESTARTED,
        EventKind.STOPPED,
        EventKind.STARTED,
    ]
    assert (found[1].at, found[1].until) == (at(100), None)


def test_an_engine_that_was_up_for_long_is_known_to_have_been_there(books):
    """Its start lies before all that is looked at."""
    books.said(-80_000, "state", running=1)
    books.said(90, "state", running=1)
    books.said(160, "started")
    found = events(books, EventKind.RESTARTED, EventKind.VANISHED, EventKind.OUT_OF_MEMORY)
    assert [(each.kind, each.at) for each in found] == [
        (EventKind.RESTARTED, at(90)),
        (EventKind.VANISHED, at(90)),
    ]


@pytest.mark.parametrize(
    ("usage", "kinds"),
    [
        ("0.99", [EventKind.OUT_OF_MEMORY]),
        ("0.9", []),
        (None, []),
    ],
    ids=["a full cache makes it suspected", "one not full does not", "one unknown does not"],
)
def test_out_of_memory_is_suspected_where_memory_was_at_its_limit(books, usage, kinds):
    books.said(0, "started")
    books.said(90, "state", kv_cache_usage=usage)
    books.said(160, "started")
    found = events(books, EventKind.OUT_OF_MEMORY)
    assert [each.kind for each in found] == kinds
    for each in found:
        assert each.suspected
        assert "its KV cache was last said to be 99.0% full" in each.evidence


@pytest.mark.parametrize(
    ("used", "host", "is_suspected"), [(99, "node", True), (90, "node", False), (99, "other", False)]
)
def test_the_memory_of_the_hosts_own_gpus_is_looked_at(books, used, host, is_suspected):
    books.said(0, "started", instance="node:7")
    books.said(90, "state", instance="node:7")
    books.said(160, "started", instance="node:7")
    columns = ("sampled_at", "k", "gpu", "host", "memory_used_bytes_max", "memory_total_bytes", "first_wins")
    stored = books.store.rows(Query(sql="SELECT max(first_wins) FROM engine_states"))[0][0]
    books.store.insert("gpu_samples", columns, [(at(85), 0, "GPU-1", host, used, 100, stored)])
    found = events(books, EventKind.OUT_OF_MEMORY)
    assert [("99.0% of the memory of GPU-1" in each.evidence) for each in found] == [True] * is_suspected


def test_events_are_those_that_touch_the_window(books):
    a_restart(books)
    later = Interval(start=at(395), end=at(500))
    assert {each.kind for each in events(books, window=later)} == {
        EventKind.STARTED,
        EventKind.RESTARTED,
        EventKind.RELOADED,
    }
    assert events(books, window=Interval(start=at(401), end=at(500))) == []


# --- kept as degradations -----------------------------------------------------------------------------------------


def kept(books):
    return degradations_as_of(books.store, books.store.watermark())


def test_degradations_are_noticed_once_and_say_more_as_more_is_known(books):
    a_restart(books)
    books.store.execute(Query(sql="TRUNCATE TABLE gateway_requests"))
    books.store.execute(Query(sql="TRUNCATE TABLE engine_requests"))
    assert notice_engines(books.store, DAY, books.store.watermark()) == 1
    (first,) = kept(books)
    assert (first.kind, first.engine, first.author, first.origin, first.mode, first.level) == (
        "restarted",
        UPSTREAM,
        "fairclock",
        "engines",
        "",
        "",
    )
    assert (first.starts_at, first.ends_at) == (at(300), at(330))
    assert notice_engines(books.store, DAY, books.store.watermark()) == 0
    books.request(400, number=1)
    assert notice_engines(books.store, DAY, books.store.watermark()) == 2
    restarted, reloaded = kept(books)
    assert (restarted.id, restarted.sequence, restarted.ends_at) == (first.id, 2, at(400))
    assert (reloaded.kind, reloaded.starts_at, reloaded.ends_at) == ("reloaded", at(330), at(400))
    assert notice_engines(books.store, DAY, books.store.watermark()) == 0


def test_the_report_lists_them_with_their_evidence_and_without_a_level(books):
    a_restart(books)
    notice_engines(books.store, DAY, books.store.watermark())
    terms = a_contract(
        objectives=[availability()],
        quality={"levels": [{"name": "full", "modes": ["fp16"], "counts": "good"}]},
    )
    found = evaluate(books.store, terms, month="2026-10", software_version="test")
    assert [
        (each["kind"], each["mode"], each["level"], each["requests"]) for each in found["degradations"]
    ] == [
        ("restarted", None, None, 0),
        ("reloaded", None, None, 0),
    ]
    assert found["degradations"][0]["evidence"].startswith("the process before it last answered at")
    restarted, _ = degradation_rows(found, language_of("en"))
    assert (restarted.mode, restarted.said[0]) == ("engine restarted", f"engine {UPSTREAM}")
    assert restarted.said[-1].startswith("Evidence: the process before it last answered at")


def test_the_command_lists_them_with_their_evidence(books):
    a_restart(books)
    note_engines(books.store, window=DAY)
    said = Fairclock(books.store)("degradations", "list").out
    assert "  restarted: 10.0.0.1:8000  2026-10-07T01:05:00Z to 2026-10-07T01:06:40Z  everyone" in said
    assert "the engine loaded its model anew (fairclock, by engines)\n    70.000 s from its start" in said
    assert [each["kind"] for each in Fairclock(books.store)("degradations", "list", "--json").json] == [
        "restarted",
        "reloaded",
    ]


def test_a_step_looks_at_the_last_day_and_not_all_the_time(books):
    now = books.store.watermark()
    second = (now - START).total_seconds()
    step = EnginesStep(lambda: books.store, _monotonic=lambda: 0.0)
    books.scrapes([second - 120], second - 4000)
    step.step(now)
    books.scrapes([second - 30], second - 60)
    step.step(now + timedelta(seconds=5))
    assert kept(books) == []
    step.step(now + timedelta(seconds=30))
    assert [each.kind for each in kept(books)] == ["restarted"]


def test_where_looking_takes_long_it_is_done_for_a_twentieth_of_the_time(books):
    now, looks = books.store.watermark(), []
    clock = iter((0.0, 5.0, 200.0, 200.1, 300.0, 300.1))

    def reach():
        looks.append(None)
        return books.store

    step = EnginesStep(reach, _monotonic=lambda: next(clock))
    for seconds in (0, 31, 99, 100, 129, 130):
        step.step(now + timedelta(seconds=seconds))
    assert len(looks) == 3, "at 0, which took 5 s, at 100, which took 0.1 s, and at 130"
