"""The cost book of a real store: whose the time of engines was, and that it adds up."""

from __future__ import annotations

from datetime import timedelta
from fractions import Fraction

import pytest

from billing.cost_book.hours import cost_of
from billing.cost_book.reading import read_cost_book
from tests.cost_book.traffic import (
    HOUR,
    SECOND,
    engine,
    feed,
    gateway,
    good_machine,
    good_settings,
    hours,
)

HOUR_OF_TWO = 2 * 3600 * SECOND


def book(store, window=None, cuts=(), as_of=None, **changes):
    read = read_cost_book(
        store, window or hours(), as_of or store.watermark(), good_settings(**changes), cuts=cuts
    )
    for each in read.times:
        assert each.is_whole, each
        cost = cost_of(each, Fraction("2.37") / 3600)
        assert cost.total == each.machine.gpus * Fraction(each.length_us, 10**6) * Fraction("2.37") / 3600
    return read


def had(time):
    return {tenant: each.gpu_picoseconds for tenant, each in time.tenants.items()}


def test_an_hour_without_requests_is_idle(store):
    (time,) = book(store).times
    assert (time.idle_picoseconds, had(time), time.unattributed_picoseconds) == (HOUR_OF_TWO, {}, 0)


def test_requests_that_run_at_once_share_alike_and_the_rest_is_idle(store):
    feed(
        store,
        [gateway(10, 30, 1), gateway(20, 40, 2, tenant="beta")],
        [engine(10, 30, 1), engine(20, 40, 2)],
    )
    (time,) = book(store).times
    # acme alone for 10 s, both for 20 s, beta alone for 20 s, on two GPUs
    assert had(time) == {"acme": 40 * SECOND, "beta": 60 * SECOND}
    assert time.idle_picoseconds == HOUR_OF_TWO - 100 * SECOND
    assert time.share_ratio("acme") == Fraction(40, 7200)


def test_shares_by_tokens_go_by_prompt_and_completion(store):
    feed(
        store,
        [gateway(10, 30, 1), gateway(10, 30, 2, tenant="beta")],
        [engine(10, 30, 1, prompt_tokens=250), engine(10, 30, 2, prompt_tokens=50)],
    )
    (time,) = book(store, division="tokens").times
    assert had(time) == {"acme": 45 * SECOND, "beta": 15 * SECOND}


def test_a_slot_that_nobody_has_is_idle(store):
    feed(store, [gateway(10, 30, 1)], [engine(10, 30, 1)])
    (time,) = book(store, division="per_slot").times
    assert had(time) == {"acme": 15 * SECOND}
    assert time.idle_picoseconds == HOUR_OF_TWO - 15 * SECOND


def test_three_on_one_gpu_leave_what_does_not_divide_unattributed(store):
    lines = [(gateway(10, 0.001, n, tenant=f"t{n}"), engine(10, 0.000001, n)) for n in (1, 2, 3)]
    feed(store, *zip(*lines, strict=True))
    (time,) = book(store, machines=(good_machine(gpus=Fraction(1)),)).times
    assert had(time) == {"t1": 333_333, "t2": 333_333, "t3": 333_333}
    assert time.unattributed_picoseconds == 1


def test_a_slice_of_a_gpu_counts_as_the_fraction_that_it_is(store):
    feed(store, [gateway(10, 7, 1)], [engine(10, 7, 1)])
    (time,) = book(store, machines=(good_machine(gpus=Fraction(1, 7)),)).times
    assert had(time) == {"acme": SECOND}
    assert time.capacity_picoseconds == Fraction(3600 * SECOND, 7)


def test_probes_and_what_is_nobodys_are_lines_of_their_own(store):
    feed(
        store,
        [gateway(10, 10, 1, tenant="probe"), gateway(30, 10, 2)],
        [engine(10, 10, 1), engine(30, 10, 2), engine(50, 5, 3)],
    )
    (time,) = book(store, probe_tenants=frozenset({"probe"})).times
    assert (time.probes_picoseconds, had(time)) == (20 * SECOND, {"acme": 20 * SECOND})
    assert time.unattributed_picoseconds == 10 * SECOND


