"""Records on their way out of vLLM: bounded, counted, and never in the way of its loop."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from fairclock_vllm_plugin.engine import EngineSettings
from fairclock_vllm_plugin.reporting import EngineReport
from tests.plugin.stats import AT, AWAY, REFUSED, TAKEN, Collector, SchedulerStats, Times, make_sender, step

DEADLINE_SECONDS = 120.0
UNHURRIED = 600.0


def until(condition):
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "it did not come to that"
        time.sleep(0.002)


def turn_over(sender):
    """Wait until the turn that is under way is over, and with it what follows its answer, and a whole one after it."""
    begun = []
    sender.sample(lambda: begun.append(1))
    until(lambda: len(begun) > 2)


def let_go(sender):
    """Let a sender that was begun with `flush_seconds=UNHURRIED` look: what was put until now is in one request."""
    sender._flush_seconds = 0.005
    sender._wake.set()


@pytest.fixture
def collector():
    return Collector()


@pytest.fixture
def begun(collector):
    """Makes a report and its sender, which ends with the test."""
    senders = []

    def begin(**changes):
        sender = make_sender(collector, **changes)
        senders.append(sender)
        settings = EngineSettings(model="llama", gpus=8)
        return sender, EngineReport(sender, settings=settings, rank=3, state_seconds=0.0)

    yield begin
    collector.gate.set()
    for sender in senders:
        sender.close(timeout_seconds=DEADLINE_SECONDS)


def test_every_request_is_sent_once_and_in_order(collector, begun):
    sender, report = begun(queue_records=4_000)
    report.start()
    wanted = [f"r{number}" for number in range(2_000)]
    for start in range(0, 2_000, 4):
        report.record(None, step(*wanted[start : start + 4]))
    sender.close(timeout_seconds=DEADLINE_SECONDS)
    assert collector.ids == wanted
    numbers = [each["fairclock.record"] for each in collector.records]
    assert numbers == list(range(len(numbers)))


def test_what_waits_at_the_end_is_sent(collector, begun):
    sender, report = begun(flush_seconds=60.0)
    report.record(None, step("r1"))
    report.stop()
    sender.close(timeout_seconds=DEADLINE_SECONDS)
    assert collector.ids == ["r1"]
    assert [each["event.name"] for each in collector.records][-1] == "fairclock.engine.stopped"


def test_a_full_queue_drops_what_comes_and_says_how_much_and_of_when(collector, begun):
    sender, report = begun(queue_records=5)
    collector.gate.clear()
    report.record(None, step("first"))
    assert collector.reached.wait(timeout=DEADLINE_SECONDS)
    for number in range(12):
        iteration = step(f"r{number}")
        iteration.iteration_timestamp = AT + number
        report.record(None, iteration)
    assert (sender.waiting, sender.lost["queue full"]) == (5, 7)
    collector.gate.set()
    until(lambda: collector.of("fairclock.records.lost"))
    assert collector.ids == ["first", "r0", "r1", "r2", "r3", "r4"]
    (lost,) = collector.of("fairclock.records.lost")
    assert (lost["fairclock.lost.records"], lost["fairclock.lost.reason"]) == (7, "queue full")
    assert lost["fairclock.lost.from_unix_nano"] == int((AT + 5) * 1e9)
    assert lost["fairclock.lost.to_unix_nano"] == int((AT + 11) * 1e9)


def test_a_collector_that_is_away_gets_everything_when_it_is_back(collector, begun):
    times = Times()
    sender, report = begun(monotonic=times)
    collector.answer = AWAY
    report.record(None, step("r1", "r2"))
    until(lambda: collector.posts == 1)
    turn_over(sender)
    report.record(None, step("r3"))
    collector.answer = TAKEN
    times.seconds += 3_600
    until(lambda: collector.ids == ["r1", "r2", "r3"])
    assert sum(sender.lost.values()) == 0


def test_a_collector_that_is_away_is_asked_less_and_less_often(collector, begun):
    times = Times()
    sender, report = begun(monotonic=times)
    collector.answer = AWAY
    report.record(None, step("r1"))
    for expected, seconds in (
        (1, 1.0),
        (2, 2.0),
        (3, 4.0),
        (4, 8.0),
        (5, 16.0),
        (6, 32.0),
        (7, 60.0),
        (8, 60.0),
    ):
        until(lambda expected=expected: collector.posts == expected)
        turn_over(sender)
        times.seconds += seconds - 0.01
        turn_over(sender)
        assert collector.posts == expected
        times.seconds += 0.02


def test_what_is_refused_for_good_is_not_sent_again_but_counted(collector, begun):
    times = Times()
    sender, report = begun(monotonic=times, flush_seconds=UNHURRIED)
    collector.answer = REFUSED
    report.record(None, step("r1", "r2"))
    let_go(sender)
    until(lambda: sender.lost["refused by the collector"] == 2)
    turn_over(sender)
    collector.answer = TAKEN
    times.seconds += 3_600
    report.record(None, step("r3"))
    until(lambda: collector.of("fairclock.records.lost"))
    assert collector.ids == ["r3"]
    (lost,) = collector.of("fairclock.records.lost")
    assert (lost["fairclock.lost.records"], lost["fairclock.lost.reason"]) == (2, "refused by the collector")


def test_a_collector_that_refuses_everything_does_not_keep_vllm_from_ending(collector, begun):
    sender, report = begun(flush_seconds=60.0)
    collector.answer = REFUSED
    report.record(None, step("r1"))
    sender.close(timeout_seconds=DEADLINE_SECONDS)
    assert not sender._thread.is_alive()


def test_a_report_of_losses_is_not_lost_with_its_request(collector, begun):
    times = Times()
    sender, report = begun(monotonic=times, queue_records=1, flush_seconds=UNHURRIED)
    collector.answer = REFUSED
    report.record(None, step("r1", "r2", "r3"))
    let_go(sender)
    until(lambda: sender.lost["refused by the collector"] == 1)
    for _ in range(2):
        turn_over(sender)
        posts = collector.posts
        times.seconds += 3_600
        until(lambda posts=posts: collector.posts > posts)
    turn_over(sender)
    collector.answer = TAKEN
    times.seconds += 3_600
    until(lambda: collector.of("fairclock.records.lost"))
    lost = {
        each["fairclock.lost.reason"]: each["fairclock.lost.records"]
        for each in collector.of("fairclock.records.lost")
    }
    assert lost == {"queue full": 2, "refused by the collector": 1}


def test_a_record_that_cannot_be_read_costs_no_other(collector, begun):
    sender, report = begun(flush_seconds=UNHURRIED)
    iteration = step("r1", "r2", "r3")
    iteration.finished_requests[1].queued_time = "soon"
    report.record(None, iteration)
    let_go(sender)
    until(lambda: collector.of("fairclock.records.lost"))
    assert collector.ids == ["r1", "r3"]
    (lost,) = collector.of("fairclock.records.lost")
    assert (lost["fairclock.lost.records"], lost["fairclock.lost.reason"]) == (1, "record not readable")


def test_memory_is_bounded_however_long_the_collector_is_away(collector, begun):
    times = Times()
    sender, report = begun(monotonic=times, queue_records=100)
    collector.answer = AWAY
    scheduler = SchedulerStats()
    for number in range(5_000):
        report.record(scheduler, step(f"r{number}"))
    most = 100 + 512
    assert sender.waiting <= 100
    assert 5_000 - most <= sender.lost["queue full"] < 5_000


def test_state_is_told_when_it_changes_and_once_a_minute_otherwise(collector, begun):
    times = Times()
    sender = make_sender(collector, monotonic=times)
    report = EngineReport(
        sender, settings=EngineSettings(), rank=0, state_seconds=5.0, monotonic=times, now=lambda: AT
    )

    def due(seconds, **changes):
        times.seconds += seconds
        if changes:
            report.record(SchedulerStats(**changes), None)
        entry = report.due_state()
        return entry and entry[2]

    assert due(0) is None
    assert due(0, num_running_reqs=1) == (1, 4, 0.5, 0)
    assert due(1, num_running_reqs=2) is None
    assert due(4.5) == (2, 4, 0.5, 0)
    assert due(6, num_running_reqs=2, kv_cache_usage=0.505) is None
    assert due(6, num_running_reqs=2, kv_cache_usage=0.52) == (2, 4, 0.52, 0)
    assert due(6, num_running_reqs=2, num_waiting_reqs=9, kv_cache_usage=0.52) == (2, 10, 0.52, 0)
    assert due(59) is None
    assert due(2) == (2, 10, 0.52, 0)
    report.sleep(1)
    assert due(6) == (2, 10, 0.52, 1)
    sender.close(timeout_seconds=DEADLINE_SECONDS)


def test_state_is_told_under_load_too(collector, begun):
    """Records that never stop coming must not keep the engine's state back."""
    _, report = begun()
    report.start()
    for running in range(20):
        report.record(SchedulerStats(num_running_reqs=running), step("r"))
        until(lambda running=running: any(
            each.get("fairclock.engine.running") == running for each in collector.of("fairclock.engine.state")
        ))  # fmt: skip


def test_a_forked_child_sends_nothing_of_its_parents_and_begins_anew():
    """In a fresh interpreter: what other tests left running is no good company for a fork."""
    ended = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("forking.py"))],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        timeout=DEADLINE_SECONDS,
        check=False,
    )
    assert ended.stdout.decode().splitlines() == [
        "child begins empty: ['of the child']",
        "parent: ['of the parent']",
    ]


def test_a_loop_in_another_thread_is_never_made_to_wait(collector, begun):
    _, report = begun(queue_records=50)
    collector.gate.clear()
    report.record(None, step("r0"))
    assert collector.reached.wait(timeout=DEADLINE_SECONDS)
    done = threading.Event()

    def loop():
        for number in range(1_000):
            report.record(SchedulerStats(), step(f"r{number}"))
        done.set()

    threading.Thread(target=loop, daemon=True).start()
    assert done.wait(timeout=DEADLINE_SECONDS)  # while the collector does not answer
