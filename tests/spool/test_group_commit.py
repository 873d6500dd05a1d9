"""Callers that wait at the same time share one write and one fsync."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from exporters.spool import disk
from exporters.spool.group_commit import Entry, GroupCommit
from fairclock.errors import SpoolUnavailable
from tests.faults.processes import PATIENCE_SECONDS, eventually
from tests.spool.factories import good_frame, offsets, opened, waiting


class Gate:
    """Count the calls of `disk.sync`, and hold them while it is shut."""

    def __init__(self, sync):
        self.calls = 0
        self.entered = threading.Event()
        self.open = threading.Event()
        self.open.set()
        self._sync = sync

    def sync(self, descriptor):
        self.calls += 1
        self.entered.set()
        assert self.open.wait(PATIENCE_SECONDS)
        self._sync(descriptor)


@pytest.fixture
def gate(monkeypatch):
    gate = Gate(disk.sync)
    monkeypatch.setattr(disk, "sync", gate.sync)
    return gate


def until(condition):
    eventually(condition, what=lambda: "it did not happen", every=0.005)


@pytest.fixture
def spool(tmp_path, gate):
    with opened(tmp_path, segment_bytes=1 << 20, limit_bytes=1 << 30) as spool:
        spool.append([good_frame(0)])
        gate.calls = 0
        gate.entered.clear()
        yield spool


def test_one_caller_costs_one_sync(spool, gate):
    spool.append([good_frame(number) for number in range(1, 9)])
    assert gate.calls == 1


def test_all_who_come_during_a_sync_share_the_next(spool, gate):
    with ThreadPoolExecutor(65) as pool:
        for base in range(0, 650, 65):
            gate.open.clear()
            gate.entered.clear()
            first = pool.submit(spool.append, [good_frame(base)])
            assert gate.entered.wait(PATIENCE_SECONDS)
            others = [pool.submit(spool.append, [good_frame(base + number)]) for number in range(1, 65)]
            until(lambda: len(spool._commits._waiting) == 64)
            assert not any(future.done() for future in (first, *others))
            gate.open.set()
            for future in (first, *others):
                future.result(timeout=PATIENCE_SECONDS)
    assert gate.calls == 20, "650 appends in ten rounds"
    assert sorted(offsets(waiting(spool))[1:]) == list(range(650))


def test_nobody_is_answered_before_the_sync(spool, gate):
    gate.open.clear()
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(spool.append, [good_frame(1)])
        assert gate.entered.wait(PATIENCE_SECONDS)
        assert not future.done()
        assert offsets(waiting(spool)) == [0], "what is not safe is not read either"
        gate.open.set()
        future.result(timeout=PATIENCE_SECONDS)
    assert offsets(waiting(spool)) == [0, 1]


def test_the_frames_of_one_call_stay_together_and_in_order(spool):
    def append_three(thread):
        spool.append([good_frame(thread * 3 + number) for number in range(3)])

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(append_three, range(1, 60)))
    found = offsets(waiting(spool))[1:]
    assert all(found[at : at + 3] == [found[at], found[at] + 1, found[at] + 2] for at in range(0, 177, 3))


def test_no_frames_cost_nothing(spool, gate):
    spool.append([])
    assert gate.calls == 0


def entry():
    return Entry(bodies=[], size_bytes=0)


def test_whoever_is_not_told_that_it_is_written_hears_an_error():
    with pytest.raises(SpoolUnavailable, match="broken off"):
        GroupCommit(lambda entries: None).commit(entry())


def test_a_leader_that_fails_in_an_unforeseen_way_leaves_nobody_waiting_or_deceived():
    entered, proceed = threading.Event(), threading.Event()
    groups = []

    def write(entries):
        groups.append(len(entries))
        entered.set()
        assert proceed.wait(PATIENCE_SECONDS)
        if len(groups) == 2:
            raise ZeroDivisionError
        for each in entries:
            each.written = True

    commits = GroupCommit(write)
    with ThreadPoolExecutor(4) as pool:
        first = pool.submit(commits.commit, entry())
        assert entered.wait(PATIENCE_SECONDS)
        others = [pool.submit(commits.commit, entry()) for _ in range(3)]
        until(lambda: len(commits._waiting) == 3)
        proceed.set()
        assert first.result(timeout=PATIENCE_SECONDS) is None
        errors = {type(future.exception(timeout=PATIENCE_SECONDS)) for future in others}
    assert errors == {ZeroDivisionError, SpoolUnavailable}
    commits.commit(entry())
    assert groups == [1, 3, 1]
