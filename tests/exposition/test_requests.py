"""Counters over requests: each counted once, through seals, late rows, replays and restarts, and never falling."""

from __future__ import annotations

from datetime import timedelta
from random import Random

import pytest

from exporters.prometheus.bounds import OTHER
from exporters.prometheus.configuration import MetricsSection
from fairclock.cli.pipeline.metrics.layout import layout_of
from fairclock.model import Interval, Outcome
from fairclock.store.request_sums import CLOCKS
from sla.evaluation.clocks import clock_columns, column_of
from tests.evaluation.factories import a_contract, latency
from tests.exposition.conftest import Heard, Process, feed, flat
from tests.store.conftest import HOUR, engine_line, gateway_line, traced

NAME, REQUESTS = "fairclock_request_duration_seconds", "fairclock_requests"


def pair(number, at_seconds=None, **changes):
    """Both sides of one request."""
    at = float(number) if at_seconds is None else at_seconds
    trace = f"{number:032x}"
    gateway = gateway_line(at, request_id=f"r{number}", model="m", **traced(number), **changes)
    return gateway, engine_line(
        at + 0.01, request_id=f"chatcmpl-r{number}", trace_id=trace, span_id=f"{number:016x}"
    )


def counted(text, name, **labels):
    wanted = set(labels.items())
    return [value for (found, said), value in text.items() if found == name and wanted <= set(said)]


def test_clocks_are_those_that_contracts_are_judged_by():
    judged = {each.sql for each in clock_columns("received")}
    assert {f"{sql} AS {column_of(clock)}" for clock, sql in CLOCKS.items()} <= judged


def test_every_threshold_is_an_edge_for_all_while_they_are_few_and_for_its_own_tenants_where_they_are_many():
    contracts = [
        [a_contract(id=f"c{at}", customer={"name": "C", "tenants": [f"t{at}"]},
                    objectives=[latency("queue", at_most=f"{at}33ms")])]
        for at in (1, 2, 3)
    ]  # fmt: skip
    few = {each.clock: each for each in layout_of(MetricsSection(), contracts)}
    assert {133_000, 233_000, 333_000} <= set(few["queue"].edges)
    assert not few["queue"].tenant_edges
    assert 133_000 not in few["prefill"].edges
    many = {each.clock: each for each in layout_of(MetricsSection(max_thresholds=2), contracts)}["queue"]
    assert set(many.edges_of("t2")) == {*many.edges, 233_000}
    assert many.edges_of("somebody else") == many.edges == few["prefill"].edges


def test_a_series_begins_at_0_and_a_request_is_counted_once_whatever_comes_again(store):
    process, heard = Process(store, store.watermark()), Heard()
    lines = [pair(number) for number in range(1, 6)]
    feed(store, gateway=[each for each, _ in lines], engine=[each for _, each in lines])
    first = process.scrape(heard)
    assert set(counted(first, REQUESTS, tenant="acme")) == {0}
    for again in (False, True, True):
        if again:
            feed(store, gateway=[each for each, _ in lines], engine=[each for _, each in lines])
            store.seal()
        text = process.scrape(heard)
        assert counted(text, REQUESTS, outcome="ok") == [5]
        assert counted(text, NAME, clock="queue", le=0.5) == [5]
        assert counted(text, NAME, clock="queue", le=0.25) == [0]
        assert counted(text, NAME + "_sum", clock="prefill") == [pytest.approx(1.5)]
        assert counted(text, "fairclock_queue_duration_seconds", le=0.5) == [5]
        assert counted(text, "fairclock_tokens", **{"class": "prompt"}) == [500]
        assert counted(text, "fairclock_tokens", **{"class": "cached"}) == [0]
        assert counted(text, "fairclock_tokens", **{"class": "completion"}) == [250]
    assert heard.total(REQUESTS) == 5


def test_a_late_engine_row_adds_its_clocks_and_no_request_and_nothing_falls(store):
    process, heard = Process(store, store.watermark()), Heard()
    gateway, engine = pair(1)
    feed(store, gateway=[gateway])
    store.seal()
    process.scrape(heard)
    before = process.scrape(heard)
    assert counted(before, NAME, clock="excluding_queue", le=2.5) == [1]
    assert counted(before, NAME, clock="excluding_queue", le=1.0) == [0]
    assert not counted(before, NAME, clock="queue")
    feed(store, engine=[engine])
    store.seal()
    process.scrape(heard)
    after = process.scrape(heard)
    assert all(after[key] >= value for key, value in before.items())
    assert counted(after, REQUESTS, outcome="ok") == [1]
    assert counted(after, NAME, clock="queue", le="+Inf") == [1]
    assert counted(after, NAME, clock="excluding_queue", le="+Inf") == [1]
    assert (heard.total(REQUESTS), heard.total(NAME, clock="queue", le="+Inf")) == (1, 1)


def test_a_row_that_makes_a_request_worse_lets_nothing_fall(store):
    process = Process(store, store.watermark())
    gateway, engine = pair(1)
    feed(store, gateway=[gateway], engine=[engine])
    process.scrape()
    before = process.scrape()
    # a second request of the same trace: which of them the engine's row belongs to cannot be told any more
    feed(store, gateway=[gateway_line(1.0, request_id="r1", model="m", request_time="2.001", **traced(1))])
    after = process.scrape()
    assert counted(after, REQUESTS, outcome="ok") == [2]
    assert all(after[key] >= value for key, value in before.items())


