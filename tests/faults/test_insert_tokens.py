"""A batch has one token: its repetition is dropped by the server, and a token costs no row, whatever became of the first insert."""

from __future__ import annotations

import json
from contextlib import nullcontext
from datetime import timedelta

import pytest

from exporters.clickhouse import Writer, lines_of
from exporters.spool import Spool
from fairclock.model import Interval, from_us
from fairclock.store import LineBatch, Query, inserting, open_store
from fairclock.store.kinds import KINDS
from tests.faults import traffic
from tests.faults.test_misbehaving_server import MOMENTS, frame

ROWS = 200
MOST_TRIES = 10
BATCH = LineBatch(kind="gateway", source="edge", lines=[traffic.line(2 * number) for number in range(ROWS)])
TWO_DAYS = LineBatch(
    kind="gateway", source="edge", lines=[*BATCH.lines, *(traffic.line(345_600 + 2 * each) for each in range(50))]
)  # fmt: skip
_AN_HOUR = timedelta(hours=1)
_FIRST = from_us(traffic.FIRST_MS * 1000)
AROUND = Interval(start=_FIRST - _AN_HOUR, end=_FIRST + _AN_HOUR)
STORED = "SELECT count() FROM gateway_requests"  # copies included
EVENTS = "SELECT uniqExact(request_id) FROM gateway_requests"


@pytest.fixture(scope="module")
def folder_store(tmp_path_factory):
    with open_store(f"chdb://{tmp_path_factory.mktemp('tokens')}/store") as store:
        yield store


@pytest.fixture(params=["chdb", "clickhouse"])
def store(request, server, folder_store):
    """A store of each kind that does not merge: a copy that came in is seen."""
    context = nullcontext(folder_store) if request.param == "chdb" else open_store(server.dsn)
    with context as opened:
        for table in ("gateway_requests", "dead_letters"):
            opened.execute(Query(sql=f"TRUNCATE TABLE {table}"))
            opened.execute(Query(sql=f"SYSTEM STOP MERGES {table}"))
        yield opened


def one(store, sql, **parameters):
    [(value,)] = store.rows(Query(sql=sql, parameters=parameters))
    return value


def delete(store, condition):
    """Delete rows; the server carries that out as it does merges."""
    store.execute(Query(sql="SYSTEM START MERGES gateway_requests"))
    store.execute(Query(sql=f"DELETE FROM gateway_requests WHERE {condition}"))
    store.execute(Query(sql="SYSTEM STOP MERGES gateway_requests"))


def test_a_batch_that_comes_again_is_dropped_counted_as_duplicates_and_keeps_its_first_stamp(store):
    assert store.ingest(BATCH).stored == ROWS
    first = one(store, "SELECT max(stored_at) FROM gateway_requests")
    counts = store.ingest(BATCH)
    assert (counts.read, counts.stored, counts.duplicates) == (ROWS, 0, ROWS)
    assert one(store, STORED) == ROWS
    assert one(store, "SELECT max(stored_at) FROM gateway_requests") == first


def test_who_wrote_a_batch_again_reads_it(store):
    store.ingest(BATCH)
    store.ingest(BATCH)
    query = store.requests_as_of(AROUND, store.watermark())
    assert one(store, f"SELECT count() FROM ({query.sql})", **query.parameters) == ROWS


@pytest.mark.parametrize(
    "change", [{"k": 1}, {"source": "other"}, {"lines": [*BATCH.lines, traffic.line(1_001)]}], ids=str
)
def test_a_batch_that_differs_is_not_dropped(store, change):
    store.ingest(BATCH)
    same = {name: getattr(BATCH, name) for name in ("kind", "source", "lines", "k")}
    other = LineBatch(**{**same, **change})
    store.ingest(other)
    assert one(store, STORED) == ROWS + len(other.lines)


@pytest.mark.parametrize("merged", [False, True])
def test_rows_that_were_deleted_come_back_although_their_token_is_known(store, merged):
    store.ingest(BATCH)
    delete(store, "status = 200")
    if merged:
        store.execute(Query(sql="SYSTEM START MERGES gateway_requests"))
        store.execute(Query(sql="OPTIMIZE TABLE gateway_requests FINAL"))
    left = one(store, STORED)
    assert left < ROWS
    counts = store.ingest(BATCH)
    assert (counts.stored, counts.duplicates) == (ROWS - left, left)
    assert one(store, EVENTS) == ROWS


