"""Whatever rotation does to a log, each of its lines arrives, and none more often than it was written."""

import errno
import os

import pytest

from collectors.gateway.tailing.contents import PlainContent
from tests.tailing.rig import Written, compress, imported, lines


def arrived(rig, *numbers):
    """Check that exactly these lines arrived, each handed over once."""
    assert rig.times_delivered == dict.fromkeys(imported(lines(*numbers)), 1)


def test_lines_arrive_as_they_are_written(rig, log):
    log.write(lines(1, 2))
    rig.poll()
    log.write(lines(3))
    rig.poll()
    arrived(rig, 1, 2, 3)
    assert {(frame.kind, frame.format, frame.source) for frame in rig.frames} == {
        ("gateway", "nginx-json", "gateway")
    }
    assert len({frame.generation for frame in rig.frames}) == 1
    assert [frame.offset for frame in rig.frames] == [0, len(lines(1, 2))]


def test_a_log_that_is_renamed_is_read_on_until_its_writer_reopens_it(rig, log):
    log.write(lines(1))
    rig.poll()
    log.rename()
    log.write(lines(2))
    rig.poll()
    log.write(lines(3))
    rig.poll()
    log.reopen()
    log.write(lines(4))
    rig.poll()
    arrived(rig, 1, 2, 3, 4)


def test_a_writer_that_reopens_late_while_the_new_log_exists_loses_nothing(rig, log):
    log.write(lines(1))
    rig.poll()
    log.rename()
    rig.path.touch()  # logrotate's create
    rig.poll().wait(300)
    log.write(lines(2))
    rig.poll()
    log.reopen()
    log.write(lines(3))
    rig.poll()
    arrived(rig, 1, 2, 3)


def test_a_writer_that_never_reopened_is_followed_after_hours_of_silence(rig, log):
    log.write(lines(1))
    rig.poll()
    log.rename()
    rig.path.touch()
    rig.settle()
    assert rig.tail.statistics().files == 1
    log.write(lines(2))
    rig.wait(10).poll()
    arrived(rig, 1, 2)


def test_lines_written_just_before_two_rotations_between_two_looks(rig, log):
    log.write(lines(1))
    rig.poll()
    log.write(lines(2))
    log.rotate()
    log.write(lines(3))
    log.rotate()
    log.write(lines(4))
    rig.poll()
    arrived(rig, 1, 2, 3, 4)
    assert rig.covered == [(1, 4)]


@pytest.mark.parametrize("seen", [True, False], ids=["with a look before", "without a look before"])
def test_the_unread_end_of_a_log_that_is_compressed_at_once(rig, log, seen):
    log.write(lines(1))
    rig.poll()
    log.write(lines(2))
    rotated = log.rotate()
    if seen:
        rig.tail.poll(rig.now_us)
    compress(rotated)
    log.write(lines(3))
    rig.settle()
    assert rig.rows == imported(lines(1, 2), lines(3))


def test_a_log_that_is_compressed_while_it_is_open_is_not_read_a_second_time(rig, log):
    log.write(lines(1, 2))
    rig.poll()
    rotated = log.rotate()
    rig.poll()
    compress(rotated)
    log.write(lines(3))
    rig.settle()
    arrived(rig, 1, 2, 3)


def test_a_half_written_gzip_beside_its_original_is_left_alone(rig, log):
    log.write(lines(1, 2))
    rig.poll()
    rotated = log.rotate()
    rotated.with_name("access.log.1.gz").write_bytes(b"\x1f\x8b\x08")
    log.write(lines(3))
    rig.settle()
    arrived(rig, 1, 2, 3)
    assert rig.tail.statistics().lost_files == 0


@pytest.mark.parametrize("number", range(5), ids="{} lines written after the copy".format)
def test_copytruncate_keeps_what_was_copied_or_seen(rig, log, number):
    log.write(lines(1, 2))
    rig.poll()
    log.write(lines(3))
    log.copy()
    late = range(10, 10 + number)
    log.write(lines(*late))
    rig.poll()
    log.truncate()
    log.write(lines(20))
    rig.settle()
    assert rig.rows == imported(lines(1, 2, 3, *late), lines(20))


def test_copytruncate_between_two_looks_loses_only_what_nobody_could_see(rig, log):
    log.write(lines(1))
    rig.poll()
    log.write(lines(2))
    log.copy()
    log.write(lines(3))  # between the copy and the truncation: in no file any more
    log.truncate()
    log.write(lines(4))
    rig.settle()
    arrived(rig, 1, 2, 4)


