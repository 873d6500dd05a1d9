"""The tail as a whole: pauses, checkpoints, what it refuses, what it says about itself."""

import errno
import json
import logging
import os
import threading
from itertools import pairwise

import pytest

from collectors.gateway.tailing import Tailer
from collectors.gateway.tailing.checkpoints import CheckpointFile
from fairclock.errors import InputError, SpoolFull, SpoolUnavailable, StoreUnreachable, UsageError
from tests.tailing.rig import Written, imported, lines
from tests.tailing.test_rotation import arrived


@pytest.mark.parametrize(
    "problem",
    [SpoolFull("spool", "is full"), SpoolUnavailable("spool", "no space"), StoreUnreachable("store", "away")],
    ids=lambda problem: type(problem).__name__,
)
def test_a_delivery_that_is_refused_is_offered_again_until_it_is_taken(rig, log, caplog, problem):
    caplog.set_level(logging.INFO)
    log.write(lines(1, 2))
    rig.refusing = problem
    for _ in range(20):
        rig.poll().wait(1)
    assert rig.tail.statistics().paused == str(problem)
    assert caplog.text.count(f"paused: {problem}") == 1
    log.write(lines(3))
    rig.refusing = None
    rig.wait(5).poll()
    arrived(rig, 1, 2, 3)
    assert rig.tail.statistics().paused == ""
    assert caplog.text.count("delivering again") == 1


def test_the_checkpoint_does_not_move_while_nothing_is_taken(rig, log):
    log.write(lines(1))
    rig.poll()
    log.write(lines(2))
    rig.refuse()
    for _ in range(10):
        rig.poll().wait(1)
    rig.stop()
    saved = json.loads((rig.checkpoints / "tail.json").read_bytes().partition(b"\n")[2])
    assert [each["offset"] for each in saved["logs"][0]["generations"]] == [len(lines(1))]
    rig.refusing = None
    rig.start().poll()
    arrived(rig, 1, 2)


def test_rotations_during_a_pause_lose_nothing(rig, log):
    log.write(lines(1))
    rig.poll()
    rig.refuse()
    for turn in range(5):
        log.write(lines(2 + turn))
        rig.poll()
        log.rotate().unlink()
        rig.poll().wait(600)
    rig.refusing = None
    rig.settle()
    arrived(rig, *range(1, 7))


def test_retries_grow_rarer_up_to_five_seconds(rig, log):
    log.write(lines(1))
    tries = []

    def refuse(frames):
        tries.append(rig.now_us)
        raise SpoolFull("spool", "is full")

    rig.deliver = refuse
    rig.start()
    for _ in range(600):
        rig.tail.poll(rig.wait(0.1).now_us)
    gaps = [(later - earlier) / 1e6 for earlier, later in pairwise(tries)]
    assert gaps[0] < 0.5
    assert max(gaps) == pytest.approx(5, abs=0.2)
    assert len(tries) < 25


def test_another_error_ends_the_tail(rig, log):
    log.write(lines(1))
    rig.refusing = ZeroDivisionError("a bug")
    with pytest.raises(ZeroDivisionError):
        rig.poll()


def test_many_logs_are_one_delivery_and_none_starves(rig):
    logs = [Written(rig.folder / f"{name}.log") for name in "abcd"]
    rig.patterns = (rig.folder / "*.log",)
    for number, each in enumerate(logs):
        each.write(lines(number))
    deliveries = []
    rig.deliver = lambda frames: deliveries.append(len(frames))
    rig.poll()
    assert deliveries == [4]


def test_a_long_backlog_of_one_log_does_not_hold_up_another(rig):
    for name, count in (("a", 150_000), ("b", 150_000), ("c", 1)):
        Written(rig.folder / f"{name}.log").write(lines(*range(count)))
    rig.patterns = (rig.folder / "*.log",)
    rig.start()
    for _ in range(2):
        rig.tail.poll(rig.wait(1).now_us)
    assert len({frame.generation for frame in rig.frames}) == 3


def test_a_folder_serves_one_tail_at_a_time(rig, log):
    rig.start()
    with pytest.raises(UsageError, match="another collector keeps its checkpoint here"):
        Tailer([str(rig.path)], source="g", checkpoint_directory=rig.checkpoints, deliver=print)
    rig.stop()
    rig.start()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("", "no log is named"),
        ("folder", r"is a folder, not a log; name its files, such as \S+/folder/\*\.log"),
        ("access.log.1.gz", r"is compressed and will not grow; use: fairclock ingest gateway"),
    ],
)
def test_what_can_never_be_followed_is_refused(tmp_path, name, said):
    (tmp_path / "folder").mkdir()
    patterns = [str(tmp_path / name)] if name else []
    with pytest.raises(UsageError, match=said):
        Tailer(patterns, source="g", checkpoint_directory=tmp_path / "c", deliver=print)


def test_a_checkpoint_of_another_version_is_refused(rig):
    file = CheckpointFile(rig.checkpoints)
    file.save([])
    file.close()
    path = rig.checkpoints / "tail.json"
    from collectors.gateway.tailing.checkpoints import _digest

    body = path.read_bytes().partition(b"\n")[2].replace(b"tail/1", b"tail/2")
    path.write_bytes(_digest(body) + b"\n" + body)
    with pytest.raises(InputError, match=r"another version \(fairclock.tail/2\)"):
        rig.start()
    path.unlink()
    rig.start()  # the folder was let go


def test_a_checkpoint_that_cannot_be_written_does_not_stop_the_tail(rig, log, caplog, monkeypatch):
    log.write(lines(1))
    rig.poll()

    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        log.write(lines(2))
        rig.poll().wait(1).poll()
        log.write(lines(3))
        rig.poll().wait(1).poll()
    assert caplog.text.count("the checkpoint cannot be written: No space left on device") == 1
    assert [each.name for each in rig.checkpoints.iterdir() if each.suffix == ".new"] == []
    rig.wait(1).poll()
    rig.kill()
    rig.start().poll()
    arrived(rig, 1, 2, 3)


def test_an_idle_tail_writes_nothing(rig, log):
    log.write(lines(1))
    rig.poll().wait(6).poll().wait(1).poll()
    before = (rig.checkpoints / "tail.json").stat()
    for _ in range(50):
        rig.wait(1).poll()
    after = (rig.checkpoints / "tail.json").stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def test_it_says_how_it_is_doing(rig, log):
    log.write(lines(1, 2) + lines(3)[:30])
    rig.poll()
    statistics = rig.tail.statistics()
    assert (statistics.lines, statistics.frames, statistics.files) == (2, 1, 1)
    assert statistics.payload_bytes == len(lines(1, 2))
    assert statistics.unread_bytes == 30
    assert statistics.through_us is not None


def test_it_runs_until_it_is_stopped(rig, log):
    stop = threading.Event()
    log.write(lines(1))
    rig.deliver = lambda frames: (rig.frames.extend(frames), len(rig.rows) == 2 and stop.set())
    rig.start()
    thread = threading.Thread(target=rig.tail.run, args=(stop,), kwargs={"now_us": lambda: rig.now_us})
    thread.start()
    log.write(lines(2))
    thread.join(60)
    assert not thread.is_alive()
    assert rig.rows == imported(lines(1, 2))