def test_the_part_of_a_batch_that_is_missing_comes_in_and_the_other_is_not_doubled_for_a_reader(store):
    """As after a server that died between the first day's rows and the second's, or between a token and its rows."""
    assert store.ingest(TWO_DAYS).stored == ROWS + 50
    delete(store, "toDate(received_at) = '2026-10-15'")
    assert one(store, STORED) == ROWS
    counts = store.ingest(TWO_DAYS)
    assert (counts.stored, counts.duplicates) == (50, ROWS)
    assert one(store, EVENTS) == ROWS + 50
    assert one(store, "SELECT count() FROM gateway_requests FINAL") == ROWS + 50


def test_a_batch_that_was_inserted_since_the_look_for_it_counts_as_duplicates(store, monkeypatch):
    """Its first insert may be under way still when it comes again."""
    store.ingest(BATCH)
    really_found = inserting._found
    answers = [0]
    monkeypatch.setattr(
        inserting, "_found", lambda *words: answers.pop() if answers else really_found(*words)
    )
    counts = store.ingest(BATCH)
    assert (counts.stored, counts.duplicates) == (0, ROWS)
    assert one(store, STORED) == ROWS


def test_dead_letters_have_a_token_of_their_own(store):
    """The shipped table does not heed it; one that does keeps one copy."""
    store.execute(
        Query(sql="ALTER TABLE dead_letters MODIFY SETTING non_replicated_deduplication_window = 100")
    )
    mixed = LineBatch(kind="gateway", source="edge", lines=[*BATCH.lines[:5], b"nonsense", b"{}"])
    counts = [store.ingest(mixed) for _ in range(3)]
    assert [each.dead_letters for each in counts] == [2, 2, 2]
    assert one(store, "SELECT count() FROM dead_letters") == 2
    assert one(store, STORED) == 5


@pytest.mark.parametrize("do", ["store, then cut", "store, then answer 500"])
@pytest.mark.parametrize("restarted", [False, True], ids=["the same writer", "a writer started anew"])
def test_an_answer_that_was_lost_leaves_no_second_copy(server, tmp_path, do, restarted):
    with Spool(tmp_path / "spool", limit_bytes=1 << 30) as spool, open_store(server.dsn) as store:
        store.execute(Query(sql="SYSTEM STOP MERGES gateway_requests"))
        spool.append([frame(0, ROWS)])
        server.behave(do, at=MOMENTS["the rows"], times=2)

        def another():
            return Writer(spool, lambda: nullcontext(store), adapters={"nginx-json": lines_of})

        writer = another()
        for _ in range(MOST_TRIES):
            if not spool.statistics(0).frames_waiting:
                break
            writer.turn(at_once=True)
            writer = another() if restarted else writer
        assert server.misbehaved == 2
        assert spool.statistics(0).frames_waiting == 0
        assert one(store, STORED) == ROWS


TOKENS = {
    "another kind": ("engine", "edge", 0, b"a\n"),
    "another source": ("gateway", "edge2", 0, b"a\n"),
    "another occurrence": ("gateway", "edge", 2, b"a\n"),
    "an occurrence that could be a part of the source": ("gateway", "edg", 0, b"ea\n"),
    "other lines": ("gateway", "edge", 0, b"a\nb\n"),
    "lines in another order": ("gateway", "edge", 0, b"b\na\n"),
}


def test_tokens_tell_batches_apart_and_know_one_again():
    def token(kind, source, k, body):
        return inserting.insert_token(KINDS[kind], source=source, k=k, body=body)

    same = [token("gateway", "edge", 0, json.dumps({"a": 1}).encode()) for _ in range(2)]
    others = {token(*each) for each in TOKENS.values()} | {token("gateway", "edge", 0, b"a\n")}
    assert same[0] == same[1]
    assert len(others) == len(TOKENS) + 1