def test_time_is_not_covered_across_a_truncation(rig, log):
    log.write(lines(1, 2))
    rig.poll()
    log.copy()
    log.truncate()
    log.write(lines(8, 9))
    rig.settle()
    arrived(rig, 1, 2, 8, 9)
    assert rig.covered == [(1, 2), (8, 9)]


def test_a_copy_of_the_log_that_is_not_truncated_is_not_read(rig, log):
    log.write(lines(1, 2))
    rig.poll()
    log.copy()
    log.write(lines(3))
    rig.restart().settle()
    arrived(rig, 1, 2, 3)


def test_a_truncated_log_that_grew_longer_than_before_is_noticed(rig, log):
    log.write(lines(1))
    rig.poll()
    log.truncate()
    log.write(lines(2, 3, 4))
    rig.settle()
    arrived(rig, 1, 2, 3, 4)


def test_a_truncated_log_of_just_the_same_length_is_noticed(rig, log):
    log.write(lines(1, 2))
    rig.poll()
    log.truncate()
    log.write(lines(3, 4))
    rig.poll()
    arrived(rig, 1, 2, 3, 4)


def test_what_a_truncation_destroyed_unread_is_counted_as_lost(rig, log, caplog):
    log.write(lines(1))
    rig.poll()
    log.write(lines(2))
    rig.refuse()
    rig.poll()  # it is seen and cannot be delivered
    rig.tail._undelivered.clear()  # as after a kill: only the checkpoint knows
    log.truncate()
    rig.refusing = None
    log.write(lines(3))
    rig.settle()
    arrived(rig, 1, 3)
    assert rig.tail.statistics().lost_files == 1
    assert f"at least {len(lines(2))} bytes, is lost" in caplog.text


def test_a_deleted_log_is_read_to_its_end(rig, log):
    log.write(lines(1))
    rig.poll()
    log.write(lines(2))
    rig.path.unlink()
    log.write(lines(3))
    rig.poll()
    log.reopen()
    log.write(lines(4))
    rig.poll()
    arrived(rig, 1, 2, 3, 4)
    assert rig.covered == [(1, 4)]


def test_a_deleted_log_is_let_go_after_a_while(rig, log):
    log.write(lines(1))
    rig.poll()
    rig.path.unlink()
    rig.poll()
    assert rig.tail.statistics().files == 1
    rig.settle()
    assert rig.tail.statistics().files == 0
    assert rig.tail.statistics().missing == 1


def test_a_log_that_is_renamed_back_goes_on(rig, log):
    log.write(lines(1))
    rig.poll()
    rotated = log.rename()
    rig.settle()
    rotated.rename(rig.path)
    log.write(lines(2))
    rig.poll()
    arrived(rig, 1, 2)


def test_a_symbolic_link_that_is_switched(rig):
    first, second = Written(rig.folder / "access-20261007.log"), Written(rig.folder / "access-20261008.log")
    rig.path.symlink_to(first.path.name)
    first.write(lines(1))
    rig.poll()
    first.write(lines(2))
    (rig.folder / "new").symlink_to(second.path.name)
    (rig.folder / "new").rename(rig.path)
    second.write(lines(4))
    rig.poll()
    first.write(lines(3))
    rig.poll()
    arrived(rig, 1, 2, 4, 3)


def test_a_symbolic_link_that_was_switched_twice_while_nobody_looked(rig):
    days = [Written(rig.folder / f"access-2026100{day}.log") for day in (7, 8, 9)]
    rig.path.symlink_to(days[0].path.name)
    days[0].write(lines(1))
    rig.poll().stop()
    days[0].write(lines(2))
    days[1].write(lines(3))
    days[2].write(lines(4))
    rig.path.unlink()
    rig.path.symlink_to(days[2].path.name)
    rig.start().poll()
    arrived(rig, 1, 2, 3, 4)


def test_two_names_of_one_file_are_one_log(rig, log):
    other = rig.folder / "other.log"
    other.hardlink_to(rig.path)
    rig.patterns = (rig.path, other)
    log.write(lines(1))
    rig.poll()
    log.write(lines(2))
    rig.poll()
    arrived(rig, 1, 2)
    log.rotate()
    log.write(lines(3))
    rig.settle()
    assert rig.rows == imported(lines(1, 2), lines(3))


def test_a_file_replaced_by_an_identical_copy_goes_on_where_it_was(rig, log):
    log.write(lines(1, 2))
    rig.poll()
    copy = log.copy()
    copy.rename(rig.path)
    rig.poll()
    log.write(lines(3))  # the writer still has the old file
    log.reopen()
    log.write(lines(4))
    rig.settle()
    arrived(rig, 1, 2, 4, 3)
    assert rig.rows == imported(lines(1, 2, 3), lines(1, 2, 4))