def test_only_answered_requests_are_timed_and_all_are_counted(store):
    process = Process(store, store.watermark())
    feed(
        store,
        gateway=[
            gateway_line(1, request_id="a", status="200"),
            gateway_line(2, request_id="b", status="504", request_time="60.000"),
            gateway_line(3, request_id="c", status="429", request_time="0.001"),
            gateway_line(4, request_id="d", tenant="prober", simulated="1"),
        ],
    )
    process.scrape()
    text = process.scrape()
    assert counted(text, NAME, tenant="acme", clock="end_to_end", le="+Inf") == [1]
    outcomes = {str(each): counted(text, REQUESTS, tenant="acme", outcome=str(each)) for each in Outcome}
    assert (outcomes["ok"], outcomes["timeout"], outcomes["quota_rejected"]) == ([1], [1], [1])
    assert counted(text, "fairclock_simulated_requests", tenant="prober") == [1]
    assert counted(text, "fairclock_simulated_requests", tenant="acme") == [0]


def test_what_was_there_before_is_not_counted_and_its_series_are_told_as_0(store):
    gateway, engine = pair(1)
    feed(store, gateway=[gateway], engine=[engine])
    store.seal()
    process = Process(store, HOUR + timedelta(days=1))
    process.counters._begin(store)
    process.counters._as_of = HOUR + timedelta(days=1)
    text = flat(process.counters.figures(told=None))
    assert set(counted(text, REQUESTS)) == {0}
    assert counted(text, NAME, clock="decode", le="+Inf") == [0]


def test_the_slowest_request_of_late_is_shown_by_its_trace(store):
    process = Process(store, store.watermark())
    now = store.watermark()
    at = (now - HOUR).total_seconds() - 30
    slow = gateway_line(at, request_id="s", request_time="7.000", **traced(7))
    feed(store, gateway=[gateway_line(at, request_id="f", request_time="0.100", **traced(8)), slow])
    process.scrape()
    _, figures = process.figures()
    (found,) = [each for each in figures if each.labels.get("clock") == "end_to_end"]
    assert (found.exemplar.trace_id, found.exemplar.value) == (f"{7:032x}", 7.0)


def test_what_has_no_room_shares_a_series_and_nothing_is_lost(store):
    contracts = [
        [a_contract(customer={"name": "C", "tenants": ["acme", "late"]},
                    objectives=[latency("end_to_end", at_most="133ms")])]
    ]  # fmt: skip
    section = MetricsSection(max_tenants=1, max_thresholds=1)
    process, heard = Process(store, store.watermark(), contracts=contracts, section=section), Heard()
    process.counters.pairs.tenants.admit(["acme"])
    for tenant, number in (("acme", 1), ("late", 2), ("late", 3), ("else", 4)):
        feed(
            store,
            gateway=[gateway_line(number, tenant=tenant, request_id=f"r{number}", request_time="0.120")],
        )
    process.scrape(heard)
    text = process.scrape(heard)
    assert counted(text, REQUESTS, tenant="acme", outcome="ok") == [1]
    assert counted(text, REQUESTS, tenant=OTHER, outcome="ok") == [3]
    assert counted(text, NAME, tenant=OTHER, clock="end_to_end", le=0.25) == [3]
    assert heard.total(REQUESTS) == 4


def test_nothing_is_lost_and_nothing_counted_twice_over_restarts_late_rows_and_seals(store):
    random, heard = Random(20261007), Heard()
    told = store.watermark()
    process = Process(store, told)
    numbers = iter(range(1, 1000))
    requests, waiting, last = 0, [], {}
    for _ in range(10):
        batch = [
            pair(next(numbers), at_seconds=random.uniform(0, 2 * 3600)) for _ in range(random.randint(1, 4))
        ]
        requests += len(batch)
        feed(store, gateway=[gateway for gateway, _ in batch])
        waiting += [engine for _, engine in batch]
        random.shuffle(waiting)
        feed(store, engine=waiting[:2])
        del waiting[:2]
        if random.random() < 0.4:
            store.seal()
        text = process.scrape(heard)
        assert all(text[key] >= value for key, value in last.items()), "a counter fell"
        last = text
        was_begun = process.counters._as_of is not None and any(text.values())
        told = process.told if was_begun else told
        if random.random() < 0.2:
            # the next process goes on from what was told last
            process, last = Process(store, told), {}
    feed(store, engine=waiting)
    store.seal()
    for _ in range(2):
        process.scrape(heard)
    assert heard.total(REQUESTS, outcome="ok") == requests
    window = Interval(start=HOUR, end=HOUR + timedelta(hours=4))
    query = store.requests_as_of(window, store.watermark())
    joined = sum(
        row[0] == "joined"
        for row in store.rows(
            type(query)(sql=f"SELECT engine FROM ({query.sql})", parameters=query.parameters)
        )
    )
    assert heard.total(NAME, clock="queue", le="+Inf") == joined == requests
