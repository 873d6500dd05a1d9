"""Nothing is counted twice or lost; an old `as_of` reads what it read then."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

import pytest

from fairclock.errors import UsageError
from fairclock.model import Interval, to_us
from fairclock.store import Query
from tests.store.conftest import DAY, engine_line, gateway_line, later, traced


def month_lines(count=300):
    gateway = [
        gateway_line(number * 40, request_id=f"r{number}", **traced(number + 1)) for number in range(count)
    ]
    engine = [
        engine_line(number * 40 + 0.01, trace_id=f"{number + 1:032x}", request_id=f"chatcmpl-r{number}")
        for number in range(count)
    ]
    return gateway, engine


@pytest.mark.parametrize("merges", ["stopped", "forced"])
def test_replays_in_any_order_and_in_pieces_change_nothing(books, merges):
    gateway, engine = month_lines()
    for table in ("gateway_requests", "engine_requests"):
        books.store.execute(Query(sql=f"SYSTEM STOP MERGES {table}"))
    books.feed(gateway, engine)
    before = books.digest()
    shuffled = random.Random(5).sample(gateway, len(gateway))
    counts = [books.feed(piece)[0] for piece in (gateway, shuffled, gateway[40:90], gateway[60:200])]
    books.feed([], engine[::-1])
    assert [each.stored for each in counts] == [0] * 4
    assert [each.duplicates for each in counts] == [300, 300, 50, 140]
    if merges == "forced":
        for table in ("gateway_requests", "engine_requests"):
            books.store.execute(Query(sql=f"SYSTEM START MERGES {table}"))
            books.store.execute(Query(sql=f"OPTIMIZE TABLE {table} FINAL"))
    assert books.digest() == before
    assert before[0] == 300


def test_equal_lines_of_one_file_are_several_requests_and_their_replay_is_not(books):
    line = gateway_line()
    books.feed([line], k=0)
    books.feed([line], k=1)
    books.feed([line], k=1)
    assert len(books.requests("k")) == 2


def test_lines_that_differ_in_any_key_are_two_requests(books):
    books.feed([gateway_line(priority="1"), gateway_line(priority="2")])
    assert len(books.requests("k")) == 2


def test_sealed_and_live_hours_read_the_same(books):
    books.feed(*month_lines())
    live, as_of_live = books.digest(), books.store.watermark()
    assert books.store.seal() == 4
    assert books.digest() == live
    assert books.digest(as_of=as_of_live) == live
    assert len(books.store.seals_as_of(DAY, books.store.watermark())) == 4
    assert books.store.seals_as_of(DAY, as_of_live) == []


def test_replays_make_no_new_seal(books):
    gateway, engine = month_lines()
    books.feed(gateway, engine)
    books.store.seal()
    books.feed(gateway, engine)
    assert books.store.seal() == 0
    assert books.scalar("SELECT count() FROM seals") == 4


def test_a_late_engine_row_makes_a_new_seal_and_leaves_the_old_as_of_alone(books):
    gateway, engine = month_lines()
    books.feed(gateway, engine[1:])
    books.store.seal()
    old_as_of, old = books.store.watermark(), books.digest()
    books.feed([], engine[:1])
    new = books.digest()
    assert new != old
    assert books.store.seal() == 1
    assert books.digest() == new
    assert books.digest(as_of=old_as_of) == old


@pytest.mark.parametrize("gone", ["every row", "half the hour"])
def test_what_comes_late_for_an_hour_whose_raw_rows_are_gone_leaves_it_as_it_was_sealed(books, gone):
    gateway, engine = month_lines()
    books.feed(gateway, engine)
    books.store.seal()
    before = books.digest()
    went = later(3600) if gone == "every row" else later(1800)
    for table, column in (("gateway_requests", "received_at"), ("engine_requests", "arrived_at")):
        books.store.execute(
            Query(
                sql=f"ALTER TABLE {table} DELETE WHERE {column} < fromUnixTimestamp64Micro({{us:Int64}}, 'UTC') SETTINGS mutations_sync = 2",
                parameters={"us": to_us(went)},
            )
        )
    books.feed([gateway_line(7, request_id="late")], [])
    assert books.digest() == before
    assert books.store.seal() == 0
    assert books.digest() == before
    books.feed([gateway_line(3600 * 2 + 7, request_id="late too")], [])
    assert books.digest() != before
    assert books.store.seal() == 1


def test_a_row_written_without_its_seal_is_not_read(books):
    books.feed(*month_lines())
    books.store.seal()
    before = books.digest()
    books.store.execute(
        Query(sql="INSERT INTO requests SELECT * REPLACE (toUInt64(1) AS seal) FROM requests LIMIT 5")
    )
    assert books.digest() == before


def test_sealing_a_window_leaves_the_other_hours_open(books):
    books.feed(*month_lines())
    assert books.store.seal(Interval(start=later(0), end=later(3600))) == 1
    assert books.store.seal() == 3


def test_the_watermark_stays_before_a_write_in_flight(books, tmp_path):
    from fairclock.store import batches

    connection = books.store._connection
    before = books.store.watermark()
    with batches.write_stamp(connection) as stamp:
        held = books.store.watermark()
        assert (held - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1) < stamp
        assert held == books.store.watermark()
        assert held > before
    assert books.store.watermark() > held


def test_a_watermark_that_was_handed_out_stays_one(books):
    connection, handed_out = books.store._connection, books.store.watermark()
    dated = handed_out - timedelta(milliseconds=5)
    connection.execute(  # a write's note is dated when it begins, and seen when it is done
        Query(
            sql="INSERT INTO write_log VALUES ({batch:UUID}, {at:DateTime64(6, 'UTC')}, 1)",
            parameters={"batch": "00000000-0000-0000-0000-000000000001", "at": dated},
        )
    )
    try:
        assert books.store.checked_as_of(handed_out) == handed_out
        assert books.store.watermark() == handed_out
    finally:
        connection.execute(Query(sql="TRUNCATE TABLE write_log"))


def test_as_of_beyond_the_watermark_is_refused(store):
    with pytest.raises(UsageError, match="lies beyond what is committed"):
        store.checked_as_of(datetime(2100, 1, 1, tzinfo=UTC))


def test_coverage_is_the_union_as_known_then(store):
    store.cover(kind="gateway", source="a", intervals=[Interval(start=later(0), end=later(60))])
    then = store.watermark()
    store.cover(kind="gateway", source="b", intervals=[Interval(start=later(30), end=later(90))])
    store.cover(kind="engine", source="b", intervals=[Interval(start=later(200), end=later(300))])
    assert store.covered("gateway", DAY, store.watermark()) == [Interval(start=later(0), end=later(90))]
    assert store.covered("gateway", DAY, then) == [Interval(start=later(0), end=later(60))]
    window = Interval(start=later(50), end=later(70))
    assert store.covered("gateway", window, store.watermark()) == [window]


def test_instants_come_back_aware(books):
    books.feed([gateway_line()])
    ((received_at,),) = books.requests("received_at")
    assert received_at == later(0)
    assert received_at.tzinfo is not None


def test_many_notes_of_coverage_read_as_their_union(store):
    pieces = [Interval(start=later(5 * number), end=later(5 * number + 5)) for number in range(400)]
    gap = Interval(start=later(3000), end=later(3001))
    inside = Interval(start=later(7), end=later(9))
    random.Random(3).shuffle(pieces)
    store.cover(kind="gateway", source="a", intervals=pieces[:200])
    store.cover(kind="gateway", source="b", intervals=[*pieces[200:], gap, inside, inside])
    assert store.covered("gateway", DAY, store.watermark()) == [
        Interval(start=later(0), end=later(2000)),
        gap,
    ]


def test_a_seal_that_came_late_is_not_vouched_for_by_the_confirmation_of_an_earlier_one(books):
    """A slow writer's old view of an hour ends up under the greatest seal: the hour must be read again."""
    books.feed([gateway_line(0)])
    old_us = to_us(books.store.watermark())
    books.feed([gateway_line(9)])
    books.store.seal()
    books.store.execute(
        Query(
            sql="INSERT INTO seals SELECT hour, seal + 1000000000000, fromUnixTimestamp64Micro({old:Int64}), stored_at, 1, 0 FROM seals",
            parameters={"old": old_us},
        )
    )
    books.store.execute(
        Query(
            sql="INSERT INTO seal_confirmations SELECT hour, min(seal), now64(6), max(stored_at) FROM seals GROUP BY hour"
        )
    )
    assert len(books.requests("k")) == 2
    assert books.store.seal() == 1
    assert len(books.requests("k")) == 2


def test_after_a_clock_was_set_back_what_is_stored_is_in_the_next_report(books):
    books.store.execute(Query(sql="INSERT INTO write_log SELECT generateUUIDv4(), now64(6) + 3600, 1"))
    books.store.execute(
        Query(sql="INSERT INTO write_log SELECT batch, at, -1 FROM write_log WHERE at > now64(6) + 60")
    )
    try:
        books.feed([gateway_line(0)])
        books.feed([gateway_line(9)])
        assert len(books.requests("k")) == 2
        assert books.scalar("SELECT uniqExact(first_wins) FROM gateway_requests") == 2
    finally:
        books.store.execute(Query(sql="TRUNCATE TABLE write_log"))


def test_nobody_has_read_through_what_is_yet_to_come(store):
    century = Interval(start=datetime(2100, 1, 1, tzinfo=UTC), end=datetime(2200, 1, 1, tzinfo=UTC))
    store.cover(kind="gateway", source="a", intervals=[century])
    assert store.covered("gateway", century, store.watermark()) == []