def test_a_request_over_the_hour_is_in_both_hours(store):
    feed(store, [gateway(3590, 30, 1)], [engine(3590, 30, 1)])
    assert [had(each) for each in book(store, hours(0, 2)).times] == [
        {"acme": 20 * SECOND},
        {"acme": 40 * SECOND},
    ]
    # and whichever hours are read with it, an hour says the same
    assert [had(each) for each in book(store, hours(1)).times] == [{"acme": 40 * SECOND}]


def test_prices_that_change_within_an_hour_cut_it(store):
    feed(store, [gateway(590, 20, 1)], [engine(590, 20, 1)])
    first, second = book(store, cuts=[HOUR + timedelta(minutes=10)]).times
    assert (had(first), had(second)) == ({"acme": 20 * SECOND}, {"acme": 20 * SECOND})
    assert (first.length_us, second.length_us) == (600 * 10**6, 3000 * 10**6)


def test_an_engine_whose_machine_changes_has_each_for_its_time(store):
    at_us = int(HOUR.timestamp() + 1800) * 10**6
    feed(store, [gateway(1790, 20, 1)], [engine(1790, 20, 1)])
    machines = (good_machine(to_us=at_us), good_machine(machine="B", gpus=Fraction(8), from_us=at_us))
    assert [(each.machine.machine, had(each)) for each in book(store, machines=machines).times] == [
        ("H", {"acme": 20 * SECOND}),
        ("B", {"acme": 80 * SECOND}),
    ]


def test_an_engine_of_which_nothing_is_known_is_named_and_in_no_sum(store):
    feed(store, [gateway(10, 10, 1)], [engine(10, 10, 1, instance="stray")])
    read = book(store)
    assert [(each.engine, each.sequences, each.running_us) for each in read.unknown] == [("stray", 1, 10**7)]
    assert had(read.times[0]) == {}


def test_what_an_engine_said_when_it_started_is_enough_where_nobody_else_tells(store):
    at_ns = int(HOUR.timestamp()) * 10**9
    line = f'{{"event":"started","at_ns":"{at_ns}","instance":"told","gpus":4,"data_parallel":2,"max_num_seqs":8}}'
    from fairclock.store import LineBatch

    store.ingest(LineBatch(kind="engine_state", source="test", lines=[line.encode()]))
    feed(store, [gateway(10, 10, 1)], [engine(10, 10, 1, instance="told")])
    times = book(store, machines=()).times
    assert [
        (each.machine.engine, each.machine.gpus, each.machine.max_num_seqs, had(each)) for each in times
    ] == [("told", 8, 16, {"acme": 80 * SECOND})]


@pytest.mark.parametrize(
    ("owns_left", "expected", "unattributed"),
    [(False, {"beta": 10 * SECOND}, 10 * SECOND), (True, {"acme": 10 * SECOND, "beta": 10 * SECOND}, 0)],
    ids=["is nobody's", "is its tenant's where that was decided"],
)
def test_the_time_of_a_request_whose_client_left(store, owns_left, expected, unattributed):
    left = gateway(10, 10, 1, status="499", completion_tokens=None)
    feed(store, [left, gateway(10, 10, 2, tenant="beta")], [engine(10, 10, 2)])
    machine = good_machine(upstreams=("10.0.0.1:8000",))
    (time,) = book(store, machines=(machine,), owns_left=owns_left).times
    assert (had(time), time.unattributed_picoseconds) == (expected, unattributed)


def test_without_an_upstream_a_request_whose_client_left_is_on_no_engine(store):
    feed(store, [gateway(10, 10, 1, status="499")])
    assert book(store).times[0].idle_picoseconds == HOUR_OF_TWO


def test_a_ceiling_is_for_a_whole_request_however_many_hours_and_sequences_it_ran(store):
    feed(store, [gateway(3500, 300, 1)], [engine(3500, 300, 1)])
    ceiling = Fraction(250)
    first, second = book(store, hours(0, 2), ceiling_seconds=ceiling).times
    assert (had(first), had(second), second.over_picoseconds) == (
        {"acme": 200 * SECOND},
        {"acme": 50 * SECOND},
        350 * SECOND,
    )
    assert [had(each) for each in book(store, hours(1), ceiling_seconds=ceiling).times] == [
        {"acme": 50 * SECOND}
    ]


