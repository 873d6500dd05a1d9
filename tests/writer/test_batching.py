"""Few, large inserts: how frames become batches, and when."""

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporters.clickhouse import lines_of
from exporters.clickhouse.batches import LARGEST_BATCH_ROWS, Gathering
from tests.writer.conftest import frame


def test_five_thousand_single_rows_in_a_minute_make_at_most_15_inserts(bench):
    for number in range(5_000):
        bench.append(b"row %d" % number)
        bench.run_for(60 / 5_000)
    bench.run_for(10)
    assert len(bench.store.rows) == 5_000
    assert 12 <= len(bench.store.batches) <= 15
    assert bench.writer.statistics().inserts == len(bench.store.batches)


def test_a_lone_row_is_there_after_five_seconds(bench):
    bench.append(b"row")
    assert bench.run_for(4.9) == []
    assert bench.store.batches == []
    assert bench.run_for(0.2) == pytest.approx([0.1])
    assert bench.store.lines == {b"row"}
    assert bench.waiting() == 0


def test_a_load_is_written_at_once_and_in_large_batches(bench):
    lines = [b"%09d" % number + b"x" * 490 for number in range(180_000)]
    for start in range(0, len(lines), 500):
        bench.append(*lines[start : start + 500])
    bench.run_for(0)
    sizes = [len(batch.lines) for batch in bench.store.batches]
    assert all(50_000 <= size <= LARGEST_BATCH_ROWS for size in sizes)
    assert len(sizes) == 2
    bench.run_for(5)
    assert len(bench.store.rows) == 180_000


def test_an_idle_writer_has_nothing_to_do(bench):
    rest = bench.writer.turn()
    assert (rest.seconds >= 600, rest.unless_bytes) == (True, 1)
    assert bench.opened == 0


def test_a_batch_holds_one_kind_of_one_source_and_occurrence(bench):
    bench.append(b"a", b"b", b"a", repeats=((2, 1),))
    bench.append(b"a", b"c", source="other")
    bench.append(b"d", repeats=((0, 2),))
    bench.append(b"e", kind="engine")
    bench.append(b"f")
    bench.run_for(5)
    batches = {(batch.kind, batch.source, batch.k): list(batch.lines) for batch in bench.store.batches}
    assert batches == {
        ("gateway", "edge", 0): [b"a", b"b", b"f"],
        ("gateway", "edge", 1): [b"a"],
        ("gateway", "other", 0): [b"a", b"c"],
        ("gateway", "edge", 2): [b"d"],
        ("engine", "edge", 0): [b"e"],
    }


def test_coverage_is_written_after_the_rows_and_without_overlaps(bench):
    bench.append(b"a", covered=(100, 200))
    bench.append(b"b", covered=(200, 300))
    bench.append(b"c", covered=(250, 280))
    bench.append(covered=(900, 950))
    bench.run_for(5)
    assert bench.store.covered == [(100, 300), (900, 950)]
    assert len(bench.store.intervals) == 2


def test_coverage_without_rows_is_written_too_and_costs_no_insert(bench):
    bench.append(covered=(1, 2))
    bench.run_for(5)
    assert (bench.store.covered, bench.store.batches, bench.waiting()) == ([(1, 2)], [], 0)


def test_a_time_that_no_clock_shows_covers_nothing_and_stops_nothing(bench):
    bench.append(b"a", covered=(0, 2**62))
    bench.run_for(5)
    assert (bench.store.lines, bench.store.covered) == ({b"a"}, [])


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        pytest.param(
            {"format": "unheard-of"}, "frame: not readable as 'unheard-of' (KeyError)", id="no adapter"
        ),
        pytest.param(
            {"format": "broken"}, "frame: not readable as 'broken' (ZeroDivisionError)", id="a failing one"
        ),
    ],
)
def test_a_frame_that_no_adapter_reads_is_a_dead_letter_and_costs_no_other(bench, changes, reason):
    bench.writer._adapters = {"lines": lines_of, "broken": lambda _: 1 / 0}
    bench.append(b"a")
    bench.append(b"secret", **changes)
    bench.append(b"b")
    bench.run_for(5)
    assert bench.store.lines == {b"a", b"b"}
    assert bench.store.dead == [(b"secret\n", reason)]
    assert bench.writer.statistics().refused == {reason: 1}
    assert bench.waiting() == 0


@given(
    st.lists(st.binary(max_size=9).filter(lambda line: b"\n" not in line), min_size=1),
    st.dictionaries(st.integers(0, 9), st.integers(1, 3)),
)
def test_every_line_of_a_frame_is_in_one_batch_with_its_number(lines, repeats):
    batches = lines_of(frame(*lines, repeats=tuple(repeats.items())))
    found = sorted((line, batch.k) for batch in batches for line in batch.lines)
    assert found == sorted((line, repeats.get(index, 0)) for index, line in enumerate(lines))


def test_a_last_line_without_its_newline_counts():
    assert lines_of(frame(payload=b"a\nb"))[0].lines == [b"a", b"b"]


def test_a_gathering_larger_than_a_batch_is_cut():
    gathering = Gathering({"lines": lines_of})
    gathering.add([frame(*[b"x"] * 150_000), frame(*[b"y"] * 60_000)])
    assert [len(batch.lines) for batch in gathering.batches()] == [100_000, 100_000, 10_000]


def test_the_thread_does_the_same_and_stops_when_all_is_written(bench):
    bench.writer.start()
    for number in range(20):
        bench.append(b"row %d" % number)
    bench.writer.stop()
    assert len(bench.store.rows) == 20
    assert bench.waiting() == 0
    assert bench.store.closed
    assert not [thread for thread in threading.enumerate() if thread.name == "store-writer"]


def test_a_frame_that_the_disk_spoiled_leaves_a_gap_in_coverage(bench):
    for number in range(3):
        bench.append(b"row %d" % number, covered=(number * 10, number * 10 + 10))
    path = next((bench.spool._directory / "segments").iterdir())
    data = path.read_bytes()
    path.write_bytes(data.replace(b"row 1", b"row 7"))
    bench.run_for(5)
    assert bench.store.lines == {b"row 0", b"row 2"}
    assert bench.store.covered == [(0, 10), (20, 30)]
    assert bench.spool.statistics(0).quarantined_segments == 1
