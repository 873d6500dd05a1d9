"""What is in a log is read as an import of the same file reads it."""

import os

import pytest

from collectors.gateway.tailing.contents import Unreadable, open_earlier
from tests.tailing.rig import EPOCH_US, Written, imported, line, lines, rows_of


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(lines(1, 2) + b"\0" * 5000 + lines(3), id="a run of NULs between lines"),
        pytest.param(b"\0" * 9_000_000 + lines(3), id="a run of NULs longer than a piece"),
        pytest.param(lines(1)[:40] + b"\0\0\n" + lines(2), id="NULs in place of a line's end"),
        pytest.param(lines(1).replace(b"\n", b"\r\n") + b"\r\n" + lines(2), id="CR LF and a blank line"),
        pytest.param(b"\xef\xbb\xbf" + lines(1) + b"\xef\xbb\xbf" + lines(2), id="a byte order mark"),
        pytest.param(lines(1) + b"x" * 3_000_000 + b"\n" + lines(2), id="a line that is too long"),
        pytest.param(lines(1) + b"x" * 11_000_000 + b"\n" + lines(2), id="a line longer than two pieces"),
        pytest.param(lines(1) + b"\xff\xfe\x80\n" + lines(2), id="bytes that are no text"),
        pytest.param(lines(1) + b"\n\n\n" + lines(1) + b"\n", id="blank lines are never numbered"),
        pytest.param(lines(1) * 3 + lines(2) + lines(1), id="equal lines"),
        pytest.param(b'{"time":"x"}\n{"time":"x"}\n{"time"\n' * 2, id="equal lines whose time is none"),
        pytest.param(b'{"time":1795980364}\n{"time": 1795980364.5 }\n' * 2, id="times that are numbers"),
        pytest.param(b'{"time":"2026-10-07T12:00:00Z"}\n' * 3, id="times in another format"),
        pytest.param(b'{"a":1}\n' * 4, id="lines without a time"),
    ],
)
def test_a_log_is_read_like_an_import(rig, content):
    rig.path.write_bytes(content)
    rig.poll()
    assert rig.rows == imported(content)
    assert set(rig.times_delivered.values()) <= {1, *range(100)}
    again = rows_of(rig.frames)
    rig.restart().poll()
    assert rows_of(rig.frames) == again


@pytest.mark.parametrize("step", [1, 7, 100])
def test_it_does_not_matter_in_which_steps_a_log_grows(rig, log, step):
    content = lines(1, 2) + b"\0\0\0" + lines(3).replace(b"\n", b"\r\n") + lines(1) + b"\n" + lines(4)
    for begin in range(0, len(content), step):
        log.write(content[begin : begin + step])
        rig.tail or rig.start()
        rig.tail.poll(rig.wait(1).now_us)
        if begin % (step * 40) == 0:
            rig.restart()
    rig.poll()
    assert rig.rows == imported(content)


def test_a_line_that_comes_more_often_than_can_be_counted(rig):
    content = lines(1) * 65_600
    rig.path.write_bytes(content)
    rig.poll()
    assert rig.rows == imported(content)


def test_a_hole_left_by_a_writer_that_keeps_its_place_after_a_truncation(rig):
    log = Written(rig.path, mode=0)
    log.write(lines(1, 2))
    rig.poll()
    log.copy()
    log.truncate()
    log.write(lines(3))
    assert rig.path.read_bytes().startswith(b"\0")
    rig.settle()
    assert rig.rows == imported(lines(1, 2), lines(3))


def test_nuls_at_the_end_are_not_read_past_since_they_may_become_something(rig, log):
    log.write(lines(1))
    at = rig.path.stat().st_size
    os.truncate(rig.path, at + len(lines(2, 3)))
    rig.poll()
    with rig.path.open("r+b") as file:
        file.seek(at)
        file.write(lines(2, 3))
    rig.poll()
    assert rig.rows == imported(lines(1, 2, 3))


def test_a_payload_stays_small_and_says_where_its_lines_lie(rig, log):
    content = lines(*range(20_000))
    log.write(content)
    rig.poll()
    assert len(rig.frames) > 5
    for frame in rig.frames:
        assert len(frame.payload) <= 256 << 10
        assert content[frame.offset : frame.offset + len(frame.payload)] == frame.payload


def test_repeats_are_numbered_within_their_payload(rig, log):
    content = lines(*range(5000)) + lines(*range(0, 5000, 3))
    log.write(content)
    rig.poll()
    assert rig.rows == imported(content)
    assert sum(len(frame.repeats) for frame in rig.frames) == len(range(0, 5000, 3))


@pytest.mark.parametrize(
    ("times", "covered"),
    [
        pytest.param([0, 10, 30], [(0, 30)], id="from the first time to the latest"),
        pytest.param([20, 10, 30, 5], [(20, 30)], id="lines out of order add nothing before the first"),
        pytest.param([-20_000_000_000, 10, 30], [(10, 30)], id="a time before 2000 is no time"),
        pytest.param([10, 30, 10**9], [(10, 30)], id="a time that has not come is no time"),
        pytest.param([7], [], id="one instant is no time"),
    ],
)
def test_event_time(rig, log, times, covered):
    rig.now_us = EPOCH_US + 3_600_000_000
    log.write(b"".join(line(n, at_us=EPOCH_US + at * 100_000) + b"\n" for n, at in enumerate(times)))
    rig.poll()
    assert rig.covered == covered


def test_each_payload_covers_what_it_holds_so_that_a_lost_one_leaves_a_gap(rig, log):
    log.write(lines(*range(10_000)))
    rig.now_us = EPOCH_US + 3_600_000_000
    rig.poll()
    del rig.frames[2]
    (first, (second, last)) = rig.covered
    assert first[0] == 0
    assert first[1] < second < last == 9999


@pytest.mark.parametrize(
    "head", [b"", b"\x1f", b"\x28\xb5", b"PK"], ids=["nothing yet", "gzip", "zstd", "zip"]
)
def test_a_file_too_short_to_show_how_it_is_compressed_is_not_taken_for_text(tmp_path, head):
    begun = tmp_path / "access.log.2.gz"
    begun.write_bytes(head)
    with pytest.raises(Unreadable, match="is being written"):
        open_earlier(str(begun))
    begun.write_bytes(b"{}\n")
    open_earlier(str(begun)).close()