IMPOSSIBLE = {
    "a negative phase": {"prefill": -1.0},
    "a host's uptime as prefill": {"prefill": 90_000.0},
    "longer than a day": {"e2e": 90_000.0, "decode": 90_000.0},
}


@pytest.mark.parametrize("changes", IMPOSSIBLE.values(), ids=IMPOSSIBLE.keys())
def test_a_row_that_says_impossible_things_runs_nowhere(store, changes):
    feed(store, [gateway(10, 10, 1), gateway(10, 10, 2)], [engine(10, 10, 1, **changes), engine(10, 10, 2)])
    assert had(book(store).times[0]) == {"acme": 20 * SECOND}


def test_attempts_and_several_answers_are_all_the_requests(store):
    retried = gateway(10, 40, 1, upstream_addr="10.0.0.1:8000, 10.0.0.2:8000", upstream_status="502, 200", upstream_response_time="10.000, 30.000")  # fmt: skip
    feed(store, [retried], [engine(10, 10, 1, span_id="a"), engine(20, 30, 1, span_id="b")])
    assert had(book(store).times[0]) == {"acme": 80 * SECOND}


def test_ids_that_two_tenants_use_give_neither_the_others_time(store):
    lines = [
        gateway(10, 10, 0, request_id="same"),
        gateway(2000, 20, 0, request_id="same", tenant="beta"),
    ]
    feed(
        store,
        lines,
        [engine(10, 10, 0, request_id="chatcmpl-same"), engine(2000, 20, 0, request_id="chatcmpl-same")],
    )
    assert had(book(store).times[0]) == {"acme": 20 * SECOND, "beta": 40 * SECOND}


def test_memory_is_what_a_tenants_requests_hold_together(store):
    feed(
        store,
        [gateway(10, 30, 1), gateway(20, 40, 2), gateway(20, 10, 3, tenant="beta")],
        [engine(10, 30, 1), engine(20, 40, 2), engine(20, 10, 3, prompt_tokens=950)],
    )
    tenants = book(store).times[0].tenants
    assert (tenants["acme"].peak_kv_tokens, tenants["acme"].kv_token_us) == (300, 150 * 70 * 10**6)
    assert (tenants["beta"].peak_kv_tokens, tenants["beta"].kv_token_us) == (1000, 1000 * 10**7)


def test_replayed_and_late_and_sealed_rows_change_nothing_that_was_known(store):
    lines = [gateway(10, 30, 1), gateway(20, 40, 2, tenant="beta")], [engine(20, 40, 2), engine(10, 30, 1)]
    feed(store, *lines)
    then = store.watermark()
    before = book(store)
    feed(store, *lines)
    store.seal()
    assert book(store) == before
    feed(store, [gateway(25, 10, 3)], [engine(25, 10, 3)])
    store.seal()
    assert book(store, as_of=then) == before
    assert book(store) != before


def test_two_machines_of_one_engine_at_one_time_are_refused():
    with pytest.raises(ValueError, match="two machines"):
        good_settings(machines=(good_machine(), good_machine(from_us=10**15)))


def test_an_id_that_comes_again_later_makes_no_hour_say_something_else(store):
    # two attempts each, without a trace: the first is found by the id alone
    retried = {"upstream_addr": "a:1, b:1", "upstream_status": "502, 200", "upstream_response_time": "10.000, 30.000", "request_id": "again"}  # fmt: skip
    for at, tenant in ((10, "acme"), (7210, "beta")):
        feed(
            store,
            [gateway(at, 40, 0, tenant=tenant, **retried)],
            [
                engine(at, 10, 0, request_id="chatcmpl-again", span_id=f"{at}a"),
                engine(at + 10, 30, 0, request_id="chatcmpl-again", span_id=f"{at}b"),
            ],
        )
    alone = [had(each) for number in (0, 2) for each in book(store, hours(number)).times]
    together = [had(each) for each in book(store, hours(0, 3)).times]
    assert alone == [together[0], together[2]] == [{"acme": 80 * SECOND}, {"beta": 80 * SECOND}]
