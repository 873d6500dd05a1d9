"""A tail that was stopped or killed goes on where it was, wherever the bytes lie by now."""

import os
from pathlib import Path

import pytest

from collectors.gateway.tailing.earlier_files import earlier_files
from tests.tailing.rig import Written, compress, imported, lines
from tests.tailing.test_rotation import arrived


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_nothing_is_delivered_again_after_an_orderly_stop_and_nothing_is_lost_after_a_kill(rig, log, end):
    log.write(lines(1, 2))
    rig.poll()
    log.write(lines(3))
    getattr(rig, end)()
    log.write(lines(4))
    rig.start().poll()
    arrived(rig, 1, 2, 3, 4)
    assert rig.covered == [(1, 4)]


def test_a_kill_between_delivery_and_checkpoint_repeats_the_same_rows(rig, log):
    log.write(lines(1) * 3)
    rig.poll(rounds=2)
    log.write(lines(1) * 2)
    rig.start() if rig.tail is None else None
    rig.tail._saved_us = rig.now_us  # no checkpoint is due
    rig.tail.poll(rig.now_us)
    rig.kill()
    rig.start().poll()
    assert rig.rows == imported(lines(1) * 5)
    assert max(rig.times_delivered.values()) == 2


def test_a_restart_in_the_middle_of_a_line(rig, log):
    log.write(lines(1) + lines(2)[:50])
    rig.poll()
    rig.restart().poll()
    log.write(lines(2)[50:])
    rig.restart().poll()
    arrived(rig, 1, 2)


ROTATIONS = {
    "renamed": lambda log: log.rotate(),
    "renamed and compressed": lambda log: compress(log.rotate()),
    "copied and truncated": lambda log: (log.copy(), log.truncate()),
    "copied, truncated and compressed": lambda log: (compress(log.copy()), log.truncate()),
    "renamed with a date": lambda log: (
        log.rename(to=log.path.with_name(f"access.log-20261007-{len(list(log.path.parent.iterdir()))}")),
        log.reopen(),
    ),
    "renamed with a date before the extension": lambda log: (
        log.rename(to=log.path.with_name(f"access-20261007.{len(list(log.path.parent.iterdir()))}.log")),
        log.reopen(),
    ),
}


@pytest.mark.parametrize("rotate", ROTATIONS.values(), ids=ROTATIONS)
@pytest.mark.parametrize("times", [1, 2, 3], ids="{} times".format)
def test_a_log_rotated_while_the_tail_was_down(rig, log, rotate, times):
    log.write(lines(1, 2))
    rig.poll().stop()
    log.write(lines(3))
    for turn in range(times):
        rotate(log)
        log.write(lines(10 + turn))
    rig.start().settle()
    arrived(rig, 1, 2, 3, *range(10, 10 + times))
    assert rig.tail.statistics().lost_files == 0


@pytest.mark.parametrize(
    ("name", "covered"),
    [
        ("renamed", [(1, 9)]),
        ("renamed and compressed", [(1, 9)]),
        ("copied and truncated", [(1, 3), (8, 9)]),
    ],
)
def test_time_is_covered_across_a_rotation_while_down_only_where_nothing_can_have_been_lost(
    rig, log, name, covered
):
    log.write(lines(1, 2))
    rig.poll().stop()
    log.write(lines(3))
    ROTATIONS[name](log)
    log.write(lines(8, 9))
    rig.start().poll()
    arrived(rig, 1, 2, 3, 8, 9)
    assert rig.covered == covered


@pytest.mark.parametrize(
    ("name", "covered"),
    [
        ("renamed", [(1, 19)]),
        ("renamed and compressed", [(1, 19)]),
        ("copied and truncated", [(1, 3), (8, 9), (12, 13), (18, 19)]),
    ],
)
def test_time_is_covered_across_several_rotations_while_down_as_across_one(rig, log, name, covered):
    log.write(lines(1, 2))
    rig.poll().stop()
    log.write(lines(3))
    for first in (8, 12, 18):
        ROTATIONS[name](log)
        log.write(lines(first, first + 1))
    rig.start().poll()
    arrived(rig, 1, 2, 3, 8, 9, 12, 13, 18, 19)
    assert rig.covered == covered


