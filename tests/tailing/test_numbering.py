"""k of a followed line is k of an import, in as little memory as one likes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.gateway.tailing.event_times import event_times
from collectors.gateway.tailing.key_index import KeyIndex
from collectors.gateway.tailing.numbering import Numbering
from tests.tailing.rig import EPOCH_US, imported, line, lines

times = st.one_of(
    st.integers(0, 50),
    st.integers(0, 100_000),
    st.integers(-(10**9), 10**9),
)
some_lines = st.lists(
    st.one_of(
        st.builds(lambda at: line(0, at_us=EPOCH_US + at * 1_000_000), times),
        st.sampled_from([b"", b"{}", b'{"time":"-"}', b'{"time":"2026-10-07T00:00"}', b'{"time":1}']),
    ),
    max_size=40,
)


class File:
    """Pieces of lines, one after the other, that can be read again."""

    def __init__(self):
        self.pieces = []
        self.size = 0
        self.read_again_bytes = 0

    def add(self, piece):
        self.pieces.append((self.size, piece))
        self.size += sum(len(each) + 1 for each in piece)

    def read_again(self, start, end):
        for at, piece in self.pieces:
            if start <= at < end:
                self.read_again_bytes += sum(map(len, piece))
                yield at, list(piece)


def number_all(pieces, *, block_bytes, most, forget_after=()):
    file, rows = File(), set()
    numbering = Numbering(KeyIndex(block_bytes), most_remembered_lines=most)
    for turn, piece in enumerate(pieces):
        found = dict(
            numbering.number(
                list(piece), event_times(piece).buckets, start=file.size, read_again=file.read_again
            )
        )
        rows |= {(each, found.get(at, 0)) for at, each in enumerate(piece)}
        file.add(piece)
        if turn in forget_after:
            restored = KeyIndex.restored(numbering.index.to_stored(), below=file.size)
            numbering = Numbering(restored, most_remembered_lines=most)
    return rows, file


@given(
    pieces=st.lists(some_lines.filter(bool), max_size=12),
    block_bytes=st.sampled_from([1, 200, 2000, 1 << 20]),
    most=st.sampled_from([0, 3, 20, 1000]),
    forget_after=st.sets(st.integers(0, 12)),
)
def test_the_numbers_are_those_of_an_import(pieces, block_bytes, most, forget_after):
    rows, file = number_all(pieces, block_bytes=block_bytes, most=most, forget_after=forget_after)
    assert rows == imported(b"".join(each + b"\n" for _, piece in file.pieces for each in piece))


def test_a_log_in_order_of_time_is_never_read_again():
    pieces = [lines(*range(at, at + 100)).splitlines() for at in range(0, 10_000, 100)]
    _, file = number_all(pieces, block_bytes=2000, most=150)
    assert file.read_again_bytes == 0


def test_an_old_line_costs_one_block():
    pieces = [lines(*range(at, at + 100)).splitlines() for at in range(0, 10_000, 100)]
    rows, file = number_all([*pieces, [line(42)]], block_bytes=20_000, most=150)
    assert (line(42), 1) in rows
    assert 0 < file.read_again_bytes < 45_000


@pytest.mark.parametrize("most", [0, 1000])
def test_what_was_counted_of_bytes_that_were_not_the_logs_is_undone(most):
    numbering, file = Numbering(most_remembered_lines=most), File()
    piece = [line(1), line(2)]
    buckets = event_times(piece).buckets
    numbering.number(list(piece), buckets, start=0, read_again=file.read_again)
    file.add(piece)
    numbering.number(list(piece), buckets, start=file.size, read_again=file.read_again)
    numbering.rewind(file.size)
    assert numbering.number(list(piece), buckets, start=file.size, read_again=file.read_again) == [
        (0, 1),
        (1, 1),
    ]


@given(st.lists(st.integers(0, 10_000), max_size=200))
def test_an_index_stays_small_and_forgets_nothing(buckets):
    index = KeyIndex()
    for each in buckets:
        index.note(0, [each])
    assert all(map(index.may_hold, buckets))
    assert len(index.to_stored()[0] if buckets else []) <= 65
    for block in index.to_stored():
        assert block[1:] == sorted(block[1:])


def test_an_index_made_again_from_the_file_is_the_same():
    pieces = [lines(*range(at, at + 100)).splitlines() for at in range(0, 3000, 100)]
    file, numbering = File(), Numbering(KeyIndex(20_000))
    for piece in pieces:
        numbering.number(list(piece), event_times(piece).buckets, start=file.size, read_again=file.read_again)
        file.add(piece)
    again = Numbering()
    again.recount(file.size, file.read_again)
    assert all(again.index.may_hold(bucket) for piece in pieces for bucket in event_times(piece).buckets)