def test_a_file_that_appears_later(rig):
    rig.poll()
    assert rig.tail.statistics().missing == 1
    Written(rig.path).write(lines(1))
    rig.poll()
    arrived(rig, 1)
    assert rig.tail.statistics().missing == 0


def test_rotated_files_that_were_there_first_are_not_read(rig):
    for number in (1, 2):
        old = rig.folder / f"access.log.{number}"
        old.write_bytes(lines(number))
        os.utime(old, (1_700_000_000, 1_700_000_000))
    Written(rig.path).write(lines(3))
    rig.settle()
    arrived(rig, 3)


def test_globs_find_new_files_and_leave_rotated_and_compressed_ones_out(rig):
    rig.patterns = (rig.folder / "*.log*",)
    one, two = Written(rig.folder / "one.log"), rig.folder / "two.log"
    one.write(lines(1))
    (rig.folder / "one.log.1").write_bytes(lines(7))
    (rig.folder / "one.log-20261007.gz").write_bytes(b"\x1f\x8b")
    os.utime(rig.folder / "one.log.1", (1_700_000_000, 1_700_000_000))
    rig.poll()
    arrived(rig, 1)
    Written(two).write(lines(2))
    rig.wait(5).poll()
    one.write(lines(3))
    one.rotate()
    one.write(lines(4))
    rig.wait(5).poll()
    arrived(rig, 1, 2, 3, 4)


def test_a_file_that_may_not_be_read_is_named_once_and_read_once_it_may(rig, log, caplog, monkeypatch):
    log.write(lines(1))
    other = Written(rig.folder / "other.log")
    other.write(lines(2))
    rig.patterns = (rig.path, other.path)
    opened = os.open

    def forbidding(path, *arguments, **named):
        if path == str(rig.path):
            raise PermissionError(13, "Permission denied")
        return opened(path, *arguments, **named)

    with monkeypatch.context() as patch:  # root may read anything
        patch.setattr(os, "open", forbidding)
        rig.poll().poll()
    arrived(rig, 2)
    assert caplog.text.count("access.log cannot be read: Permission denied") == 1
    rig.poll()
    arrived(rig, 2, 1)


@pytest.mark.parametrize("number", [errno.ESTALE, errno.EIO], ids=["stale", "unreadable for a while"])
def test_a_file_that_fails_is_found_again(rig, log, caplog, monkeypatch, number):
    log.write(lines(1))
    rig.poll()
    log.write(lines(2))
    failing, read_at = [True], PlainContent.read_at

    def fail(content, offset, size):
        if failing[0]:
            raise OSError(number, "no luck")
        return read_at(content, offset, size)

    monkeypatch.setattr(PlainContent, "read_at", fail)
    for _ in range(3):
        rig.poll().wait(1)
    failing[0] = False
    log.write(lines(3))
    rig.settle()
    arrived(rig, 1, 2, 3)
    assert caplog.text.count("access.log cannot be read: no luck") == 1
    assert rig.tail.statistics().lost_files == 0


def test_a_rotated_file_that_fails_leaves_a_gap_until_it_was_read(rig, log, monkeypatch):
    log.write(lines(1, 3))
    rig.poll()
    log.write(lines(4, 6))
    failing, read_at, held = [True], PlainContent.read_at, rig.path.stat().st_ino

    def fail(content, offset, size):
        if failing[0] and content.stat().st_ino == held:
            raise OSError(errno.EIO, "Input/output error")
        return read_at(content, offset, size)

    monkeypatch.setattr(PlainContent, "read_at", fail)
    log.rotate()
    log.write(lines(8, 9))
    rig.poll()
    arrived(rig, 1, 3, 8, 9)
    assert rig.covered == [(1, 3), (8, 9)]
    failing[0] = False
    rig.poll()
    arrived(rig, 1, 3, 8, 9, 4, 6)
    assert rig.covered == [(1, 6), (8, 9)]


def test_a_rotated_file_that_fails_costs_no_other_log(rig, log, monkeypatch):
    log.write(lines(1))
    rig.poll().stop()
    log.write(lines(2))
    log.rotate()
    log.write(lines(3))
    failing, read_at = [True], PlainContent.read_at

    def fail(content, offset, size):
        if failing[0] and content.stat().st_size == len(lines(1, 2)):
            raise OSError(errno.EIO, "Input/output error")
        return read_at(content, offset, size)

    monkeypatch.setattr(PlainContent, "read_at", fail)
    rig.start().poll()
    arrived(rig, 1, 3)
    failing[0] = False
    rig.wait(5).poll()
    arrived(rig, 1, 3, 2)
