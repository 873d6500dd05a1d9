"""When a sender is told that its spans are safe."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta

import pytest

import collectors.otlp.committing as committing_module
from collectors.otlp.committing import SpanCommitter
from collectors.otlp.protobuf import decode_protobuf
from fairclock.errors import StoreError, StoreReadOnly, StoreUnreachable
from tests.collectors.memory_store import EPOCH, MemoryStore
from tests.collectors.otlp_requests import START_NS, good_span, request_of

AWAY = StoreUnreachable("store", "nobody answers")
FULL = StoreReadOnly("store", "it takes no writes")
ODD = StoreError("store", "code 27")


def lines_of(*numbers, bad=()):
    spans = [good_span(number) for number in numbers]
    spans += [good_span(number, attributes={"gen_ai.latency.e2e": None}) for number in bad]
    return decode_protobuf(request_of(*spans).SerializeToString())


@contextmanager
def committing(store, **settings):
    committer = SpanCommitter(store, source="engines", **settings)
    committer.start()
    try:
        yield committer
    finally:
        store.gate.set()
        committer.stop()


@contextmanager
def waiting_together(store, committer, *requests):
    """Hold the store at one request, let `requests` queue behind it, and yield their futures."""
    store.gate.clear()
    with ThreadPoolExecutor(len(requests) + 1) as pool:
        pool.submit(committer.commit, lines_of(99))
        wait_until(lambda: len(store.batches) == 1)
        futures = [pool.submit(committer.commit, request) for request in requests]
        wait_until(lambda: len(committer._waiting) == len(requests))
        store.gate.set()
        yield futures


def wait_until(condition):
    for _ in range(1000):
        if condition():
            return
        threading.Event().wait(0.005)
    raise AssertionError("it did not happen within five seconds")


def span_ids(store):
    return {int(row["span_id"], 16) - 1 for row in store.rows.values()}


def test_a_commit_returns_after_the_store_has():
    store = MemoryStore()
    with committing(store) as committer:
        assert committer.commit(lines_of(1, 2)) == 0
        assert span_ids(store) == {1, 2}


def test_nothing_to_store_needs_no_store():
    store = MemoryStore()
    with committing(store) as committer:
        assert committer.commit(lines_of()) == 0
    assert store.batches == []


def test_requests_that_wait_together_share_one_insert():
    store = MemoryStore()
    requests = [lines_of(number) for number in range(20)]
    with committing(store) as committer, waiting_together(store, committer, *requests) as futures:
        assert [future.result(timeout=5) for future in futures] == [0] * 20
    assert [len(batch.lines) for batch in store.batches] == [1, 20]
    assert {(batch.kind, batch.source, batch.k) for batch in store.batches} == {("engine", "engines", 0)}


def test_each_sender_hears_of_its_own_rejected_spans_though_they_shared_an_insert():
    store = MemoryStore()
    with committing(store) as committer:
        requests = (lines_of(1), lines_of(2, bad=[3]), lines_of(bad=[4, 5]))
        with waiting_together(store, committer, *requests) as futures:
            assert [future.result(timeout=5) for future in futures] == [0, 1, 2]
    assert span_ids(store) == {99, 1, 2}


@pytest.mark.parametrize("error", [AWAY, FULL], ids=["away", "read-only"])
def test_a_store_that_takes_nothing_is_asked_once_for_all_who_wait(error):
    store = MemoryStore()
    store.failures = [None, error]
    requests = (lines_of(1), lines_of(2))
    with committing(store) as committer, waiting_together(store, committer, *requests) as futures:
        assert [future.exception(timeout=5) for future in futures] == [error, error]
        assert committer.commit(lines_of(1)) == 0
    assert [len(batch.lines) for batch in store.batches] == [1, 2, 1]
    assert span_ids(store) == {99, 1}


def test_a_request_that_the_store_refuses_costs_nobody_else():
    class Picky(MemoryStore):
        def ingest(self, batch):
            counts = super().ingest(batch)
            if any(b'"span_id":"0000000000000004"' in line for line in batch.lines):
                raise ODD
            return counts

    store = Picky()
    requests = [lines_of(1), lines_of(3), lines_of(2)]
    with committing(store) as committer, waiting_together(store, committer, *requests) as futures:
        assert futures[0].result(timeout=5) == 0
        assert futures[1].exception(timeout=5) is ODD
        assert futures[2].result(timeout=5) == 0


def test_an_unforeseen_failure_is_a_reason_to_send_again(caplog):
    store = MemoryStore()
    store.failures = [ZeroDivisionError("sum")]
    with committing(store) as committer, pytest.raises(StoreError, match="ZeroDivisionError"):
        committer.commit(lines_of(1))
    assert "unexpected" in caplog.text


def test_spans_sent_again_add_nothing():
    store = MemoryStore()
    with committing(store) as committer:
        for _ in range(3):
            assert committer.commit(lines_of(1, 2)) == 0
    assert len(store.rows) == 2


def test_stop_commits_what_waits_and_then_refuses():
    store = MemoryStore()
    with committing(store) as committer:
        with waiting_together(store, committer, lines_of(1)) as futures:
            committer.stop()
            assert futures[0].result(timeout=5) == 0
        with pytest.raises(StoreUnreachable, match="stopping"):
            committer.commit(lines_of(2))
    assert span_ids(store) == {99, 1}


def test_a_sender_is_not_kept_waiting_for_ever(monkeypatch):
    monkeypatch.setattr(committing_module, "_ANSWER_SECONDS", 0.05)
    store = MemoryStore()
    store.gate.clear()
    with committing(store) as committer, pytest.raises(StoreUnreachable, match="did not commit within"):
        committer.commit(lines_of(1))
    assert span_ids(store) == {1}


def test_a_committer_that_never_started_stops():
    SpanCommitter(MemoryStore(), source="engines").stop()


def at(number):
    return EPOCH + timedelta(microseconds=(START_NS + number * 10**9 + 337_679_147) // 1000)


def test_coverage_reaches_from_the_first_to_the_last_end_and_is_written_at_stop():
    store = MemoryStore()
    with committing(store) as committer:
        committer.commit(lines_of(5))
        committer.commit(lines_of(3, 9))
        assert store.covered == []
    assert store.covered == [(at(3), at(9))]
    assert {(kind, source) for kind, source, _ in store.intervals} == {("engine", "engines")}


def test_coverage_is_written_now_and_then_while_listening():
    store = MemoryStore()
    with committing(store, cover_every_seconds=0.01) as committer:
        committer.commit(lines_of(1, 2))
        wait_until(lambda: store.covered == [(at(1), at(2))])


def test_coverage_that_could_not_be_written_is_kept_for_the_next_try(caplog):
    store = MemoryStore()
    with committing(store, cover_every_seconds=0.01) as committer:
        committer.commit(lines_of(1))
        store.failures = [AWAY]
        with pytest.raises(StoreUnreachable):
            committer.commit(lines_of(2))
        committer.commit(lines_of(2))
        wait_until(lambda: store.covered == [(at(1), at(2))])


def test_spans_that_were_not_committed_cover_nothing():
    store = MemoryStore()
    with committing(store) as committer:
        committer.commit(lines_of(1, 2))
        store.failures = [AWAY]
        with pytest.raises(StoreUnreachable):
            committer.commit(lines_of(7, 8))
    assert store.covered == [(at(1), at(2))]


def test_coverage_that_cannot_be_written_at_the_end_is_an_error():
    store = MemoryStore()
    committer = SpanCommitter(store, source="engines")
    committer.start()
    committer.commit(lines_of(1, 2))
    store.failures = [AWAY]
    with pytest.raises(StoreUnreachable):
        committer.stop()


def test_json_is_what_the_store_gets():
    store = MemoryStore()
    with committing(store) as committer:
        committer.commit(lines_of(1))
    assert json.loads(store.batches[0].lines[0])["request_id"] == "cmpl-req-3-0"
