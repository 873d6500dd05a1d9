"""A disk that is full, or fails: nothing is corrupted, and when it is well again it goes on."""

import errno
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from exporters.spool import disk
from fairclock.errors import SpoolUnavailable
from tests.spool.factories import good_frame, offsets, opened, segments, waiting

ROOT = Path(__file__).parents[2]
PAYLOAD = bytes(20_000)


def mounted(directory):
    """Mount two MiB at `directory`; return whether that is allowed here."""
    command = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(directory)]
    return os.geteuid() == 0 and subprocess.run(command, capture_output=True, check=False).returncode == 0


def fill(spool, first):
    """Append until the disk is full; return the first number that found no room."""
    for number in range(first, first + 1_000):
        try:
            spool.append([good_frame(number, payload=PAYLOAD)])
        except SpoolUnavailable:
            return number
    raise AssertionError("the disk never filled")


def survive(directory):
    """Fill the disk at `directory`, make room in every way, and find everything that was safe, once."""
    settings = {"segment_bytes": 300_000, "limit_bytes": 1 << 30}
    blocker = directory / "blocker"
    with opened(directory / "spool", **settings) as spool:
        blocker.write_bytes(bytes(500_000))
        full = fill(spool, 0)
        assert full > 20
        for _ in range(3):  # it stays full, and stays whole
            with pytest.raises(SpoolUnavailable):
                spool.append([good_frame(full, payload=PAYLOAD)])
        assert offsets(waiting(spool)) == list(range(full))
        blocker.unlink()  # somebody made room
        later = fill(spool, full)
        assert later > full + 10
        assert offsets(waiting(spool)) == list(range(later))
    with opened(directory / "spool", **settings) as spool:  # a restart on a full disk
        assert offsets(waiting(spool)) == list(range(later))
        with pytest.raises(SpoolUnavailable):
            spool.append([good_frame(later, payload=PAYLOAD)])
        frames, position = spool.read(spool.position, max_bytes=400_000)
        spool.acknowledge(position)  # delivery makes room
        latest = fill(spool, later)
        assert offsets(waiting(spool)) == list(range(len(frames), latest))
        spool.acknowledge(spool.read(spool.position, max_bytes=1 << 30)[1])
        spool.append([good_frame(latest, payload=PAYLOAD)])
        assert offsets(waiting(spool)) == [latest]
        statistics = spool.statistics(0)
        assert (statistics.quarantined_segments, statistics.missing_segments) == (0, 0)
        assert statistics.bytes < 100_000


def test_a_small_disk_that_fills_up_loses_and_corrupts_nothing(tmp_path):
    """Try a file system of two MiB; who may not mount one gets files that may not grow, as below."""
    if not mounted(tmp_path):
        test_files_that_may_not_grow_lose_and_corrupt_nothing(tmp_path)
        return
    try:
        survive(tmp_path)
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)


def test_files_that_may_not_grow_lose_and_corrupt_nothing(tmp_path):
    program = "from tests.spool import test_full_disk; test_full_disk.stay_small()"
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], cwd=ROOT, check=True)


def stay_small():
    """Run in a process of its own: no file may be larger than 100,000 bytes, though a segment might."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
    with opened(sys.argv[1], segment_bytes=300_000, limit_bytes=1 << 30) as spool:
        full = fill(spool, 0)
        assert full == 4, "20,000 bytes and a header each"
        assert offsets(waiting(spool)) == [0, 1, 2, 3]
        spool.append([good_frame(4)])
        spool.acknowledge(spool.read(spool.position, max_bytes=1 << 30)[1])
        assert fill(spool, 5) == 9, "the file was given up for another"
        assert offsets(waiting(spool)) == [5, 6, 7, 8]


NO_SPACE = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
BROKEN = OSError(errno.EIO, os.strerror(errno.EIO))


@pytest.mark.parametrize("call", ["write", "sync", "cut", "sync_folder"])
@pytest.mark.parametrize("error", [NO_SPACE, BROKEN], ids=["no space", "an input/output error"])
@pytest.mark.parametrize("at", range(12))
def test_a_call_that_fails_once_costs_one_append_and_no_frame(tmp_path, monkeypatch, call, error, at):
    real = getattr(disk, call)
    calls = []

    def failing(*arguments):
        calls.append(arguments)
        if len(calls) == at + 1:
            if call == "write":
                descriptor, data, offset = arguments
                os.pwrite(descriptor, data[: len(data) // 2], offset)
            raise error
        return real(*arguments)

    safe, refused = [], []
    with opened(tmp_path) as spool:
        monkeypatch.setattr(disk, call, failing)
        for number in range(12):
            try:
                spool.append([good_frame(number)])
                safe.append(number)
            except SpoolUnavailable:
                refused.append(number)
        assert offsets(waiting(spool)) == safe
        assert len(refused) == (len(calls) > at)
    with opened(tmp_path) as spool:
        assert offsets(waiting(spool)) == safe
        assert spool.statistics(0).quarantined_segments == 0


def test_a_failed_write_whose_rest_cannot_be_removed_is_removed_before_the_next(tmp_path, monkeypatch):
    real_write, real_cut = disk.write, disk.cut

    def half(descriptor, data, at):
        os.pwrite(descriptor, data[:-5], at)
        raise NO_SPACE

    def no_cut(descriptor, length):
        raise BROKEN

    with opened(tmp_path) as spool:
        spool.append([good_frame(0)])
        monkeypatch.setattr(disk, "write", half)
        monkeypatch.setattr(disk, "cut", no_cut)
        with pytest.raises(SpoolUnavailable):
            spool.append([good_frame(1)])
        monkeypatch.setattr(disk, "write", real_write)
        with pytest.raises(SpoolUnavailable, match="Input/output error"):
            spool.append([good_frame(2)])
        monkeypatch.setattr(disk, "cut", real_cut)
        spool.append([good_frame(3, payload=b"short")])
        assert offsets(waiting(spool)) == [0, 3]
    assert segments(tmp_path)[0].stat().st_size < 300
    with opened(tmp_path) as spool:
        assert offsets(waiting(spool)) == [0, 3]


def test_a_note_that_cannot_be_written_removes_nothing(tmp_path, monkeypatch):
    with opened(tmp_path) as spool:
        for number in range(10):
            spool.append([good_frame(number)])
        held = segments(tmp_path)
        _, position = spool.read(spool.position, max_bytes=1 << 30)
        with monkeypatch.context() as patch:
            patch.setattr(disk, "sync", lambda _: (_ for _ in ()).throw(BROKEN))
            with pytest.raises(SpoolUnavailable):
                spool.acknowledge(position)
        assert segments(tmp_path) == held
        assert offsets(waiting(spool)) == list(range(10))
        spool.acknowledge(position)
        assert waiting(spool) == []