@pytest.mark.parametrize(
    "names",
    [
        ["access.log.10.gz", "access.log.2", "access.log.1"],
        ["access.3.log", "access.2.log", "access.1.log"],
        ["access.log-20261006", "access.log-20261007.gz", "access.log-20261008"],
    ],
    ids=["falling number", "falling number before the extension", "date"],
)
def test_rotated_files_last_written_at_the_same_instant_are_ordered_by_their(tmp_path, names):
    for name in reversed(names):
        (tmp_path / name).write_bytes(b"x")
        os.utime(tmp_path / name, (1, 1))
    assert [Path(file.path).name for file in earlier_files(str(tmp_path / "access.log"))] == names


def test_a_log_that_is_gone_when_the_tail_comes_back_is_lost_and_leaves_a_gap(rig, log, caplog):
    log.write(lines(1, 2))
    rig.poll().stop()
    log.write(lines(3))
    log.rotate().unlink()
    log.write(lines(8, 9))
    rig.start().settle()
    arrived(rig, 1, 2, 8, 9)
    assert rig.covered == [(1, 2), (8, 9)]
    assert rig.tail.statistics().lost_files == 1
    assert "nowhere to be found; what was written later, if anything, is lost" in caplog.text
    caplog.clear()
    rig.restart().settle()
    assert caplog.text == ""


def compress_to_the_second(log):
    squeezed = compress(log.rotate())
    os.utime(squeezed, (int(squeezed.stat().st_mtime),) * 2)


@pytest.mark.parametrize("end", ["stop", "kill"])
@pytest.mark.parametrize(
    "rotate",
    [*ROTATIONS.values(), compress_to_the_second],
    ids=[*ROTATIONS, "compressed by what keeps whole seconds"],
)
def test_a_log_that_was_seen_and_not_delivered_is_found_again_and_not_lost(rig, log, caplog, rotate, end):
    rig.refuse()
    log.write(lines(1, 2))
    rig.poll()
    getattr(rig, end)()
    rig.refusing = None
    log.write(lines(3))
    rotate(log)
    log.write(lines(8, 9))
    rig.start().settle()
    arrived(rig, 1, 2, 3, 8, 9)
    assert rig.tail.statistics().lost_files == 0
    assert "lost" not in caplog.text


def lost_unseen(rig, caplog):
    """Check that lines 8 and 9 arrived, and that 1 and 2 are told as lost."""
    arrived(rig, 8, 9)
    assert rig.tail.statistics().lost_files == 1
    assert f"at least {len(lines(1, 2))} bytes, is lost" in caplog.text


@pytest.mark.parametrize(
    "destroy",
    [lambda log: log.rotate().unlink(), lambda log: log.truncate()],
    ids=["deleted", "truncated"],
)
def test_a_log_that_was_seen_and_was_gone_before_it_could_be_delivered_is_lost(rig, log, caplog, destroy):
    rig.refuse()
    log.write(lines(1, 2))
    rig.poll().stop()
    destroy(log)
    log.write(lines(8, 9))
    rig.refusing = None
    rig.start().settle()
    lost_unseen(rig, caplog)


def test_a_log_that_was_truncated_while_it_waited_to_be_read_is_lost(rig, log, caplog):
    rig.refuse()
    log.write(lines(1, 2))
    rig.poll()
    rig.tail._undelivered.clear()  # as if it had not come to its turn yet
    log.truncate()
    log.write(lines(8, 9))
    rig.refusing = None
    rig.settle()
    lost_unseen(rig, caplog)


def test_a_rotated_log_compressed_in_a_way_that_cannot_be_read_is_named_and_leaves_a_gap(rig, log, caplog):
    log.write(lines(1, 2))
    rig.poll().stop()
    log.write(lines(3))
    rotated = log.rotate()
    rotated.rename(rotated.with_name("access.log.1.zst"))
    rotated.with_name("access.log.1.zst").write_bytes(b"\x28\xb5\x2f\xfd and so on")
    log.write(lines(8, 9))
    rig.start().settle()
    assert "access.log.1.zst cannot be read: compressed with zstd" in caplog.text
    assert rig.covered == [(1, 2), (8, 9)]


