"""Several logs of one source: time is covered where none of them is known to lack lines."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.gateway.tailing.shared_coverage import LogCoverage, Share, told
from fairclock.model import Frame
from tests.tailing.rig import EPOCH_US, Rig, Written, lines, rows_of


@pytest.fixture
def rig(tmp_path):
    rig = Rig(tmp_path, tmp_path / "logs" / "access.log", tmp_path / "logs" / "other.log")
    yield rig
    if rig.tail is not None:
        rig.stop()


@pytest.fixture
def log(rig):
    return Written(rig.path)


@pytest.fixture
def other(rig):
    return Written(rig.folder / "other.log")


def numbers(rig):
    """Return which lines arrived."""
    rows = (row for frame in rig.frames if frame.payload for row in rows_of([frame]))
    return {int(json.loads(content)["request_id"], 16) for content, _ in rows}


def begun(rig, log, other):
    """Let both logs be followed and read to tenth 3."""
    log.write(lines(1, 3))
    other.write(lines(1, 3))
    rig.poll()
    assert rig.covered == [(1, 3)]


def test_a_quiet_log_holds_nobody_back(rig, log, other):
    begun(rig, log, other)
    log.write(lines(5, 9))
    rig.poll()
    assert rig.covered == [(1, 9)]


def test_half_a_line_holds_nobody_back(rig, log, other):
    begun(rig, log, other)
    other.write(lines(4)[:30])
    log.write(lines(5, 9))
    rig.poll()
    assert rig.covered == [(1, 9)]


def shut(rig, other):
    """Rotate the other log; what takes its name cannot be read."""
    other.rename()
    rig.folder.joinpath("other.log").mkdir()


def opened(rig, other):
    rig.folder.joinpath("other.log").rmdir()
    other.reopen()


def test_a_log_that_cannot_be_read_holds_the_others_back_until_it_can(rig, log, other):
    begun(rig, log, other)
    shut(rig, other)
    log.write(lines(5, 9))
    rig.poll()
    assert numbers(rig) == {1, 3, 5, 9}
    assert rig.covered == [(1, 3)]
    opened(rig, other)
    other.write(lines(6))
    rig.poll()
    assert rig.covered == [(1, 9)]


def test_what_is_held_back_is_told_though_its_own_log_is_quiet_and_nothing_else_comes(rig, log, other):
    begun(rig, log, other)
    shut(rig, other)
    log.write(lines(5, 9))
    rig.poll()
    opened(rig, other)
    rig.poll().wait(5).poll()
    assert rig.covered == [(1, 9)]


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_what_is_held_back_outlives_a_restart(rig, log, other, end):
    begun(rig, log, other)
    shut(rig, other)
    log.write(lines(5, 9))
    rig.poll().wait(1).poll()
    getattr(rig, end)()
    opened(rig, other)
    rig.start().poll().wait(5).poll()
    assert rig.covered == [(1, 9)]


def test_a_log_that_is_behind_holds_the_others_back_until_it_caught_up(rig, log, other, monkeypatch):
    monkeypatch.setattr(
        "collectors.gateway.tailing.pieces.PieceReader.__init__.__kwdefaults__", {"piece_bytes": 500}
    )
    monkeypatch.setattr("collectors.gateway.tailing.tailer.DELIVERY_BYTES", 1)  # a log a delivery
    begun(rig, log, other)
    other.write(lines(*range(4, 40)))
    log.write(lines(30, 90))
    seen = set()
    while rig.tail.poll(rig.wait(0.2).now_us):
        read = numbers(rig)
        unread = set(range(4, 40)) - read
        if unread and 90 in read:
            assert rig.covered[-1][1] < min(unread)
            seen.add(rig.covered[-1][1])
    assert len(seen) > 3
    rig.poll()
    assert rig.covered == [(1, 90)]


def test_lines_that_one_log_lost_are_covered_by_no_other(rig, log, other):
    begun(rig, log, other)
    rig.stop()
    other.write(lines(4, 7))
    other.rotate().unlink()
    other.write(lines(8, 9))
    log.write(lines(4, 6, 12))
    rig.start().settle()
    assert rig.tail.statistics().lost_files == 1
    assert rig.covered == [(1, 3), (8, 12)]


def test_a_log_that_lost_lines_and_is_quiet_holds_nobody_back_for_ever(rig, log, other):
    begun(rig, log, other)
    rig.stop()
    other.rotate().unlink()
    log.write(lines(4, 6))
    rig.start().settle()
    assert rig.tail.statistics().lost_files == 1
    assert rig.covered == [(1, 3)]
    lost_at = (rig.now_us - EPOCH_US) // 100_000
    log.write(lines(lost_at, lost_at + 9))
    rig.poll()
    assert rig.covered[-1][1] == lost_at + 9
    assert rig.covered[-1][0] > 6


def test_lines_lost_between_a_copy_and_a_truncation_are_covered_by_no_other(rig, log, other):
    begun(rig, log, other)
    other.copy()
    other.truncate()
    other.write(lines(8, 9))
    rig.poll()
    log.write(lines(12))
    rig.poll()
    assert rig.covered == [(1, 3), (8, 12)]


def frame(covered):
    return Frame(
        kind="gateway",
        format="nginx-json",
        source="g",
        generation="a",
        offset=0,
        payload=b"x\n",
        covered=covered,
    )


def tell(shares):
    return told(shares, source="g", log_format="nginx-json")


def test_a_log_alone_tells_what_each_frame_covers():
    frames = [frame((0, 5)), frame(None), frame((5, 9)), frame((12, 15))]
    assert tell({"a": Share(coverage=LogCoverage(), frames=frames)}).frames == frames


SPANS = st.lists(st.integers(0, 40), min_size=2, max_size=8, unique=True).map(
    lambda ends: list(zip(sorted(ends)[::2], sorted(ends)[1::2], strict=False))
)


def instants(spans):
    return {at for start, end in spans for at in range(start, end)}


@given(
    own=SPANS,
    held=SPANS,
    others=st.lists(st.tuples(SPANS, st.none() | st.integers(-5, 45)), max_size=3),
)
def test_what_is_told_and_what_is_held_is_all_that_nobody_lacks(own, held, others):
    first = min(start for start, _ in own)
    held = tuple((start, end) for start, end in held if end <= first)
    coverage = LogCoverage(through_us=first, held=held)
    shares = {"own": Share(coverage=coverage, frames=[frame(span) for span in own])}
    for number, (gaps, unread) in enumerate(others):
        shares[f"other {number}"] = Share(
            coverage=LogCoverage(gaps=tuple(gaps)), unread_from_us=math.inf if unread is None else unread
        )
    result = tell(shares)
    limit = min((share.unread_from_us for share in shares.values()), default=math.inf)
    lost = set().union(*(instants(gaps) for gaps, _ in others)) if others else set()
    read = instants(own) | instants(held)
    said = [each.covered for each in result.frames if each.covered is not None]
    assert instants(said) == {at for at in read - lost if at < limit}
    assert sum(end - start for start, end in said) == len(instants(said)), "nothing is told twice"
    assert instants(result.coverage["own"].held) == {at for at in read if at >= limit}
    assert [each.payload for each in result.frames if each.payload] == [b"x\n"] * len(own)
