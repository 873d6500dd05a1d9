"""A store that is away, sick or slow to come back: rows wait, for ever if need be, and nothing is done twice."""

import pytest

from fairclock.errors import SpoolUnavailable, StoreError, StoreNewer, StoreReadOnly, StoreUnreachable
from tests.writer.stores import server_error

AWAY = StoreUnreachable("store", "nobody answers")


def test_the_wait_doubles_up_to_half_a_minute_and_never_ends(bench):
    bench.append(b"row")
    bench.store.failures = [AWAY] * 200
    bench.run_for(4.9)
    begin = bench.clock.seconds
    tries, waits = 0, []
    for _ in range(60):
        rest = bench.writer.turn()
        if len(bench.store.batches) > tries:
            tries = len(bench.store.batches)
            waits.append(rest.seconds)
        bench.clock.seconds += rest.seconds
    assert waits[:8] == [0.5, 1, 2, 4, 8, 16, 30, 30]
    assert set(waits[7:]) == {30}
    assert bench.writer.statistics().failures_in_a_row == len(waits)
    assert bench.clock.seconds > begin + 1_000
    bench.store.failures = []
    bench.run_for(30)
    assert bench.store.lines == {b"row"}
    statistics = bench.writer.statistics()
    assert (statistics.failures_in_a_row, statistics.latest_error) == (0, "")


def test_writers_that_failed_together_come_back_apart(bench):
    bench.store.failures = [AWAY] * 2
    bench.append(b"row")
    waits = []
    for chance in (0.0, 0.9):
        writer = bench.another_writer()
        writer._back_off._random = lambda chance=chance: chance
        waits.append(writer.turn(at_once=True).seconds)
    assert waits == [0.25, 0.475]


@pytest.mark.parametrize(
    "error",
    [
        AWAY,
        StoreReadOnly("store", "it takes no writes"),
        StoreNewer("store", "the schema is newer"),
        server_error(252, "Too many parts"),
        server_error(241, "Memory limit exceeded"),
        server_error(164, "Cannot execute query in readonly mode"),
        server_error(159, "Timeout exceeded"),
        server_error(60, "Table does not exist"),
        StoreError("store", "HTTPDriver returned response code 500"),
        StoreError("store", "what a proxy says"),
    ],
    ids=lambda error: str(error)[-40:],
)
def test_rows_wait_however_long_for_what_is_not_their_fault(bench, error):
    bench.append(b"row")
    bench.store.failures = [error] * 120
    bench.run_for(3_000)
    assert len(bench.store.batches) > 90
    assert (bench.store.dead, bench.waiting()) == ([], 1)
    assert bench.writer.statistics().latest_error == str(error)
    bench.run_for(900)
    assert (bench.store.lines, bench.store.dead, bench.waiting()) == ({b"row"}, [], 0)


def test_a_store_that_cannot_be_opened_is_opened_later(bench):
    bench.failures_to_open = [AWAY, StoreNewer("store", "newer"), ImportError("chdb")]
    bench.append(b"row")
    bench.run_for(30)
    assert bench.opened == 4
    assert bench.store.lines == {b"row"}


def test_what_comes_while_the_store_is_away_is_written_with_the_first_when_it_is_back(bench):
    bench.append(b"first")
    bench.store.failures = [AWAY] * 5
    bench.run_for(6)
    for number in range(100):
        bench.append(b"later %d" % number)
    bench.run_for(60)
    assert len(bench.store.rows) == 101
    assert len(bench.store.batches) <= 8


def test_what_waits_for_an_absent_store_stays_in_the_spool_and_not_in_memory(bench):
    bench.store.failures = [AWAY] * 1_000
    lines = [b"x" * 40] * 5_000
    for _ in range(40):
        bench.append(*lines)
        bench.run_for(60)
    assert bench.writer._delivery.waiting_rows <= 100_000
    assert bench.waiting() == 40


def test_a_batch_that_is_done_is_not_done_again_when_the_next_one_fails(bench):
    bench.append(b"a")
    bench.append(b"b", source="other")
    bench.store.failures = [None, AWAY]
    bench.run_for(20)
    assert [batch.source for batch in bench.store.batches] == ["edge", "other", "other"]