def test_a_gzip_that_breaks_off_gives_what_it_has_and_is_counted_as_lost(rig, log, caplog):
    log.write(lines(1))
    rig.poll().stop()
    log.write(lines(*range(2, 2000)))
    squeezed = compress(log.rotate())
    status = squeezed.stat()
    squeezed.write_bytes(squeezed.read_bytes()[:-1000])
    os.utime(squeezed, ns=(status.st_atime_ns, status.st_mtime_ns))
    log.write(lines(5000))
    rig.start().settle()
    assert (
        imported(lines(*range(1, 500)), lines(5000))
        <= rig.rows
        <= imported(lines(*range(1, 2000), 5000)) | {row for row in rig.rows if not row[0].endswith(b"}")}
    )
    assert len([row for row in rig.rows if not row[0].endswith(b"}")]) <= 1
    assert rig.tail.statistics().lost_files == 1
    assert "breaks off" in caplog.text


def test_a_gzip_that_is_still_being_written_is_read_to_the_end_once_it_is_whole(rig, log):
    log.write(lines(1))
    rig.poll().stop()
    log.write(lines(*range(2, 2000)))
    squeezed = compress(log.rotate())
    whole = squeezed.read_bytes()
    squeezed.write_bytes(whole[:-5000])
    log.write(lines(5000))
    rig.start().poll()
    with squeezed.open("ab") as file:
        file.write(whole[-5000:])
    rig.settle()
    assert rig.rows == imported(lines(*range(1, 2000)), lines(5000))
    assert rig.tail.statistics().lost_files == 0


def test_the_last_line_without_an_end_arrives_once_nobody_can_end_it(rig, log):
    log.write(lines(1) + lines(2)[:-1])
    rig.poll()
    arrived(rig, 1)
    log.rotate()
    log.write(lines(3))
    rig.poll()
    arrived(rig, 1, 3)
    rig.settle()
    assert rig.rows == imported(lines(1) + lines(2)[:-1], lines(3))
    rig.restart().settle()
    arrived(rig, 1, 2, 3)


def test_a_log_that_came_and_was_rotated_while_the_tail_was_down(rig):
    rig.poll().stop()
    log = Written(rig.path)
    log.write(lines(1))
    compress(log.rotate())
    log.write(lines(2))
    rig.start().settle()
    arrived(rig, 1, 2)


def test_a_log_copied_and_truncated_before_its_first_lines_were_seen_just_before_a_stop(rig, log):
    rig.poll()
    log.write(lines(1))
    log.copy()
    log.truncate()
    rig.tail.poll(rig.now_us)
    log.write(lines(2))
    rig.tail.poll(rig.now_us)
    rig.stop()
    rig.start().poll()
    arrived(rig, 2, 1)


def test_a_log_of_a_glob_that_was_rotated_away_while_the_tail_was_down(rig, log):
    rig.patterns = (rig.folder / "*.log",)
    log.write(lines(1))
    rig.poll().stop()
    log.write(lines(2))
    log.rename()
    rig.start().poll()
    arrived(rig, 1, 2)


def test_a_log_that_another_run_followed_keeps_its_place(rig, log):
    log.write(lines(1))
    rig.poll().stop()
    both, rig.patterns = rig.patterns, (rig.folder / "other.log",)
    rig.start().poll().stop()
    rig.patterns = both
    log.write(lines(2))
    rig.start().poll()
    arrived(rig, 1, 2)


def test_a_damaged_checkpoint_is_set_aside_and_everything_found_is_read_again(rig, log, caplog):
    log.write(lines(1))
    rig.poll()
    log.rotate()
    log.write(lines(2))
    rig.poll().stop()
    saved = rig.checkpoints / "tail.json"
    damaged = bytearray(saved.read_bytes())
    damaged[200] ^= 1
    saved.write_bytes(damaged)
    rig.start().settle()
    assert rig.rows == imported(lines(1), lines(2))
    assert set(rig.times_delivered.values()) == {2}
    assert (rig.checkpoints / "tail.damaged").read_bytes() == damaged
    assert "is damaged (its digest is of something else)" in caplog.text


def test_a_checkpoint_holds_no_part_of_a_line(rig, log):
    log.write(lines(*range(100)))
    rig.poll().stop()
    for file in rig.checkpoints.iterdir():
        assert b"request_id" not in file.read_bytes()
        assert b"0000000000000001" not in file.read_bytes()