def test_coverage_that_could_not_be_written_is_tried_again_before_anything_is_acknowledged(bench):
    bench.append(b"a", covered=(1, 9))
    bench.store.failures = [None, AWAY, AWAY]
    bench.run_for(5.1)
    assert (bench.store.covered, bench.waiting()) == ([], 1)
    bench.run_for(10)
    assert (bench.store.covered, bench.waiting(), len(bench.store.batches)) == ([(1, 9)], 0, 1)


def test_a_writer_that_was_killed_before_the_acknowledgement_delivers_again(bench):
    bench.append(b"a", covered=(1, 9))
    bench.store.failures = [None, AWAY]
    bench.run_for(5.1)
    bench.writer = bench.another_writer()
    bench.run_for(10)
    assert [list(batch.lines) for batch in bench.store.batches] == [[b"a"], [b"a"]]
    assert bench.writer.statistics().counts["gateway", "edge"].duplicates == 1


def test_an_acknowledgement_that_fails_is_tried_again_and_no_row_is(bench, monkeypatch):
    bench.append(b"a")
    real = bench.spool.acknowledge
    errors = [SpoolUnavailable("spool", "input/output error")]

    def acknowledge(position):
        if errors:
            raise errors.pop()
        real(position)

    monkeypatch.setattr(bench.spool, "acknowledge", acknowledge)
    bench.run_for(20)
    assert (len(bench.store.batches), bench.waiting()) == (1, 0)


def test_a_batch_that_the_server_has_no_memory_for_is_halved(bench):
    limit = 3_000

    def ingest(batch, real=bench.store.ingest):
        if len(batch.lines) > limit:
            raise server_error(241, "Memory limit exceeded")
        return real(batch)

    bench.store.ingest = ingest
    bench.append(*[b"row %d" % number for number in range(10_000)])
    bench.run_for(60)
    assert len(bench.store.rows) == 10_000
    assert [len(batch.lines) for batch in bench.store.batches] == [2_500] * 4


def test_stopping_writes_what_waits_without_waiting_for_its_time(bench):
    bench.writer.start()
    bench.append(b"a")
    bench.writer.stop()
    assert bench.store.lines == {b"a"}


def test_stopping_while_the_store_is_away_tries_once_and_leaves_the_rows_in_the_spool(bench):
    bench.store.failures = [AWAY] * 100
    bench.append(b"a")
    bench.writer.start()
    bench.writer.stop()
    assert len(bench.store.batches) <= 2
    assert (bench.waiting(), bench.store.closed) == (1, True)


def test_a_writer_that_never_started_stops(bench):
    bench.writer.stop()
    assert bench.opened == 0


def test_what_arrives_while_the_store_is_away_goes_in_as_one_batch(bench):
    bench.store.failures = [AWAY] * 6
    for number in range(60):
        bench.append(b"row %d" % number, covered=(number, number + 1))
        bench.run_for(1)
    bench.run_for(60)
    assert len(bench.store.lines) == 60
    tries = [len(batch.lines) for batch in bench.store.batches]
    assert max(tries[6:]) > 25
    assert len(tries[6:]) <= 1 + 60 // 5
    assert bench.store.covered == [(0, 60)]


def test_halves_that_had_to_be_are_not_put_together_again(bench):
    rows = [b"row %04d" % number for number in range(3_000)]
    bench.store.failures = [server_error(241), server_error(241)]
    bench.append(*rows)
    bench.run_for(6)
    bench.append(b"another")
    bench.run_for(60)
    assert [len(batch.lines) for batch in bench.store.batches][:3] == [3_000, 1_500, 750]
    assert bench.store.lines == {*rows, b"another"}


def test_what_the_store_may_have_is_handed_over_again_as_it_was(bench):
    """By its lines a store knows a batch again; with more in it, it would be another."""
    bench.append(b"first")
    bench.store.failures = [AWAY] * 3
    bench.run_for(6)
    bench.append(b"second")
    bench.run_for(60)
    assert [batch.lines for batch in bench.store.batches] == [[b"first"]] * 4 + [[b"second"]]
